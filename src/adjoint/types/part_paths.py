"""Values that are read and written by the ways to their parts: what key paths are to them."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Root = TypeVar("Root")
Value = TypeVar("Value")


class PartPath(Generic[Root, Value]):
    """The way from a value to one of its parts: see :class:`adjoint.KeyPath`."""

    __slots__ = ()

    def get(self, value: Root) -> Value:
        """The part of a value."""
        raise NotImplementedError


class WritablePartPath(PartPath[Root, Value]):
    """A way to a part that can be assigned to."""

    __slots__ = ()

    def set(self, value: Root, part: Value) -> None:
        """Puts a part there."""
        raise NotImplementedError


class IndexedByPaths:
    """A base of classes whose values are read and written by such ways."""

    __slots__ = ()

    def __getitem__(self, path: PartPath[Any, Value]) -> Value:
        if not isinstance(path, PartPath):
            raise TypeError(f"{type(self).__qualname__} is indexed by key paths, not by {path!r}")
        return path.get(self)

    def __setitem__(self, path: WritablePartPath[Any, Value], part: Value) -> None:
        if not isinstance(path, WritablePartPath):
            raise TypeError(f"{path!r} is not writable")
        path.set(self, part)
