"""What a set of objects does that are equal to themselves only, in Python."""

from __future__ import annotations

from typing import Any


class ObjectSet:
    """Stands for a `set` of objects that are equal to themselves only, in the order in which they were added."""

    __adjoint_stands_for__ = set

    def __init__(self, iterable: Any = ()) -> None:
        self._held: list[Any] = []
        for item in iterable:
            self.add(item)

    def __contains__(self, item: Any) -> bool:
        return any(each is item for each in self._held)

    def __iter__(self) -> Any:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def add(self, item: Any) -> None:
        if item not in self:
            self._held.append(item)

    def update(self, iterable: Any) -> None:
        for item in iterable:
            self.add(item)

    def discard(self, item: Any) -> None:
        self._held = [each for each in self._held if each is not item]

    def remove(self, item: Any) -> None:
        if item not in self:
            raise KeyError("an object that is not in the set")
        self.discard(item)

    def pop(self) -> Any:
        if len(self._held) == 0:
            raise KeyError("pop from an empty set")
        return self._held.pop()

    def clear(self) -> None:
        self._held.clear()

    def copy(self) -> Any:
        return ObjectSet(self._held)

    def union(self, iterable: Any) -> Any:
        both = self.copy()
        both.update(iterable)
        return both

    def __or__(self, other: Any) -> Any:
        return self.union(other)
