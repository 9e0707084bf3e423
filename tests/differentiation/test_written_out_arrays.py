"""Arrays whose elements are written out, as right-hand sides of differential equations make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def lorenz(u, p):
    x, y, z = u
    return np.array([p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z])


def stepped(p):
    u = np.array([1.0, 0.5, 0.2])
    for _ in range(5):
        u = u + 0.01 * lorenz(u + 0.005 * lorenz(u, p), p)
    return u[0] + u[2] * u[1]


def shifted(x):
    state = np.zeros(3)
    for i in range(len(x)):
        state = np.array([state[1], state[2], x[i] + 0.1 * state[0]])
    return state @ state


def turned(angles):
    position, frame = np.zeros(2), np.eye(2)
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        frame = frame @ np.array([[c, -s], [s, c]])
        position = position - frame @ np.array([1.0, angle])
    return np.sum(position * position)


CASES: list[tuple[Callable[..., Any], np.ndarray]] = [
    (stepped, np.array([10.0, 28.0, 8 / 3])),
    (shifted, np.linspace(0.1, 0.9, 6)),
    (turned, np.linspace(0.1, 0.9, 4)),
]


@pytest.mark.parametrize(("function", "x"), CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.parametrize("native", [False, True])
def test_gradients(function: Callable[..., Any], x: np.ndarray, native: bool) -> None:
    gradient = ad.grad(function, native=native)
    found = gradient(x)
    assert found.dtype == np.float64
    step = 1e-6
    slopes = [(function(x + step * unit) - function(x - step * unit)) / (2 * step) for unit in np.eye(len(x))]
    np.testing.assert_allclose(found, slopes, rtol=1e-6)
    way = np.cos(np.arange(len(x)))
    ahead, behind = gradient(x + 1e-5 * way), gradient(x - 1e-5 * way)
    (second,) = ad.hvp(function, (x,), (way,))
    np.testing.assert_allclose(second, (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("function", "x"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_cotangents_of_elements_are_elements(function: Callable[..., Any], x: np.ndarray) -> None:
    gradient = ad.grad(function)
    gradient(x)
    assert "array_leaf" not in ad.source(gradient)


def test_the_shape_of_a_state_is_not_kept() -> None:
    gradient = ad.grad(shifted)
    gradient(CASES[1][1])
    assert "shape_only" not in ad.source(gradient)
