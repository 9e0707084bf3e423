"""Paths to what a function may write: from a parameter, or from something outside of it, behind attributes.

What lies outside exists when a derivative is made: a path from there is followed to what it leads to.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Sequence
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from adjoint.records import dataclass, field
from adjoint.sources.library_folders import is_of_a_library
from adjoint.types.structure import fields_of

CONTENTS = "cell_contents"
"""What a path to a captured variable ends in: it begins at the cell."""
MISSING = object()


@dataclass(frozen=True, slots=True)
class Outside:
    """What a path begins at, by its identity: the names of a module, the cell of a variable, an object or a class."""

    home: int
    thing: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Path:
    """A parameter or something outside, or what is behind some attributes of it; with ``inside``, anything there."""

    start: str | Outside
    fields: tuple[str, ...] = ()
    inside: bool = False

    def at(self, name: str) -> Path:
        """What an attribute of it holds."""
        return self if self.inside else Path(self.start, (*self.fields, name))

    @property
    def parts(self) -> Path:
        """Anything in it."""
        return Path(self.start, self.fields, True)


@dataclass(frozen=True, slots=True)
class Write:
    """What is written: the array, container or object at a path; or only its last attribute, which is ``bound`` anew.

    ``counts`` says that an attribute which carries no derivative still carries none.
    """

    path: Path
    bound: bool = False
    counts: bool = False


def outside(thing: Any, *fields: str) -> Path:
    """The path to something outside."""
    return Path(Outside(id(thing), thing), fields)


def held_at(path: Path) -> Any:
    """What a path from outside leads to; ``MISSING`` where nothing is there."""
    if not isinstance(path.start, Outside) or path.inside:
        return MISSING
    value = path.start.thing
    for place, name in enumerate(path.fields):
        if isinstance(value, np.ndarray):
            return value  # an attribute of an array is a view of it, or says nothing of its items
        value = value.get(name, MISSING) if not place and type(value) is dict else _attribute(value, name)
    return value


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, (CellType, ModuleType)):
        try:
            return getattr(value, name, MISSING)
        except ValueError:  # nothing is assigned yet
            return MISSING
    found = inspect.getattr_static(value, name, MISSING)
    return getattr(value, name, MISSING) if isinstance(found, MemberDescriptorType) else found


def reached_from(things: Iterable[Any]) -> dict[int, Any]:
    """Arrays, containers and objects in something, and itself, by identity."""
    found: dict[int, Any] = {}
    pending = list(things)
    while pending:
        thing = pending.pop()
        if id(thing) in found or isinstance(thing, (int, float, complex, str, bytes, type, ModuleType, type(None))):
            continue
        found[id(thing)] = thing
        pending.extend(items_of(thing))
        if not isinstance(thing, (np.ndarray, list, dict, tuple)) and not callable(thing):
            pending.extend(fields_of(thing).values())
    return found


def items_of(thing: Any) -> list[Any]:
    """The items of a container."""
    if isinstance(thing, dict):
        return list(thing.values())
    return list(thing) if isinstance(thing, (list, tuple)) else []


def is_a_chain(node: ast.AST) -> bool:
    """Whether an expression is a name, or attributes behind one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def described(path: Path) -> str:
    """How a message names what is at a path from outside."""
    thing = path.start.thing if isinstance(path.start, Outside) else None
    owner = [thing.__name__] if isinstance(thing, type) else []
    names = ".".join([*owner, *[name for name in path.fields if name != CONTENTS]])
    return f"the variable {names!r}" if names else "a variable"


def method_of(cls: type | None, name: str, after: type | None) -> Any:
    """A method of a class, or of those that come after another one in its order, as it stands there."""
    order: Sequence[type] = () if cls is None else cls.__mro__
    if after in order:
        order = order[order.index(after) + 1 :]
    return next((each.__dict__[name] for each in order if name in each.__dict__), None)


def variables_of(paths: frozenset[Path], key: ast.AST) -> tuple[frozenset[Path], frozenset[Path]]:
    """Of what has items, the variables of a module that a key names; and the others."""
    tables = frozenset(each for each in paths if not each.fields and type(held_at(each)) is dict)
    if not tables or not isinstance(key, ast.Constant):
        return frozenset(), paths - tables
    return frozenset(each.at(str(key.value)) for each in tables), paths - tables


def is_a_librarys(function: FunctionType) -> bool:
    """Whether a library has a function."""
    return is_of_a_library(function.__code__.co_filename)


def inside(paths: Iterable[Path]) -> frozenset[Path]:
    """Anything in what is at paths."""
    return frozenset(each.parts for each in paths)
