"""The truth of an array or a container is that of when it was asked, also where it is written afterwards."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def by_an_array(x: Any, flag: Any) -> Any:
    flag = flag.copy()
    total = x[0] ** 2 if flag else 3.0 * x[0]
    flag[0] = 0.0
    if flag:
        return total * x[1]
    return total * x[2]


def by_a_view(x: Any, flag: Any) -> Any:
    flag = flag.copy()
    part = flag[0:1]
    if part:
        total = x[0] ** 2
    else:
        total = 3.0 * x[0]
    flag[0] = 0.0
    return total * (x[1] if part else x[2])


def by_operators(x: Any, flag: Any) -> Any:
    flag = flag.copy()
    missing, given = not flag, flag and 1.0
    flag[0] = 0.0
    total = x[0] ** 2 if missing else 3.0 * x[0]
    return total * x[1] if given else total * x[2]


def while_it_lasts(x: Any, count: Any) -> Any:
    count, total = count.copy(), x[0]
    while count:
        total = total * x[1]
        count[0] -= 1.0
        if count:
            total = total + x[2]
        else:
            total = total * x[0]
    return total


def in_a_loop(x: Any, flags: Any) -> Any:
    flags, total = np.tile(flags, 3), x[0]
    for i in range(3):
        part = flags[i : i + 1]
        if part:
            total = total * x[1]
        else:
            total = total + x[2]
        part[0] = 1.0 - part[0]
        if part:
            total = total * x[2]
        else:
            total = total - x[1] * total * total
    return total


def so_often(x: Any, flags: Any) -> Any:
    """How often a loop runs is what its array held when it began."""
    count, total = np.array(3), x[0]
    for i in range(count):
        total = total * x[1] + i * total * x[2]
        count[...] = 0
    return total + x[2] * flags[0]


def by_a_container(x: Any, items: Any) -> Any:
    if items:
        total = x[0] ** 2
    else:
        total = 3.0 * x[0]
    items.clear()
    if items:
        return total * x[1]
    return total * x[2]


def by_a_list(x: Any, items: Any) -> Any:
    return by_a_container(x, list(items))


def by_a_set(x: Any, items: Any) -> Any:
    return by_a_container(x, set(items))


def by_a_queue(x: Any, items: Any) -> Any:
    return by_a_container(x, deque(items))


X = np.array([0.4, 0.7, 1.3])
ARRAYS = [by_an_array, by_a_view, by_operators, while_it_lasts, in_a_loop, so_often]
CONTAINERS = [by_a_list, by_a_set, by_a_queue]


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    ("function", "given"),
    [*((f, np.array([v])) for f in ARRAYS for v in (2.0, 0.0)), *((f, v) for f in CONTAINERS for v in ([1.0], []))],
)
def test_the_reverse_takes_the_paths_of_the_program(function: Callable[..., Any], given: Any, native: bool) -> None:
    steps = 1e-6 * np.eye(3)
    slopes = [(function(X + s, given) - function(X - s, given)) / 2e-6 for s in steps]
    df = ad.grad(function, native=native)
    for _ in range(2):
        np.testing.assert_allclose(df(X, given), slopes, rtol=1e-6, atol=1e-9)
    for step in np.eye(3):
        assert ad.jvp(function, (X, given), (step, None))[1] == pytest.approx(np.dot(slopes, step), rel=1e-6)
    second = [(ad.grad(function)(X + s, given) - ad.grad(function)(X - s, given)) / 2e-6 for s in steps]
    np.testing.assert_allclose(ad.hessian(function)(X, given), second, rtol=1e-5, atol=1e-7)
