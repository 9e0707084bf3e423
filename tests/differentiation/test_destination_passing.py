"""Adjoints of functions that stay functions add to arrays of their callers, instead of making some for each call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def halves(x, low, high):
    if high - low == 1:
        return math.sin(x[low]) * x[low]
    middle = (low + high) // 2
    return halves(x, low, middle) * 1.01 + halves(x, middle, high) ** 2


def by_halves(x):
    return halves(x, 0, len(x))


def two(a, b, i):
    if i == len(a):
        return 1.0
    return a[i] * two(a, b, i + 1) + math.cos(b[i] * a[i])


def of_two(a, b):
    return two(a, b, 0)


def of_one_twice(a):
    return two(a, a, 0) + two(a, a, 1) ** 2


def of_part(a):
    return two(a[1:], a[:-1] * 2.0, 0) * np.sum(a)


def rows(m, i):
    if i == len(m):
        return 0.0
    return np.sum(m[i] * m[i]) * m[i, 0] + 0.5 * rows(m, i + 1)


def of_rows(m):
    return rows(m, 0)


def scaled(x, i):
    """What is returned here is no sum: it is computed from what the deeper call gives."""
    if i == 3:
        return x * x
    return np.sin(scaled(x * 1.5, i + 1))


def of_scaled(x):
    return np.sum(scaled(x, 0))


def repeated(x):
    total = 0.0
    for i in range(3):
        total += halves(x, i, len(x)) * (i + 1.0)
    return total


def in_a_branch(x):
    total = halves(x, 0, 2)
    if total > 0.1:
        total += halves(x, 1, len(x))
    return total * x[0]


def caught(x):
    total = 0.0
    for i in range(4):
        try:
            if i == 2:
                raise ValueError
            total += halves(x, 0, i + 1)
        except ValueError:
            total += halves(x, 1, 3)
    return total


CASES: list[tuple[Callable[..., Any], int]] = [
    (by_halves, 1),
    (of_two, 2),
    (of_one_twice, 1),
    (of_part, 1),
    (of_rows, 1),
    (of_scaled, 1),
    (repeated, 1),
    (in_a_branch, 1),
    (caught, 1),
]


def _arguments(function: Callable[..., Any], count: int) -> list[np.ndarray]:
    shape = (5, 3) if function is of_rows else (5,)
    return [np.random.default_rng(place).uniform(0.2, 1.0, shape) for place in range(count)]


@pytest.mark.parametrize(("function", "count"), CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.parametrize("native", [False, True])
def test_gradients(function: Callable[..., Any], count: int, native: bool) -> None:
    if native and function is caught:
        pytest.skip("handlers have no form in machine code")
    args = _arguments(function, count)
    wrt = tuple(range(count))
    gradient = ad.grad(function, wrt, native=native)
    found = gradient(*args)
    parts = [found] if count == 1 else list(found)
    again = gradient(*args)
    directions = [np.cos(np.arange(arg.size)).reshape(arg.shape) for arg in args]
    step = 1e-6
    ahead, behind = (
        function(*(arg + sign * step * way for arg, way in zip(args, directions, strict=True))) for sign in (1, -1)
    )
    slope = sum(np.sum(part * way) for part, way in zip(parts, directions, strict=True))
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)
    assert np.array_equal(np.stack(parts), np.stack([again] if count == 1 else list(again)))
    _, forward = ad.jvp(function, tuple(args), tuple(directions))
    assert slope == pytest.approx(forward, rel=1e-12)


@pytest.mark.parametrize(("function", "count"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_second_order(function: Callable[..., Any], count: int) -> None:
    args = _arguments(function, count)
    directions = [np.cos(np.arange(arg.size)).reshape(arg.shape) for arg in args]
    wrt = tuple(range(count))
    found = ad.hvp(function, tuple(args), tuple(directions))
    gradient = ad.grad(function, wrt)
    ahead, behind = (
        gradient(*(arg + sign * 1e-5 * way for arg, way in zip(args, directions, strict=True))) for sign in (1, -1)
    )
    np.testing.assert_allclose(
        np.stack([found] if count == 1 else found),
        (np.stack([ahead] if count == 1 else ahead) - np.stack([behind] if count == 1 else behind)) / 2e-5,
        rtol=1e-6,
        atol=1e-7,
    )


def test_calls_make_no_zeros() -> None:
    for function, count in ((by_halves, 1), (of_two, 2), (of_rows, 1), (repeated, 1)):
        gradient = ad.grad(function, tuple(range(count)))
        gradient(*_arguments(function, count))
        _, _, called = ad.source(gradient).partition("\n\n\n")
        assert "_adjoint(" in called
        assert "zeros" not in called, function.__name__


def test_text_of_halves() -> None:
    gradient = ad.grad(by_halves)
    gradient(np.ones(3))
    whole, *_, adjoint = ad.source(gradient).strip().split("\n\n\n")
    assert whole.splitlines()[-3:] == [
        "    x_bar = np.zeros_like(x)",
        "    halves_adjoint(kept, 1.0, x_bar)",
        "    return x_bar",
    ]
    assert adjoint.startswith("def halves_adjoint(kept, result_bar, x_bar):")
