"""What the classes of `collections` do, in Python: their objects in a function that is differentiated are of these."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from adjoint.runtime.display import last_key


class Deque:
    """Stands for `collections.deque`.

    Its items are those of ``_left`` from the last to the place ``_left_from``, and then those of ``_right`` from the
    place ``_right_from`` on: where items are put at an end, or taken from it, no other one moves.
    """

    __adjoint_stands_for__ = collections.deque

    def __init__(self, iterable: Any = (), maxlen: Any = None) -> None:
        self._left: list[Any] = []
        self._left_from = 0
        self._right: list[Any] = []
        self._right_from = 0
        self.maxlen = maxlen
        for item in iterable:
            self.append(item)

    def append(self, item: Any) -> None:
        self._right.append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            self.popleft()

    def appendleft(self, item: Any) -> None:
        self._left.append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            self.pop()

    def extend(self, iterable: Any) -> None:
        for item in list(self) if iterable is self else iterable:
            self.append(item)

    def extendleft(self, iterable: Any) -> None:
        for item in list(self) if iterable is self else iterable:
            self.appendleft(item)

    def pop(self) -> Any:
        if len(self._right) > self._right_from:
            return self._right.pop()
        if len(self._left) == self._left_from:
            raise IndexError("pop from an empty deque")
        self._left_from += 1
        return self._left[self._left_from - 1]

    def popleft(self) -> Any:
        if len(self._left) > self._left_from:
            return self._left.pop()
        if len(self._right) == self._right_from:
            raise IndexError("pop from an empty deque")
        self._right_from += 1
        return self._right[self._right_from - 1]

    def clear(self) -> None:
        self._left.clear()
        self._left_from = 0
        self._right.clear()
        self._right_from = 0

    def reverse(self) -> None:
        items = list(self)
        self.clear()
        self.extendleft(items)

    def rotate(self, steps: Any = 1) -> None:
        if len(self) > 0:
            for _ in range(steps % len(self)):
                self.appendleft(self.pop())

    def copy(self) -> Any:
        return Deque(self, self.maxlen)

    def __len__(self) -> int:
        return len(self._left) - self._left_from + len(self._right) - self._right_from

    def __iter__(self) -> Any:
        ends = self._ends()
        for i in range(len(self)):
            yield self[i]
            if self._ends() != ends:
                raise RuntimeError("deque mutated during iteration")

    def __reversed__(self) -> Any:
        ends = self._ends()
        for i in range(len(self) - 1, -1, -1):
            yield self[i]
            if self._ends() != ends:
                raise RuntimeError("deque mutated during iteration")

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, collections.deque) and list(self) == list(other)

    def __contains__(self, item: Any) -> bool:
        return item in list(self)

    def _ends(self) -> Any:
        """Where the items lie: another place whenever one is put at an end, or taken from it."""
        return len(self._left), self._left_from, len(self._right), self._right_from

    def _place(self, place: Any) -> Any:
        """The place among all items, which may count from the end."""
        found = place + len(self) if place < 0 else place
        if found < 0 or found >= len(self):
            raise IndexError("deque index out of range")
        return found

    def __getitem__(self, place: Any) -> Any:
        where, count = self._place(place), len(self._left) - self._left_from
        if where < count:
            return self._left[len(self._left) - 1 - where]
        return self._right[self._right_from + where - count]

    def __setitem__(self, place: Any, item: Any) -> None:
        where, count = self._place(place), len(self._left) - self._left_from
        if where < count:
            self._left[len(self._left) - 1 - where] = item
        else:
            self._right[self._right_from + where - count] = item


class Table:
    """What the classes that inherit from dict have in common."""

    def __init__(self, *table: Any, **named: Any) -> None:
        self._table: dict[Any, Any] = dict(*table, **named)

    def __getitem__(self, key: Any) -> Any:
        return self._table[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._table[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._table[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Any:
        return iter(self._table)

    def keys(self) -> Any:
        return self._table.keys()

    def values(self) -> Any:
        return self._table.values()

    def items(self) -> Any:
        return self._table.items()

    def get(self, key: Any, default: Any = None) -> Any:
        return self._table.get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self._table.pop(key, *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self._table.setdefault(key, default)

    def update(self, *table: Any, **named: Any) -> None:
        self._table.update(*table, **named)

    def clear(self) -> None:
        self._table.clear()

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, dict) and bool(self._table == dict(other))


class UsersTable(Table):
    """Stands for `dict` where a user's class inherits from it, whichever of its methods that calls, or overrides."""

    def __new__(cls, *table: Any, **named: Any) -> Any:
        made = object.__new__(cls)
        object.__setattr__(made, "_table", {})  # the class may assign attributes its own way
        return made

    def __init__(self, *table: Any, **named: Any) -> None:
        self._table.update(*table, **named)

    def popitem(self) -> Any:
        if len(self._table) == 0:
            raise KeyError("popitem(): dictionary is empty")
        key = last_key(self._table)
        return key, self._table.pop(key)

    def copy(self) -> Any:
        return dict(self._table)

    def __reversed__(self) -> Any:
        return reversed(list(self._table))

    def __or__(self, other: Any) -> Any:
        return {**self._table, **other}

    def __ior__(self, other: Any) -> Any:
        self._table.update(other)
        return self


