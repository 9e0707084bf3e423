"""Dataclasses that are defined in a fraction of the time, for the many small classes of the compiler.

To a type checker this is `dataclasses.dataclass`. When a program runs, one piece of code is compiled for each class
instead of six, and nothing intercepts assignments to what is frozen: that there are none is for the type checker to
say. Instances are made faster, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    from dataclasses import _FIELD, MISSING, Field, field

    def dataclass(*, slots, frozen=False, eq=True):
        """Makes a class a dataclass with slots; the parameters mean what they do for `dataclasses.dataclass`."""
        assert slots
        return lambda cls: _make(cls, frozen, eq)

    def _make(cls, frozen, eq):
        fields = {}
        for base in cls.__mro__[:0:-1]:
            fields.update(base.__dict__.get("__dataclass_fields__", ()))
        inherited = set(fields)
        own = dict(cls.__dict__)
        fields.update(_own_fields(own))
        own |= _methods(cls, own, fields, frozen, eq)
        own |= {"__dataclass_fields__": fields, "__match_args__": tuple(fields)}
        for name in (*fields, "__dict__", "__weakref__"):
            own.pop(name, None)
        own["__slots__"] = tuple(name for name in fields if name not in inherited)
        made = type(cls)(cls.__name__, cls.__bases__, own)
        made.__qualname__ = cls.__qualname__
        return made

    def _own_fields(own):
        for name, annotation in own.get("__annotations__", {}).items():
            if str(annotation).startswith("ClassVar"):
                continue  # as the annotations of the compiler are text
            default = own.get(name, MISSING)
            spec = default if isinstance(default, Field) else field(default=default)
            spec.name, spec.type, spec._field_type = name, annotation, _FIELD
            yield name, spec

    def _methods(cls, own, fields, frozen, eq):
        """The methods that the class does not define itself, out of one text."""
        values = {"_missing": MISSING}
        text = _init(fields, values, hasattr(cls, "__post_init__"))
        compared = [f"{{0}}.{name}, " for name, spec in fields.items() if spec.compare]
        tuples = [f"({''.join(compared)})".format(side) for side in ("self", "other")]
        if eq and "__eq__" not in own:
            text += "def __eq__(self, other):\n if other.__class__ is not self.__class__:\n  return NotImplemented\n"
            text += f" return {tuples[0]} == {tuples[1]}\n"
        if eq and own.get("__hash__") is None:
            hashed = [f"self.{name}, " for name, spec in fields.items() if _is_hashed(spec)]
            text += f"def __hash__(self):\n return hash(({''.join(hashed)}))\n" if frozen else "__hash__ = None\n"
        if "__repr__" not in own:
            text += "__repr__ = _repr\n"
        made = {}
        exec(text, {"__name__": cls.__module__, "_repr": _repr, **values}, made)
        return made

    def _init(fields, values, finish):
        params, body = ["self"], []
        for name, spec in fields.items():
            value = name
            if spec.default_factory is not MISSING:
                values[f"_make_{name}"] = spec.default_factory
                params.append(f"{name}=_missing")
                value = f"_make_{name}() if {name} is _missing else {name}"
            elif spec.default is not MISSING:
                values[f"_default_{name}"] = spec.default
                params.append(f"{name}=_default_{name}")
            else:
                params.append(name)
            body.append(f" self.{name} = {value}\n")
        body.append(" self.__post_init__()\n" if finish else " pass\n")
        return f"def __init__({', '.join(params)}):\n{''.join(body)}"

    def _is_hashed(spec):
        return spec.compare if spec.hash is None else spec.hash

    def _repr(self):
        shown = (name for name, spec in self.__dataclass_fields__.items() if spec.repr)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
