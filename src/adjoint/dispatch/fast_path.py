"""The fast path of a call: generated code that tells whether a compiled derivative fits, and calls it.

A door takes the differentiated function and the arguments of a call. It looks at just what its specialisation depends
on, for the usual kinds of arguments by a comparison or two; everything else is left to the functions that the slow
path uses.
"""

from __future__ import annotations

import functools
import keyword
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from adjoint.dispatch.as_found import keep_as_found
from adjoint.dispatch.drawn_numbers import keep_generators
from adjoint.dispatch.keys import MISS, Door, keys_of
from adjoint.frontend.entry.captured import CONSTANT, Captured, CodeGuard, Guard, has_fields
from adjoint.frontend.entry.class_guards import ClassGuard
from adjoint.rules.declarations import counts_by_identity
from adjoint.rules.registry import is_of_users
from adjoint.runtime.outside import is_one_of_several
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import DICTS, fields_of, own_attribute, slots_of

if TYPE_CHECKING:
    from adjoint.dispatch.specialize import Specialization


_open: WeakSet[Any] = WeakSet()


def close_all() -> None:
    """Lets no call in any more, by whatever door: what specialisations were made from has changed."""
    for door in list(_open):
        door.__code__ = _closed.__code__
    _open.clear()


def _closed(function: Any, args: tuple[Any, ...]) -> Any:
    del function, args
    return MISS


def write_door(compiled: Specialization, function: Any, args: Sequence[Any], is_called: bool = True) -> Door:
    """The door of a specialisation that was made for this call, which calls it or else gives its inputs.

    The tangents in this call belong to their values. So do others of the same kinds, if arrays have the shapes of
    their values.
    """
    writer = _Writer()
    if isinstance(function, types.FunctionType):
        own = function if is_of_users(function) else None
        writer.require(
            f"function.__code__ is {writer.name(function.__code__)}"
            if own is None
            else f"function is {writer.name(own)}"
        )
    writer.require(f"len(args) == {len(args)}")
    names = writer.arguments(args, compiled.tangents)
    if compiled.argument_guards:
        writer.require(f"{writer.name(compiled.fits_arguments)}(args, {{}})")
    for guard in compiled.guards:
        writer.guard(guard)
    names += [writer.captured(item, item.read(function)) for item in compiled.captured]
    for item, name in zip(compiled.captured, names[len(args) :], strict=True):
        if item.is_written:
            writer.do(f"{writer.name(keep_as_found)}({name})")
    if compiled.draws:
        kept = f"{writer.name(keep_generators)}([{', '.join(names[len(args) :])}])"
        writer.do(f"if {writer.name(is_one_of_several)}(): {kept}")
    if compiled.may_collide:
        writer.do(f"{writer.name(compiled.check_overlap)}(({', '.join(names)},))")
    return writer.finish(getattr(compiled.call, "run", compiled.call) if is_called else None, names)


def are_plain(values: Sequence[Any]) -> bool:
    """Whether what counts of values without parts is all that a door looks at."""
    writer = _Writer()
    return all(writer.plain("", value) is not None for value in values)


