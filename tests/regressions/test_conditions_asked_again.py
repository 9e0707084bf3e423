"""A condition that was decided on the way is not asked again: the other side leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regressions.differences import right


def no_end_of_a_chain(x: Any, n: int) -> Any:
    one, two = n == 1, x[0] > 1.0
    if not (one or two):
        raise ValueError(n)
    if one:
        return x @ x
    if two:
        return np.sum(np.sin(x))


def neither_of_two(x: Any, n: int) -> Any:
    big, odd = x[0] > 1.0, n % 2 == 1
    if not big and not odd:
        return x[1] ** 3
    if big:
        found = x @ x
    elif odd:
        found = x[0] * x[1]
    return found * x[0]


def both(x: Any, n: int) -> Any:
    big, odd = x[0] > 1.0, n % 2 == 1
    if big and odd:
        y = x[0] if big else None
        z = x[1] if not odd else x[0] ** 2
        return y * z
    return x[1] * (3.0 if big else 2.0) * (1.0 if odd else x[0])


def bound_anew(x: Any, n: int) -> Any:
    going, total = x[0] > 0.5, 0.0
    while going:
        total = total + x[0] ** 2
        if not going:
            return None
        going = total < 5.0
        if not going:
            total = total * x[1]
    for k in range(n):
        big = x[0] > k
        if big:
            total = total + x[0] * k
            big = x[1] > k
        if big:
            total = total + x[1] ** 2
    return total


def in_a_handler(x: Any, n: int) -> Any:
    big = x[0] > 1.0
    try:
        if big:
            raise ValueError
        total = x[1] ** 2
    except ValueError:
        total = x[0] ** 3 if big else None
    return total * (x[1] if big else x[0])


def of_floats(x: Any, n: int) -> Any:
    rest = float(n - 2)
    if rest:
        return x[0] ** 2 * (3.0 if rest else x[1])
    return x[1] ** 2 * (x[0] if rest else 1.0)


def of_parts_that_stay_what_they_are(x: Any, n: int) -> Any:
    big, odd, total = x[0] > 1.0, n % 2 == 1, 0.0
    if big:
        if big and odd:
            total = x[1]
        if not big or odd:
            total = total + x[0]
    if odd:
        total = total + (x[0] ** 2 if big else x[1] ** 2)
    if not odd:
        total = total + (x[0] ** 3 if big else x[1] ** 3)
    return total


PROGRAMS = [
    *(no_end_of_a_chain, neither_of_two, both, bound_anew, in_a_handler, of_floats),
    of_parts_that_stay_what_they_are,
]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("first", [1.3, 0.7])
def test_conditions(f: Callable[..., Any], n: int, first: float) -> None:
    x = np.array([first, 0.8])
    if f is no_end_of_a_chain and n == 2 and first < 1.0:
        with pytest.raises(ValueError, match="2"):
            right(f, x, n)
    else:
        right(f, x, n)
