"""Iterators as objects, for programs that ask for an item here and go on with the others there.

What gives the items that are left, one after the other, is ``left``: it raises nothing that somebody must catch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

END = sys.maxsize
"""The place of what has come to its end: for good, whatever is put into the list afterwards."""


class Drawn:
    """What is asked for one item after the other."""

    def __iter__(self) -> Any:
        return self


class Remaining(Drawn):
    """``iter(items)`` of a sequence."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.place = 0

    def __next__(self) -> Any:
        place = self.place
        if place >= len(self.items):
            self.place = END
            raise StopIteration
        self.place = place + 1
        return self.items[place]

    def next_or(self, default: Any) -> Any:
        place = self.place
        if place >= len(self.items):
            self.place = END
            return default
        self.place = place + 1
        return self.items[place]

    def left(self) -> Iterator[Any]:
        while self.place < len(self.items):
            place = self.place
            self.place = place + 1
            yield self.items[place]
        self.place = END


class Counted(Drawn):
    """``iter(range(...))``: the number that comes next, and how many are left."""

    def __init__(self, number: Any, step: Any, count: Any) -> None:
        self.number = number
        self.step = step
        self.count = count

    def __next__(self) -> Any:
        if self.count == 0:
            raise StopIteration
        self.count -= 1
        number = self.number
        self.number = number + self.step
        return number

    def left(self) -> Iterator[Any]:
        while self.count > 0:
            self.count -= 1
            number = self.number
            self.number = number + self.step
            yield number


class Backwards(Drawn):
    """``reversed(items)``"""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.count = len(items)

    def __next__(self) -> Any:
        if self.count == 0:
            raise StopIteration
        self.count -= 1
        return self.items[self.count]

    def left(self) -> Iterator[Any]:
        while self.count > 0:
            self.count -= 1
            yield self.items[self.count]


class ByItem(Drawn):
    """What gives something for each item of another iterator: ``_of(item)``."""

    items: Any

    def _of(self, item: Any) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        return self._of(self.items.__next__())

    def left(self) -> Iterator[Any]:
        for item in self.items:
            yield self._of(item)


def items_by_index(sequence: Any) -> Any:
    """The items of an object that has a length, and gives items by index until it raises."""
    count = len(sequence)
    items = [sequence[i] for i in range(count)]
    try:
        sequence[count]
    except IndexError:
        return items
    raise TypeError("an object that is iterated over has more items than its length tells")


class Entries(ByItem):
    """``iter(table.items())``, or of its values alone, each as it is when it is asked for."""

    def __init__(self, table: Any, with_key: Any) -> None:
        self.table = table
        self.with_key = with_key
        self.items = Remaining(list(table))

    def _of(self, item: Any) -> Any:
        return (item, self.table[item]) if self.with_key else self.table[item]


class Numbered(ByItem):
    """``enumerate(items, start)``"""

    def __init__(self, items: Any, start: Any) -> None:
        self.items = items
        self.number = start

    def _of(self, item: Any) -> Any:
        number = self.number
        self.number = number + 1
        return number, item


class Mapped(ByItem):
    """``map(function, items)``"""

    def __init__(self, function: Any, items: Any) -> None:
        self.function = function
        self.items = items

    def _of(self, item: Any) -> Any:
        return self.function(item)


class Filtered(Drawn):
    """``filter(function, items)``"""

    def __init__(self, function: Any, items: Any) -> None:
        self.function = function
        self.items = items

    def __next__(self) -> Any:
        item = self.items.__next__()
        while not self.function(item):
            item = self.items.__next__()
        return item

    def left(self) -> Iterator[Any]:
        for item in self.items:
            if self.function(item):
                yield item


class Chained(Drawn):
    """``itertools.chain(first, second)``"""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second
        self.is_in_first = True

    def __next__(self) -> Any:
        if self.is_in_first:
            try:
                return self.first.__next__()
            except StopIteration:
                self.is_in_first = False
        return self.second.__next__()

    def left(self) -> Iterator[Any]:
        if self.is_in_first:
            for item in self.first:
                yield item
            self.is_in_first = False
        for item in self.second:
            yield item