class TableWithDefaults(UsersTable):
    """The same of a class that says by ``__missing__`` what stands for a key that is not there."""

    def __getitem__(self, key: Any) -> Any:
        if key not in self._table:
            return self.__missing__(key)  # type: ignore[attr-defined]
        return self._table[key]


class UsersList:
    """Stands for `list` where a user's class inherits from it, whichever of its methods that calls, or overrides."""

    __adjoint_stands_for__ = list
    _held: list[Any]

    def __new__(cls, *args: Any, **named: Any) -> Any:
        made = object.__new__(cls)
        object.__setattr__(made, "_held", [])  # the class may assign attributes its own way
        return made

    def __init__(self, iterable: Any = (), /) -> None:
        object.__setattr__(self, "_held", list(iterable))

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Any:
        return iter(self._held)

    def __reversed__(self) -> Any:
        for place in range(len(self._held) - 1, -1, -1):
            yield self._held[place]

    def __contains__(self, item: Any) -> bool:
        return item in self._held

    def __getitem__(self, place: Any) -> Any:
        return self._held[place]

    def __setitem__(self, place: Any, item: Any) -> None:
        self._held[place] = item

    def __delitem__(self, place: Any) -> None:
        del self._held[place]

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, list) and self._held == list(other)

    def __add__(self, other: Any) -> Any:
        return self._held + list(other)

    def __radd__(self, other: Any) -> Any:
        return other + self._held

    def __iadd__(self, other: Any) -> Any:
        self._held.extend(list(other))
        return self

    def __mul__(self, count: Any) -> Any:
        return self._held * count

    def __rmul__(self, count: Any) -> Any:
        return self._held * count

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._held, dtype=dtype)

    def append(self, item: Any) -> None:
        self._held.append(item)

    def extend(self, iterable: Any) -> None:
        self._held.extend(list(iterable))

    def insert(self, place: Any, item: Any) -> None:
        self._held.insert(place, item)

    def pop(self, place: Any = -1) -> Any:
        return self._held.pop(place)

    def remove(self, item: Any) -> None:
        self._held.remove(item)

    def clear(self) -> None:
        self._held.clear()

    def index(self, item: Any, *places: Any) -> Any:
        return self._held.index(item, *places)

    def count(self, item: Any) -> Any:
        return self._held.count(item)

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        self._held.sort(key=key, reverse=reverse)

    def reverse(self) -> None:
        self._held.reverse()

    def copy(self) -> Any:
        return list(self._held)


class DefaultDict(Table):
    """Stands for `collections.defaultdict`."""

    __adjoint_stands_for__ = collections.defaultdict

    def __init__(self, default_factory: Any = None, /, *table: Any, **named: Any) -> None:
        self.default_factory = default_factory
        self._table = dict(*table, **named)

    def __getitem__(self, key: Any) -> Any:
        if key not in self._table:
            if self.default_factory is None:
                raise KeyError(key)
            self._table[key] = self.default_factory()
        return self._table[key]

    def copy(self) -> Any:
        return DefaultDict(self.default_factory, self._table)


