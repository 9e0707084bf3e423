"""Key paths: the way from a value to one of its parts, as a value of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar, cast

from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.keypaths.steps import Field, Item, Step, structure_of
from adjoint.types.classes.annotations import field_types, plain
from adjoint.types.part_paths import PartPath, WritablePartPath

Root = TypeVar("Root")
Value = TypeVar("Value")


class KeyPath(PartPath[Root, Value]):
    """The way from a value to one of its parts: ``.layers[0].weight``.

    A key path is made by writing that way down after :func:`keypath`. Two are equal when they take the same steps,
    whatever class they start from: what reads a model reads its gradient. Attributes and subscripts of a key path
    lead further; a field whose name is one of the methods here is reached by ``field(name)``.

    Examples
    --------
    >>> import adjoint as ad
    >>> way = ad.keypath()["layers"][0]
    >>> way.get({"layers": [1.0, 2.0]})
    1.0
    >>> print(way)
    ['layers'][0]
    >>> way == ad.keypath("['layers'][0]")
    True
    """

    __slots__ = ("_origin", "_steps")
    __iter__: ClassVar[None] = None  # subscripts lead further, they do not run through anything

    def __init__(self, steps: Iterable[Step] = (), origin: Any = None) -> None:
        self._steps = tuple(steps)
        self._origin = origin
        if not all(isinstance(step, (Field, Item)) for step in self._steps):
            raise TypeError(f"a key path consists of steps, not of {steps!r}; ad.keypath(text) reads one from text")

    # -- reading

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps, each a ``Field(name)`` or an ``Item(key)``."""
        return self._steps

    @property
    def parent(self) -> KeyPath[Root, Any]:
        """The key path without its last step."""
        parent: KeyPath[Root, Any] = _made(self._steps[:-1], self._origin)
        return parent

    def get(self, value: Root) -> Value:
        """The part of ``value`` that lies there.

        Raises
        ------
        KeyPathError
            Where ``value`` has no such part: with the path, the step that fails, and the structures.
        """
        part: Any = value
        for index, step in enumerate(self._steps):
            try:
                part = step.get(part)
            except (LookupError, TypeError):
                raise misfit(self, index, part, value) from None
        return part  # type: ignore[no-any-return]

    def replaced(self, value: Root, part: Value) -> Root:
        """A value like ``value`` with ``part`` in this place; what lies on the way is copied, frozen or not.

        Examples
        --------
        >>> import adjoint as ad
        >>> ad.keypath()[1].replaced((1.0, 2.0), 5.0)
        (1.0, 5.0)
        """
        holders: list[Any] = [value]
        for index, step in enumerate(self._steps):
            try:
                holders.append(step.get(holders[-1]))
            except (LookupError, TypeError):
                raise misfit(self, index, holders[-1], value) from None
        result: Any = part
        for step, holder in zip(reversed(self._steps), reversed(holders[:-1]), strict=True):
            result = step.replaced(holder, result)
        return result  # type: ignore[no-any-return]

    # -- leading further

    def field(self, name: str) -> WritableKeyPath[Root, Any]:
        """The key path to a field of the part.

        Raises
        ------
        KeyPathError
            Where the class that the key path starts from declares its structure, and no such field.
        """
        return cast("WritableKeyPath[Root, Any]", _made((*self._steps, Field(name)), self._origin, len(self._steps)))

    def item(self, key: Any) -> WritableKeyPath[Root, Any]:
        """The key path to an item of the part."""
        return cast("WritableKeyPath[Root, Any]", _made((*self._steps, Item(key)), self._origin, len(self._steps)))

    def __getattr__(self, name: str) -> WritableKeyPath[Root, Any]:
        if name.startswith(("__", "_repr_", "_ipython_")):
            raise AttributeError(name)
        return self.field(name)

    def __getitem__(self, key: Any) -> WritableKeyPath[Root, Any]:
        if isinstance(key, slice):
            raise TypeError("a key path leads to one item, not to a slice")
        return self.item(key)

    def __add__(self, other: KeyPath[Value, Any]) -> KeyPath[Root, Any]:
        """The key path that goes on with ``other`` where this one ends."""
        if not isinstance(other, KeyPath):
            return NotImplemented
        steps = (*self._steps, *other._steps)
        both = isinstance(self, WritableKeyPath) and isinstance(other, WritableKeyPath)
        return (WritableKeyPath if both else KeyPath)(steps, self._origin)

    # -- comparing and printing

    def starts_with(self, other: KeyPath[Root, Any]) -> bool:
        """Whether ``other`` leads to the same part or to one that holds it."""
        return self._steps[: len(other._steps)] == other._steps

    def __eq__(self, other: object) -> bool:
        return self._steps == other._steps if isinstance(other, KeyPath) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._steps)

    def __lt__(self, other: object) -> bool:
        return self._order < other._order if isinstance(other, KeyPath) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._order <= other._order if isinstance(other, KeyPath) else NotImplemented

    @property
    def __adjoint_constant__(self) -> tuple[Any, ...]:
        """Code that is differentiated is compiled for each key path by itself."""
        return self._steps, self._origin

    @property
    def _order(self) -> tuple[Any, ...]:
        return tuple(step.order for step in self._steps)

    def __str__(self) -> str:
        return "".join(map(str, self._steps)) or "."

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._steps, self._origin if isinstance(self._origin, type) else None)


