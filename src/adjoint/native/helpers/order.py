"""Orders of the elements of a line: ascending, what is not a number last, equal ones as they stand; places in them."""

from __future__ import annotations

from typing import Any

import numpy as np


def comes_before(one: Any, other: Any) -> bool:
    """What is not a number comes last."""
    return one < other or (other != other and one == one)  # type: ignore[no-any-return]


def order_of_line(x: Any) -> Any:
    """``np.argsort(x, kind="stable")``: sorted runs are merged."""
    n = x.shape[0]
    order, merged = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        order[k] = k
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, end):
                if i < middle and (j >= end or not comes_before(x[order[j]], x[order[i]])):
                    merged[k] = order[i]
                    i += 1
                else:
                    merged[k] = order[j]
                    j += 1
        for k in range(n):
            order[k] = merged[k]
        width *= 2
    return order


def origins_of_line(y: Any, a: Any) -> Any:
    """Where in ``a`` the elements of ``y``, which are its elements in another order, stand."""
    found = np.empty(y.shape[0], np.int64)
    first, second = order_of_line(y), order_of_line(a)
    for k in range(y.shape[0]):
        found[first[k]] = second[k]
    return found


def first_place(items: Any, value: Any) -> int:
    """Where the first item is that is equal, -1 where there is none; -2 where one may be the same object only."""
    for k in range(len(items)):
        if items[k] == value:
            return k
        if items[k] != items[k] and value != value:
            return -2
    return -1


def count_of_equal(items: Any, value: Any) -> int:
    """``list.count``; -2 where an item may be the same object only."""
    count = 0
    for k in range(len(items)):
        if items[k] == value:
            count += 1
        if items[k] != items[k] and value != value:
            return -2
    return count


def place_before(a: Any, x: Any, lo: int = 0, hi: Any = None) -> int:
    """``bisect.bisect_left``"""
    low, high = _ends(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def place_behind(a: Any, x: Any, lo: int = 0, hi: Any = None) -> int:
    """``bisect.bisect_right``"""
    low, high = _ends(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def _ends(a: Any, lo: int, hi: Any) -> tuple[int, int]:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi is None else hi