class _Writer:
    """The text of a door, and what it refers to."""

    def __init__(self) -> None:
        self._namespace: dict[str, Any] = {"keys_of": keys_of, "ndarray": np.ndarray, "MISS": MISS}
        self._lines: list[str] = []
        self._names: dict[int, str] = {}
        self._structures: dict[str, Any] = {}
        self._captured = 0

    def name(self, value: Any) -> str:
        """The name of an object that the text refers to."""
        if id(value) not in self._names:
            name = self._names[id(value)] = f"v{len(self._namespace)}"
            self._namespace[name] = value
        return self._names[id(value)]

    def do(self, line: str) -> None:
        self._lines.append(line)

    def require(self, condition: str) -> None:
        """Adds a condition, once."""
        line = f"if not ({condition}): return MISS"
        if line not in self._lines:
            self.do(line)

    def arguments(self, values: Sequence[Any], tangents: int) -> list[str]:
        """The arguments are of the same kinds as these, the last of which are tangents of the first."""
        names = [f"a{place}" for place in range(len(values))]
        if names:
            self.do(f"{', '.join(names)}, = args")
        tests = [self._kind(name, value) for name, value in zip(names, values, strict=True)]
        for place in range(tangents, len(values)) if tangents else ():
            if type(values[place]) is np.ndarray and type(values[place - tangents]) is np.ndarray:
                tests[place] = self._tangent(names[place], names[place - tangents], values[place])
        if any(tests):
            self.require(" and ".join(filter(None, tests)))
        return names

    def _kind(self, name: str, value: Any) -> str:
        """The condition that a variable is of the kind of a value; empty if that is left to the end."""
        condition = self.plain(name, value)
        if condition is None:
            self._structures[name] = value
        return condition or ""

    def plain(self, name: str, value: Any) -> str | None:
        """The condition that a variable is of the kind of a value without parts; None for what has parts."""
        cls = type(value)
        if value is None or cls is bool:
            return f"{name} is {value!r}"
        if cls in (float, int):
            return f"type({name}) is {cls.__name__}"
        if isinstance(value, np.generic):
            return f"type({name}) is {self.name(cls)}"
        if cls in (str, bytes):
            return f"type({name}) is {cls.__name__} and {name} == {self.name(value)}"
        if cls is np.ndarray:
            shape = f"{name}_shape"
            extents = "".join(f" and {shape}[{i}] {'==' if n == 1 else '!='} 1" for i, n in enumerate(value.shape))
            if 1 not in value.shape:
                extents = f" and 1 not in {shape}"
            return f"{self._array(name, value)} and len({shape} := {name}.shape) == {value.ndim}{extents}"
        return None

    def _array(self, name: str, value: Any) -> str:
        dtype = self.name(value.dtype)
        return f"type({name}) is ndarray and ({name}.dtype is {dtype} or {name}.dtype == {dtype})"

    def _tangent(self, name: str, like: str, value: Any) -> str:
        """The condition that an array is a tangent of another, which was looked at."""
        layout = f" and {name}.strides == {like}.strides" if value.ndim > 1 else ""
        return f"{self._array(name, value)} and {name}.shape == {like}_shape{layout}"

    def guard(self, guard: Guard) -> None:
        """A captured constant is what it was."""
        if guard.path[0] == "global" and guard.path[2] not in guard.path[1]:
            self.require(f"{guard.path[2]!r} not in {self.name(guard.path[1])}")
            return
        if type(guard) is CodeGuard:
            for function, code in guard.value:
                self.require(f"{self.name(function)}.__code__ is {self.name(code)}")
            return
        if type(guard) is ClassGuard:
            for each in guard.value:
                self.require(each.condition(self.name))
            return
        read = self._reading(guard.path)
        if read is None or type(guard) is not Guard or isinstance(guard.value, (bool, int, str, bytes, float)):
            self.require(f"{self.name(guard)}.holds(function)")
        else:
            self.require(f"{read} is {self.name(guard.value)}")

    def captured(self, item: Captured, value: Any) -> str:
        """Captured data is read, and is of the kind it was."""
        name = f"c{self._captured}"
        self._captured += 1
        self.do(f"{name} = {self._reading(item.path) or f'{self.name(item.read)}(function)'}")
        test = self._kind(name, value)
        if test:
            self.require(test)
        return name

    def _reading(self, path: Sequence[Any]) -> str | None:
        """The expression that reads a captured value."""
        match path:
            case ("global", dict() as table, str(name)) if name in table:
                return f"{self.name(table)}[{name!r}]"
            case ("attribute", owner, str(name)) if name.isidentifier():
                return f"{self.name(owner)}.{name}"
            case ("own_cell", int(index)):
                return f"function.__closure__[{index}].cell_contents"
            case ("cell", cell):
                return f"{self.name(cell)}.cell_contents"
        return None

    def finish(self, call: Callable[..., Any] | None, arguments: Sequence[str]) -> Door:
        """The door, which calls the compiled entry with these variables where all conditions hold, or gives them."""
        if self._structures:
            spelt_out = _Structures(self).conditions(self._structures)
            if spelt_out is None:
                key = self.name(keys_of(self._structures.values()))
                self.require(f"keys_of(({', '.join(self._structures)},)) == {key}")
            else:
                self._lines += spelt_out
        body = "".join(f"        {line}\n" for line in self._lines)
        inputs = f"({', '.join(arguments)}{',' if call is None and arguments else ''})"
        text = (
            "def door(function, args):\n"
            f"    try:\n{body}"
            "    except (AttributeError, KeyError, ValueError, IndexError, TypeError):\n"
            "        return MISS\n"
            f"    return {'' if call is None else 'call'}{inputs}\n"
        )
        self._namespace["call"] = call
        exec(compile(text, "<adjoint door>", "exec"), self._namespace)
        door: Door = self._namespace["door"]
        _open.add(door)
        return door


