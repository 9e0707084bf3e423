"""Dataclasses that are defined in a fraction of the time, for the many small classes of the compiler.

To a type checker this is `dataclasses.dataclass`. When a program runs, nothing is compiled for a class: the methods of
classes with as many fields share their code, in which only the names differ. Nothing intercepts assignments to what is
frozen: that there are none is for the type checker to say. Instances are made faster, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from functools import cache
    from operator import attrgetter
    from types import FunctionType

    MISSING = object()

    class field:
        """What is said of a field: the parameters mean what they do for `dataclasses.field`."""

        __slots__ = ("compare", "default", "default_factory", "hash", "init", "repr")
        _field_type = None

        def __init__(self, *, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True):
            self.default, self.default_factory = default, default_factory
            self.init, self.repr, self.hash, self.compare = init, repr, hash, compare

    _PLAIN = field()

    def replace(record, /, **changes):
        """A record with other values in some fields."""
        for name in record.__dataclass_fields__:
            if name not in changes:
                changes[name] = getattr(record, name)
        return record.__class__(**changes)

    def dataclass(*, slots=False, frozen=False, eq=True, kw_only=False):
        """Makes a class a dataclass; the parameters mean what they do for `dataclasses.dataclass`."""
        return lambda cls: _make(cls, slots, frozen, eq, kw_only)

    def _make(cls, slots, frozen, eq, kw_only):
        fields = {}
        for base in cls.__mro__[:0:-1]:
            fields.update(base.__dict__.get("__dataclass_fields__", ()))
        inherited = set(fields)
        own = dict(cls.__dict__)
        fields.update(_own_fields(own))
        made = _methods(cls, own, fields, frozen, eq, kw_only)
        made |= {"__dataclass_fields__": fields, "__match_args__": () if kw_only else tuple(fields)}
        if not slots:
            for name, value in made.items():
                setattr(cls, name, value)
            return cls
        own |= made
        for name in (*fields, "__dict__", "__weakref__"):
            own.pop(name, None)
        own["__slots__"] = tuple(name for name in fields if name not in inherited)
        slotted = type(cls)(cls.__name__, cls.__bases__, own)
        slotted.__qualname__ = cls.__qualname__
        return slotted

    def _own_fields(own):
        for name, annotation in own.get("__annotations__", {}).items():
            if str(annotation).startswith("ClassVar"):
                continue  # as the annotations of the compiler are text
            default = own.get(name, MISSING)
            yield name, default if type(default) is field else field(default=default) if name in own else _PLAIN

    def _methods(cls, own, fields, frozen, eq, kw_only):
        """The methods that the class does not define itself."""
        methods = {"__init__": _init(fields, hasattr(cls, "__post_init__"), kw_only)}
        if eq and "__eq__" not in own:
            methods["__eq__"] = _eq(_values([name for name, spec in fields.items() if spec.compare]))
        if eq and own.get("__hash__") is None:
            hashed = _values([name for name, spec in fields.items() if _is_hashed(spec)])
            methods["__hash__"] = (lambda self: hash(hashed(self))) if frozen else None
        if "__repr__" not in own:
            methods["__repr__"] = _repr
        return methods

    _MANY = 12
    """Records with more fields are made so rarely that compiling for each number of them does not pay."""

    def _init(fields, finish, kw_only):
        if len(fields) > _MANY and not (finish or kw_only):
            return _init_one_by_one(fields)
        names = tuple(fields)
        code = _init_code(len(names)).replace(co_names=names, co_varnames=("self", *names))
        if kw_only:
            code = code.replace(co_argcount=1, co_kwonlyargcount=len(names))
        init = FunctionType(code, _GLOBALS)
        made = {name: spec.default_factory for name, spec in fields.items() if spec.default_factory is not MISSING}
        defaults = {name: MISSING if name in made else spec.default for name, spec in fields.items()}
        given = {name: value for name, value in defaults.items() if name in made or value is not MISSING}
        if kw_only:
            init.__kwdefaults__ = given
        else:
            init.__defaults__ = tuple(given.values())
        return _finishing(init, made, finish) if made or finish else init

    def _init_one_by_one(fields):
        def __init__(self, *args, **kwargs):
            given = dict(zip(fields, args, strict=False), **kwargs)
            if len(given) < len(args) + len(kwargs) or not given.keys() <= fields.keys():
                raise TypeError(f"{type(self).__name__} was given more than its fields")
            for name, spec in fields.items():
                value = given.get(name, spec.default)
                if value is MISSING and spec.default_factory is not MISSING:
                    value = spec.default_factory()
                if value is MISSING:
                    raise TypeError(f"{type(self).__name__} needs a value for {name!r}")
                setattr(self, name, value)

        return __init__

    def _finishing(init, made, finish):
        """An initializer that makes what was not given."""

        def __init__(self, *args, **kwargs):
            init(self, *args, **kwargs)
            for name, make in made.items():
                if getattr(self, name) is MISSING:
                    setattr(self, name, make())
            if finish:
                self.__post_init__()

        __init__.__wrapped__ = init
        return __init__

    _GLOBALS = {"__builtins__": __builtins__}

    @cache
    def _init_code(count):
        """The code that fills in as many fields, which it calls `_0`, `_1` and so on."""
        params = "".join(f", _{place}" for place in range(count))
        body = "".join(f" self._{place} = _{place}\n" for place in range(count))
        return compile(f"def __init__(self{params}):\n{body or ' pass'}", "<record>", "exec").co_consts[0]

    def _values(names):
        """The function that gives the values of some fields, as a tuple."""
        if len(names) > 1:
            return attrgetter(*names)
        return (lambda self: (getattr(self, names[0]),)) if names else lambda self: ()

    def _eq(values):
        def __eq__(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            return values(self) == values(other)

        return __eq__

    def _is_hashed(spec):
        return spec.compare if spec.hash is None else spec.hash

    def _repr(self):
        shown = (name for name, spec in self.__dataclass_fields__.items() if spec.repr)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
