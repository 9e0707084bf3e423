"""A loop that reads or writes one element at a time costs its derivative O(n) in all, in time and in memory.

Each program is run for n and for eight times as many elements. What is quadratic somewhere takes 64 times as much
of something; what is linear, eight times: the bounds lie between.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate

import adjoint as ad

SMALL, LARGE = 500, 4_000
BOUND = 24.0


def gather(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def gather_from_both_ends(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[-1 - i] + x[i // 2]
    return total


def scatter(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * 2.0
    return np.sum(y * y)


def recurrence(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] *= y[i - 1]
    return np.sum(y)


def several_writes_an_iteration(x):
    y = np.ones(len(x))
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]
        y[i - 1] *= x[i]
        y[i], y[0] = y[0] * 0.5, y[i]
    return np.sum(y)


def under_a_condition(x):
    y = x.copy()
    for i in range(1, len(x)):
        if x[i] > 0.5:
            y[i] += y[i - 1] * 0.5
    return np.sum(y)


def in_a_while_loop(x):
    y = x.copy()
    i = 0
    while i < len(y) - 1:
        y[i + 1] += 0.5 * y[i] * y[i]
        i += 1
    return y[-1]


def through_a_view(x):
    y = x.copy()
    tail = y[1:]
    for i in range(len(tail)):
        tail[i] *= 0.5 * y[i]
    return np.sum(y)


def rows_bound_to_names(x):
    m = x.reshape(-1, 4) * 1.0
    for i in range(1, len(m)):
        row, before = m[i], m[i - 1]
        for j in range(4):
            row[j] += 0.5 * before[j] * row[j]
    return np.sum(m)


def elements_of_a_matrix(x):
    m = x.reshape(-1, 4) * 1.0
    total = 0.0
    for i in range(1, m.shape[0]):
        for j in range(4):
            m[i, j] += 0.5 * m[i - 1, j]
            total += m[i, j]
    return total


def histogram(x):
    counts = np.zeros(len(x))
    for i in range(len(x)):
        k = int(x[i] * len(x)) % len(x)
        counts[k] += x[i] * x[i]
    return np.sum(counts * counts)


def small_index_arrays(x):
    y = x.copy()
    for i in range(0, len(x) - 2, 4):
        y[[i, i + 1, i]] = y[[i + 2, i, i + 1]] * 2.0
    return np.sum(y * y)


def small_slices(x):
    y = x.copy()
    for i in range(0, len(x) - 4, 2):
        y[i : i + 2] *= y[i + 2 : i + 4]
        y[i + 2 : i + 4] = 0.5 * y[i + 1 : i + 3]
    return np.sum(y)


def update(a, i):
    a[i] += 0.5 * a[i - 1]
    return a[i]


def written_by_a_function(x):
    y = x.copy()
    total = 0.0
    for i in range(1, len(x)):
        total += update(y, i) * y[i]
    return total


def two_arrays_swapped(x):
    u, v = x.copy(), x * 2.0
    for i in range(1, len(x)):
        u[i] += 0.5 * v[i - 1]
        u, v = v, u
    return np.sum(u)


def list_by_element(x):
    values = [x[0]]
    for i in range(1, len(x)):
        values.append(0.5 * values[i - 1] + x[i])
    total = 0.0
    for i in range(len(values)):
        values[i] *= 0.5
        total += values[i] * values[i - 1]
    return total


def by_halves(x, low, high):
    if high - low == 1:
        return x[low] * x[low]
    middle = (low + high) // 2
    return by_halves(x, low, middle) + 0.999 * by_halves(x, middle, high)


def recursion_over_an_array(x):
    return by_halves(x, 0, len(x))


def first_in_first_out(x):
    waiting = deque(x)
    total = 0.0
    while waiting:
        value = waiting.popleft()
        total = 0.99 * total + value * value
        if value > 0.9:
            waiting.append(0.5 * value)
    return total


class Cell:
    def __init__(self, value, following):
        self.value, self.following = value, following


def linked_list(x):
    head = None
    for value in x:
        head = Cell(value * value, head)
    total = 0.0
    while head is not None:
        total = 0.9 * total + head.value
        head = head.following
    return total


def splines(x):
    nodes = np.arange(1.0, len(x) + 1.0)
    at = np.array([1.3, 2.6])
    natural = interpolate.make_interp_spline(nodes, x, k=3, bc_type="natural")(at)
    return np.sum(interpolate.interp1d(nodes, x, kind="cubic")(at) + natural + interpolate.CubicSpline(nodes, x)(at))


PROGRAMS = [
    gather,
    gather_from_both_ends,
    scatter,
    recurrence,
    several_writes_an_iteration,
    under_a_condition,
    in_a_while_loop,
    through_a_view,
    rows_bound_to_names,
    elements_of_a_matrix,
    histogram,
    small_index_arrays,
    small_slices,
    written_by_a_function,
    two_arrays_swapped,
    list_by_element,
    recursion_over_an_array,
    first_in_first_out,
    linked_list,
    splines,
]

KEPT_IN_TUPLES = [recursion_over_an_array]
"""Programs of which Python's free lists of tuples hide the memory."""


def reverse_mode(function: Callable[..., Any], x: Any) -> Callable[[], Any]:
    derivative = ad.grad(function)
    return lambda: derivative(x)


def split_mode(function: Callable[..., Any], x: Any) -> Callable[[], Any]:
    def run() -> Any:
        _, pullback = ad.vjp(function, x)
        return pullback(1.0)

    return run


def forward_mode(function: Callable[..., Any], x: Any) -> Callable[[], Any]:
    return lambda: ad.jvp(function, (x,), (np.ones_like(x),))


def second_order(function: Callable[..., Any], x: Any) -> Callable[[], Any]:
    return lambda: ad.hvp(function, (x,), (np.ones_like(x),))


MODES = [reverse_mode, split_mode, forward_mode, second_order]


def seconds(run: Callable[[], Any]) -> float:
    found = []
    for _ in range(2):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def peak_bytes(run: Callable[[], Any]) -> int:
    tracemalloc.start()
    gc.disable()  # so that what else lies in memory has no say
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        gc.enable()
        tracemalloc.stop()


@pytest.mark.parametrize("mode", MODES, ids=[mode.__name__ for mode in MODES])
@pytest.mark.parametrize("function", PROGRAMS, ids=[function.__name__ for function in PROGRAMS])
def test_cost_is_linear(function: Callable[..., Any], mode: Callable[..., Any]) -> None:
    small, large = (mode(function, np.random.default_rng(0).uniform(0.1, 1.0, n)) for n in (SMALL, LARGE))
    small()  # compiles
    assert seconds(large) < BOUND * max(seconds(small), 1e-3)
    if function not in KEPT_IN_TUPLES:
        assert peak_bytes(large) < BOUND * peak_bytes(small)