class Counter(UsersTable):
    """Stands for `collections.Counter`."""

    __adjoint_stands_for__ = collections.Counter

    def __init__(self, *iterable: Any, **named: Any) -> None:
        self.update(*iterable, **named)

    def __getitem__(self, key: Any) -> Any:
        return self._table.get(key, 0)

    def __delitem__(self, key: Any) -> None:
        if key in self._table:
            del self._table[key]

    def update(self, *iterable: Any, **named: Any) -> None:
        self._add((*iterable, named), 1)

    def subtract(self, *iterable: Any, **named: Any) -> None:
        self._add((*iterable, named), -1)

    def _add(self, given: Any, sign: int) -> None:
        for each in given:
            if isinstance(each, dict):
                for key, count in each.items():
                    self._table[key] = self._table.get(key, 0) + sign * count
            elif each is not None:
                for key in each:
                    self._table[key] = self._table.get(key, 0) + sign

    def total(self) -> Any:
        return sum(self._table.values())

    def elements(self) -> Any:
        return iter([key for key, count in self._table.items() for _ in range(count)])

    def most_common(self, n: Any = None) -> Any:
        return sorted(self._table.items(), key=lambda item: item[1], reverse=True)[:n]

    def copy(self) -> Any:
        return Counter(self._table)

    def __eq__(self, other: Any) -> Any:
        if isinstance(other, collections.Counter):
            return all(self[key] == other[key] for key in self._keys_with(other))
        return isinstance(other, dict) and bool(self._table == dict(other))

    def __add__(self, other: Any) -> Any:
        return self._joined(other, lambda mine, theirs: mine + theirs)

    def __sub__(self, other: Any) -> Any:
        return self._joined(other, lambda mine, theirs: mine - theirs)

    def __or__(self, other: Any) -> Any:
        return self._joined(other, lambda mine, theirs: theirs if mine < theirs else mine)

    def __and__(self, other: Any) -> Any:
        return self._joined(other, lambda mine, theirs: mine if mine < theirs else theirs)

    def __iadd__(self, other: Any) -> Any:
        return self._take(self + other)

    def __isub__(self, other: Any) -> Any:
        return self._take(self - other)

    def __ior__(self, other: Any) -> Any:
        return self._take(self | other)

    def __iand__(self, other: Any) -> Any:
        return self._take(self & other)

    def _joined(self, other: Any, join: Any) -> Any:
        """The counts that two have together, as far as they are positive."""
        made = Counter()
        for key in self._keys_with(other):
            count = join(self[key], other[key])
            if count > 0:
                made[key] = count
        return made

    def _keys_with(self, other: Any) -> Any:
        keys = list(self._table)
        keys.extend([key for key in other if key not in self._table])
        return keys

    def _take(self, other: Any) -> Any:
        self._table = other._table
        return self


class OrderedDict(Table):
    """Stands for `collections.OrderedDict`."""

    __adjoint_stands_for__ = collections.OrderedDict

    def copy(self) -> Any:
        return OrderedDict(self._table)

    def __reversed__(self) -> Any:
        return reversed(list(self._table))

    def __eq__(self, other: Any) -> Any:
        if isinstance(other, collections.OrderedDict) and list(self._table) != list(other):
            return False
        return isinstance(other, dict) and bool(self._table == dict(other))

    def move_to_end(self, key: Any, last: Any = True) -> None:
        value = self._table.pop(key)
        if last:
            self._table[key] = value
        else:
            rest = list(self._table.items())
            self._table.clear()
            self._table[key] = value
            for other, held in rest:
                self._table[other] = held

    def popitem(self, last: Any = True) -> Any:
        if len(self._table) == 0:
            raise KeyError("dictionary is empty")
        key = last_key(self._table) if last else list(self._table)[0]  # noqa: RUF015
        return key, self._table.pop(key)
