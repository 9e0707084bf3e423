"""What is written into memory that nobody reads is not written, whatever the ways to that memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def joined(x: np.ndarray) -> float:
    """A join hands on memory of one path or of the other."""
    work = np.zeros_like(x)
    other = work if x[0] > 0.0 else np.ones_like(x)
    other[1:] += np.sin(x[1:])
    return float(np.sum(x * x))


def swapped(x: np.ndarray) -> float:
    """A loop carries two buffers, which change places."""
    here, work = np.zeros_like(x), np.ones_like(x)
    for i in range(3):
        work[i:] = np.cos(x[i:]) + here[i:]
        here, work = work, here
    return float(np.sum(x * x))


def through_views(x: np.ndarray) -> float:
    work = np.zeros((2, x.shape[0]))
    row = work[0] if x[0] > 0.0 else work[1]
    row[:] = np.exp(x)
    return float(np.sum(x * x))


def read_behind_a_join(x: np.ndarray) -> float:
    work = np.zeros_like(x)
    other = work if x[0] > 0.0 else np.ones_like(x)
    other[1:] += np.sin(x[1:])
    return float(np.sum(work * x))


def read_before_the_swap(x: np.ndarray) -> float:
    here, work = np.zeros_like(x), np.ones_like(x)
    for i in range(3):
        work[i:] = np.cos(x[i:]) + here[i:]
        here, work = work, here
    return float(np.sum(here * x))


def of_the_caller(x: np.ndarray, out: np.ndarray) -> float:
    """Others may read an argument."""
    other = out if x[0] > 0.0 else np.ones_like(x)
    other[1:] += np.sin(x[1:])
    return float(np.sum(x * x))


def differences(function: Callable[..., float], x: np.ndarray, *others: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(len(x))
    values = [[function(x + sign * step, *(o.copy() for o in others)) for sign in (1, -1)] for step in steps]
    return np.array([(after - before) / 2e-6 for after, before in values])


@pytest.mark.parametrize("native", [False, "strict"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("function", "left_out"),
    [
        (joined, ("sin", "zeros_like(x)", "ones_like")),
        (swapped, ("cos", "for ")),
        (through_views, ("exp", "zeros((2")),
        (read_behind_a_join, ()),
        (read_before_the_swap, ()),
    ],
)
def test_only_what_is_read_is_written(
    function: Callable[[np.ndarray], float], left_out: tuple[str, ...], sign: float, native: Any
) -> None:
    x = np.array([sign, 0.3, 0.7, 1.1])
    derivative = ad.grad(function, native=native)
    np.testing.assert_allclose(derivative(x), differences(function, x), rtol=1e-6, atol=1e-8)
    text = ad.source(derivative, x)
    for part in left_out:
        assert part not in text
    assert left_out or "+=" in text or "= np.cos" in text


@pytest.mark.parametrize("native", [False, "strict"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_others_may_read_is_written(sign: float, native: Any) -> None:
    x, out, expected = np.array([sign, 0.3, 0.7, 1.1]), np.zeros(4), np.zeros(4)
    np.testing.assert_allclose(ad.grad(of_the_caller, native=native)(x, out), 2.0 * x)
    of_the_caller(x, expected)
    np.testing.assert_allclose(out, expected)