class WritableKeyPath(KeyPath[Root, Value], WritablePartPath[Root, Value]):
    """A key path to a part that can be assigned to: no tuple and nothing frozen lies on the way."""

    __slots__ = ()

    def set(self, value: Root, part: Value) -> None:
        """Puts ``part`` there.

        Raises
        ------
        KeyPathError
            Where ``value`` has no such part, or it cannot be assigned to.

        Examples
        --------
        >>> import adjoint as ad
        >>> layers = [1.0, 2.0]
        >>> ad.keypath()[1].set(layers, 5.0)
        >>> layers
        [1.0, 5.0]
        """
        if not self._steps:
            raise not_writable(self, 0, value)
        holder: Any = value
        for index, step in enumerate(self._steps):
            try:
                below = step.get(holder)
            except (LookupError, TypeError):
                raise misfit(self, index, holder, value) from None
            if index < len(self._steps) - 1:
                holder = below
        try:
            self._steps[-1].set(holder, part)
        except (AttributeError, TypeError):
            raise not_writable(self, len(self._steps) - 1, holder) from None


def _made(steps: tuple[Step, ...], origin: Any, known: int = 0) -> Any:
    """A key path by hand: writable unless the declarations of the class say that it is not.

    Raises where they say that there is no such part; the first ``known`` steps have been looked at.
    """
    from adjoint.keypaths.static import first_missing, is_declared_read_only  # lazy

    missing = None if origin is None else first_missing(origin, steps, known)
    if missing is not None:
        raise undeclared(KeyPath(steps, origin), *missing)
    read_only = origin is not None and is_declared_read_only(origin, steps)
    return (KeyPath if read_only else WritableKeyPath)(steps, origin)


def parse(text: str, origin: Any = None) -> KeyPath[Any, Any]:
    """The key path that prints as ``text``; it leads to data, never into what Python keeps of classes and functions."""
    try:
        node: ast.expr = ast.parse(f"_{text}" if text != "." else "_", mode="eval").body
        steps: list[Step] = []
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute) and not _is_special(node.attr):
                steps.append(Field(node.attr))
            elif isinstance(node, ast.Subscript):
                steps.append(Item(ast.literal_eval(node.slice)))
            else:
                raise ValueError
            node = node.value
        if node.id != "_":
            raise ValueError
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{text!r} is no key path: it is written as in .layers[0].weight") from None
    result: KeyPath[Any, Any] = _made(tuple(reversed(steps)), origin)
    return result


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


__all__ = ["KeyPath", "KeyPathError", "WritableKeyPath", "parse"]


# What is said about key paths that do not fit


class KeyPathError(DifferentiationError, LookupError):
    """A key path leads nowhere in the value that it was applied to, or to what cannot be assigned."""


class UndeclaredError(KeyPathError, AttributeError):
    """The class that a key path starts from declares no such part."""


def undeclared(path: KeyPath[Any, Any], index: int, holder: Any) -> UndeclaredError:
    """The step ``index`` leads to nothing that the declared type ``holder`` has."""
    step, way = path.steps[index], "".join(map(str, path.steps[:index])) or structure_of(path._origin)
    kind = plain(holder)
    notes = [f"{way} is declared as {getattr(kind, '__qualname__', kind)}"] if index else []
    names = list(field_types(kind)) if isinstance(step, Field) else []
    near = get_close_matches(step.name, names, 1) if isinstance(step, Field) else []
    helps = [f"did you mean .{near[0]}?"] if near else []
    helps.append(f"a way that declarations do not tell is written as text: ad.keypath({str(path)!r})")
    text = f"{path} does not fit: there is no {step} in {way}"
    return UndeclaredError(diagnostic("AD0410", None, text, notes=notes, helps=helps))


def misfit(path: KeyPath[Any, Any], index: int, holder: Any, value: Any) -> KeyPathError:
    """The step ``index`` leads nowhere from ``holder``, a part of ``value``."""
    step, way = path.steps[index], _way(path, index)
    notes = [f"{way} is {structure_of(holder)}"] if index else []
    if path._origin is not None and type(value) is not path._origin:
        notes.append(f"the key path is one of {structure_of(path._origin)}")
    notes.append(f"it was applied to {structure_of(value)}")
    text = f"{path} does not fit: there is no {step} in {way}"
    return KeyPathError(diagnostic("AD0410", None, text, notes=notes))


def not_writable(path: KeyPath[Any, Any], index: int, holder: Any) -> KeyPathError:
    """The step ``index`` leads to what cannot be assigned."""
    way = _way(path, index)
    text = f"{path} cannot be assigned to: {way} is {structure_of(holder)}"
    return KeyPathError(diagnostic("AD0411", None, text))


def _way(path: KeyPath[Any, Any], index: int) -> str:
    return "".join(map(str, path.steps[:index])) or "the value"