class _Structures:
    """Spells out that values have the structure of others: what their keys would say, without making keys."""

    MOST_PARTS = 200

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer
        self._lines: list[str] = []
        self._objects: dict[type, list[str]] = {}
        self._met: set[int] = set()
        self._count = 0

    def conditions(self, structures: dict[str, Any]) -> list[str] | None:
        """The lines that return where a variable is of another structure; None if keys have to be compared."""
        if not all(self._enter(name, value) for name, value in structures.items()):
            return None
        for names in self._objects.values():
            if len(names) > 1:
                self._require(f"len({{{', '.join(f'id({name})' for name in names)}}}) == {len(names)}")
        return self._lines

    def _require(self, condition: str) -> None:
        self._lines.append(f"if not ({condition}): return MISS")

    def _part(self, expression: str, value: Any) -> bool:
        self._count += 1
        name = f"p{self._count}"
        self._lines.append(f"{name} = {expression}")
        return self._count <= self.MOST_PARTS and self._enter(name, value)

    def _enter(self, name: str, value: Any) -> bool:
        """Adds the conditions for a variable; tells whether they could be spelt out."""
        plain = self._writer.plain(name, value)
        if plain is not None:
            self._require(plain)
            return True
        cls = type(value)
        if cls is tuple or (cls is list and value and all(map(has_fields, value))):
            self._require(f"type({name}) is {cls.__name__} and len({name}) == {len(value)}")
            return all(self._part(f"{name}[{place}]", item) for place, item in enumerate(value))
        kinds = set(map(type, value)) if cls is list else set()
        if kinds in ({float}, {int}):
            self._require(f"type({name}) is list and {{*map(type, {name})}} == {self._writer.name(kinds)}")
            return True
        if cls in DICTS and all(type(key) is str for key in value):
            self._require(f"type({name}) is {self._writer.name(cls)} and [*{name}] == {self._writer.name([*value])}")
            return all(self._part(f"{name}[{key!r}]", item) for key, item in value.items())
        return _is_plain_object(value) and id(value) not in self._met and self._object(name, value)

    def _object(self, name: str, value: Any) -> bool:
        cls = type(value)
        self._met.add(id(value))
        self._objects.setdefault(cls, []).append(name)
        attributes = self._writer.name([*value.__dict__])
        self._require(f"type({name}) is {self._writer.name(cls)} and [*{name}.__dict__] == {attributes}")
        return all(self._part(f"{name}.{attribute}", item) for attribute, item in fields_of(value).items())


def _is_plain_object(value: Any) -> bool:
    """Whether what counts of an object are its class and its attributes, all of which lie in its ``__dict__``."""
    cls = type(value)
    if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)) or is_marked(cls, CONSTANT):
        return False
    if counts_by_identity(value):
        return False
    if not has_fields(value) or slots_of(cls) or own_attribute(value, "__adjoint_operator__") is not None:
        return False
    names = fields_of(value)
    return names.keys() == value.__dict__.keys() and all(
        name.isidentifier() and not keyword.iskeyword(name) for name in names
    )
