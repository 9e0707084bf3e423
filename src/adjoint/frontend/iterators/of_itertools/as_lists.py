"""What the functions of `itertools` do, in Python, as lists: read by the compiler where what they are given varies."""

from __future__ import annotations

from typing import Any


def accumulated(items: Any, function: Any) -> Any:
    if len(items) == 0:
        return [item for item in items]  # noqa: C416
    total = items[0]
    result = [total]
    for i in range(1, len(items)):
        total = function(total, items[i])
        result.append(total)
    return result


def accumulated_from(items: Any, function: Any, initial: Any) -> Any:
    total = initial
    result = [total]
    for item in items:
        total = function(total, item)
        result.append(total)
    return result


def compressed(items: Any, selectors: Any) -> Any:
    return [item for item, selector in zip(items, selectors) if selector]  # noqa: B905


def crossed(items: Any, others: Any) -> Any:
    return [(item, other) for item in items for other in others]


def crossed_three(items: Any, others: Any, more: Any) -> Any:
    return [(item, other, third) for item in items for other in others for third in more]


def dropped_while(predicate: Any, items: Any) -> Any:
    result = []
    dropping = True
    for item in items:
        if dropping:
            dropping = predicate(item)
        if not dropping:
            result.append(item)
    return result


def taken_while(predicate: Any, items: Any) -> Any:
    result = []
    for item in items:
        if not predicate(item):
            break
        result.append(item)
    return result


def filtered_false(predicate: Any, items: Any) -> Any:
    return [item for item in items if not predicate(item)]


def flattened(lists: Any) -> Any:
    return [item for items in lists for item in items]


def longest(items: Any, others: Any, fill: Any) -> Any:
    return [
        (items[i] if i < len(items) else fill, others[i] if i < len(others) else fill)
        for i in range(max(len(items), len(others)))
    ]


def pairs(items: Any) -> Any:
    return [(items[i], items[j]) for i in range(len(items)) for j in range(i + 1, len(items))]


def pairs_with_replacement(items: Any) -> Any:
    return [(items[i], items[j]) for i in range(len(items)) for j in range(i, len(items))]


def ordered_pairs(items: Any) -> Any:
    return [(items[i], items[j]) for i in range(len(items)) for j in range(len(items)) if i != j]


def triples(items: Any) -> Any:
    size = len(items)
    return [(items[i], items[j], items[k]) for i in range(size) for j in range(i + 1, size) for k in range(j + 1, size)]


def repeated(item: Any, times: Any) -> Any:
    return [item for _ in range(times)]


def sliced(items: Any, start: Any, stop: Any, step: Any) -> Any:
    if start < 0 or stop < 0 or step < 1:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return [item for place, item in zip(range(stop), items) if place >= start and (place - start) % step == 0]  # noqa: B905


def sliced_to_end(items: Any, start: Any, step: Any) -> Any:
    if start < 0 or step < 1:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return [item for place, item in enumerate(items) if place >= start and (place - start) % step == 0]


def batched(items: Any, n: Any, strict: Any = False) -> Any:
    result = []
    for start in range(0, len(items), n):
        if strict and start + n > len(items):
            raise ValueError("batched(): incomplete batch")
        result.append(tuple(items[start : start + n]))
    return result
