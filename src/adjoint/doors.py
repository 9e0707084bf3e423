"""The fast path of a call: generated code that tells whether a compiled derivative fits, and calls it.

A door takes the differentiated function and the arguments of a call. It looks at just what its specialisation depends
on, for the usual kinds of arguments by a comparison or two; everything else is left to the functions that the slow
path uses.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.frontend.inputs import Captured, Guard
from adjoint.keys import keys_of

if TYPE_CHECKING:
    from adjoint.specialize import Specialization

MISS: Any = type("Miss", (), {"__repr__": lambda self: "<no fit>"})()
"""What a door returns where the specialisation does not fit."""

Door = Callable[[Any, tuple[Any, ...]], Any]


def write_door(compiled: Specialization, function: Any, args: Sequence[Any]) -> Door:
    """The door of a specialisation that was made for this call."""
    writer = _Writer()
    if isinstance(function, types.FunctionType):
        writer.require(f"function.__code__ is {writer.name(function.__code__)}")
    writer.require(f"len(args) == {len(args)}")
    names = writer.arguments(args)
    if compiled.argument_guards:
        writer.require(f"{writer.name(compiled.fits_arguments)}(args, {{}})")
    for guard in compiled.guards:
        writer.guard(guard)
    names += [writer.captured(item, item.read(function)) for item in compiled.captured]
    if compiled.written:
        writer.do(f"{writer.name(compiled.check_overlap)}(({', '.join(names)},))")
    return writer.finish(compiled.call, names)


class _Writer:
    """The text of a door, and what it refers to."""

    def __init__(self) -> None:
        self._namespace: dict[str, Any] = {"keys_of": keys_of, "ndarray": np.ndarray, "MISS": MISS}
        self._lines: list[str] = []
        self._structures: dict[str, Any] = {}

    def name(self, value: Any, prefix: str = "v") -> str:
        """A name for an object that the text refers to."""
        name = f"{prefix}{len(self._namespace)}"
        self._namespace[name] = value
        return name

    def do(self, line: str) -> None:
        self._lines.append(line)

    def require(self, condition: str) -> None:
        """Adds a condition."""
        self.do(f"if not ({condition}): return MISS")

    def arguments(self, values: Sequence[Any]) -> list[str]:
        """The arguments are of the same kinds as these."""
        names = [f"a{place}" for place in range(len(values))]
        if names:
            self.do(f"{', '.join(names)}, = args")
        tests = [self._kind(name, value) for name, value in zip(names, values, strict=True)]
        if any(tests):
            self.require(" and ".join(filter(None, tests)))
        return names

    def _kind(self, name: str, value: Any) -> str:
        """The condition that a variable is of the kind of a value; empty if that is left to the end."""
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
            extents = "".join(f" and {name}.shape[{i}] {'==' if n == 1 else '!='} 1" for i, n in enumerate(value.shape))
            dtype = self.name(value.dtype)
            return f"type({name}) is ndarray and {name}.ndim == {value.ndim} and {name}.dtype == {dtype}{extents}"
        self._structures[name] = value
        return ""

    def guard(self, guard: Guard) -> None:
        """A captured constant is what it was."""
        if guard.path[0] == "global" and guard.path[2] not in guard.path[1]:
            self.require(f"{guard.path[2]!r} not in {self.name(guard.path[1])}")
            return
        read = self._reading(guard.path)
        if read is None or isinstance(guard.value, (bool, int, str, bytes, float)):
            self.require(f"{self.name(guard)}.holds(function)")
        else:
            self.require(f"{read} is {self.name(guard.value)}")

    def captured(self, item: Captured, value: Any) -> str:
        """Captured data is read, and is of the kind it was."""
        name = f"c{len(self._namespace)}"
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

    def finish(self, call: Callable[..., Any], arguments: Sequence[str]) -> Door:
        """The door, which calls the compiled entry with these variables where all conditions hold."""
        if self._structures:
            key = self.name(keys_of(self._structures.values()))
            self.require(f"keys_of(({', '.join(self._structures)},)) == {key}")
        body = "".join(f"        {line}\n" for line in self._lines)
        text = (
            "def door(function, args):\n"
            f"    try:\n{body}"
            "    except (AttributeError, KeyError, ValueError, IndexError, TypeError):\n"
            "        return MISS\n"
            f"    return call({', '.join(arguments)})\n"
        )
        self._namespace["call"] = call
        exec(compile(text, "<adjoint door>", "exec"), self._namespace)
        door: Door = self._namespace["door"]
        return door