class Cycle(Drawn):
    """``itertools.cycle(items)``"""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.seen: list[Any] = []
        self.place = -1

    def __next__(self) -> Any:
        if self.place < 0:
            try:
                item = self.items.__next__()
                self.seen.append(item)
                return item
            except StopIteration:
                self.place = 0
        if not self.seen:
            raise StopIteration
        place = self.place
        self.place = (place + 1) % len(self.seen)
        return self.seen[place]


class Shared(Drawn):
    """One of those that ``itertools.tee`` gives, which share what they have drawn."""

    def __init__(self, items: Any, drawn: Any) -> None:
        self.items = items
        self.drawn = drawn
        self.place = 0

    def __next__(self) -> Any:
        place = self.place
        if place == len(self.drawn):
            self.drawn.append(self.items.__next__())
        self.place = place + 1
        return self.drawn[place]


def shared_by(items: Any, count: Any) -> Any:
    drawn: list[Any] = []
    return tuple([Shared(items, drawn) for _ in range(count)])


class Rows(Drawn):
    """``zip(*columns)``"""

    def __init__(self, *columns: Any) -> None:
        self.columns = columns

    def __next__(self) -> Any:
        return tuple([column.__next__() for column in self.columns])


class Delegate(Drawn):
    """What ``yield from`` of something else than a generator goes through."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self._result = None

    def _advance(self, sent: Any) -> Any:
        if sent is not None:
            raise AttributeError("'yield from' goes through an iterator that has no method 'send'")
        for item in self.items:
            self._item = item
            return True
        return False

    def _thrown(self, error: Any) -> Any:
        raise error


class Resumable(Drawn):
    """A generator; those of one function are of a class of their own, which has ``_advance`` and ``_thrown``.

    ``_begun`` and ``_ended`` tell whether its body was entered and left, ``_delegated`` whether another one delegates
    to it, which closes it when nobody has the other any more.
    """

    _begun: Any
    _ended: Any
    _delegated: Any
    _item: Any
    _result: Any

    def _advance(self, sent: Any) -> Any:
        raise NotImplementedError

    def _thrown(self, error: Any) -> Any:
        raise NotImplementedError

    def _refuse_delegated(self) -> None:
        if self._delegated and not self._ended:
            raise NotImplementedError("a generator that another one delegates to, by 'yield from', is asked itself")

    def __next__(self) -> Any:
        self._refuse_delegated()
        if self._ended:
            raise StopIteration
        if self._advance(None):
            return self._item
        raise StopIteration(self._result)

    def send(self, value: Any) -> Any:
        self._refuse_delegated()
        if self._ended:
            raise StopIteration
        if not self._begun and value is not None:
            raise TypeError("can't send non-None value to a just-started generator")
        if self._advance(value):
            return self._item
        raise StopIteration(self._result)

    def throw(self, error: Any) -> Any:
        self._refuse_delegated()
        if self._thrown(error):
            return self._item
        raise StopIteration(self._result)

    def close(self) -> None:
        self._refuse_delegated()
        self._ended = True

    def next_or(self, default: Any) -> Any:
        self._refuse_delegated()
        return self._item if self._advance(None) else default

    def left(self) -> Iterator[Any]:
        self._refuse_delegated()
        while self._advance(None):
            yield self._item

    def _left_to_delegate(self) -> Iterator[Any]:
        while self._advance(None):
            yield self._item

    def _close_with_delegating(self) -> None:
        self._ended = True

    def _as_delegate(self) -> Any:
        self._refuse_delegated()
        if self._ended:
            self._result = None
        self._delegated = True
        return self


def each(iterator: Any) -> Iterator[Any]:
    """What any object with ``__next__`` gives from here on."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            return
        yield item


def next_or(iterator: Any, default: Any) -> Any:
    """``next(iterator, default)`` of any object with ``__next__``."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default
