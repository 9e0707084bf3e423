"""What the functions of `itertools` do with a generator, item by item, in Python: read by the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def accumulated(items: Any, function: Any) -> Iterator[Any]:
    total: list[Any] = []
    for item in items:
        if total:
            total[0] = function(total[0], item)
        else:
            total.append(item)
        yield total[0]


def accumulated_from(items: Any, function: Any, initial: Any) -> Iterator[Any]:
    total = initial
    yield total
    for item in items:
        total = function(total, item)
        yield total


def zipped_strictly(parts: Any) -> Iterator[Any]:
    yield from zip(*parts)  # noqa: B905
    for place, part in enumerate(parts[1:], 2):
        before = "argument 1" if place == 2 else f"arguments 1-{place - 1}"
        if len(part) < len(parts[0]):
            raise ValueError(f"zip() argument {place} is shorter than {before}")
        if len(part) > len(parts[0]):
            raise ValueError(f"zip() argument {place} is longer than {before}")


def compressed(items: Any, selectors: Any) -> Iterator[Any]:
    for item, selector in zip(items, selectors):  # noqa: B905
        if selector:
            yield item


def dropped_while(predicate: Any, items: Any) -> Iterator[Any]:
    dropping = True
    for item in items:
        if dropping:
            dropping = predicate(item)
        if not dropping:
            yield item


def taken_while(predicate: Any, items: Any) -> Iterator[Any]:
    for item in items:
        if not predicate(item):
            break
        yield item


def filtered_false(predicate: Any, items: Any) -> Iterator[Any]:
    for item in items:
        if not predicate(item):
            yield item


def mapped_rows(function: Any, rows: Any) -> Iterator[Any]:
    for row in rows:
        yield function(*row)


def grouped(items: Any, key: Any) -> Iterator[Any]:
    keys: list[Any] = []
    group: list[Any] = []
    for item in items:
        found = key(item)
        if keys and keys[-1] != found:
            yield keys[-1], iter(group)
            group = []
        keys.append(found)
        group.append(item)
    if keys:
        yield keys[-1], iter(group)


def flattened(lists: Any) -> Iterator[Any]:
    for items in lists:
        yield from items


def joined(items: Any, more: Any) -> Iterator[Any]:
    yield from items
    yield from more


def called_until(function: Any, sentinel: Any) -> Iterator[Any]:
    item = function()
    while item != sentinel:
        yield item
        item = function()


def repeated(item: Any, times: Any) -> Iterator[Any]:
    for _ in range(times):
        yield item


def paired(items: Any) -> Iterator[Any]:
    before: list[Any] = []
    for item in items:
        if before:
            yield before[0], item
            before[0] = item
        else:
            before.append(item)


def sliced(items: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    for place, item in zip(range(stop), items):  # noqa: B905
        if place >= start and (place - start) % step == 0:
            yield item


def sliced_to_end(items: Any, start: Any, step: Any) -> Iterator[Any]:
    for place, item in enumerate(items):
        if place >= start and (place - start) % step == 0:
            yield item
