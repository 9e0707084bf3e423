"""Shapes with -1 in them that are known at run time only, and reshaped views that are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")

X = np.linspace(-1.0, 2.0, 27)


def fused(x: np.ndarray, shape: Any) -> float:
    z = np.reshape(x, shape)
    w = z * 2.0 + np.sin(z)
    w[0] += 1.0
    return np.sum(w * w) + np.sum(np.mean(w, axis=-1))


def looped(x: np.ndarray, shape: Any) -> float:
    z = x.reshape(shape)
    total = 0.0
    for i in range(z.shape[0]):
        total += np.sum(z[i] ** 2) * (i + 1.0)
    return total


@pytest.mark.parametrize("shape", [(3, -1), (-1, 9), (3, 9), (27, -1), (-1,), -1, (3, -1, 3)], ids=str)
@pytest.mark.parametrize("f", [fused, looped])
def test_an_extent_that_is_left_open_at_run_time(f: Callable[..., Any], shape: Any) -> None:
    value, gradient = ad.value_and_grad(f, native="strict")(X, shape)
    expected, slopes = ad.value_and_grad(f)(X, shape)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-13)


@pytest.mark.parametrize("shape", [(4, -1), (-1, -1), (0, -1), (3, 8)], ids=str)
def test_shapes_that_do_not_fit_raise(shape: Any) -> None:
    for native in ("strict", False):
        with pytest.raises(ValueError, match=r"reshape|unknown dimension"):
            ad.grad(fused, native=native)(X, shape)


def stages(x: np.ndarray, radix: int, count: int) -> float:
    """Of a Fourier transform: each permutes what the array has in another shape; whether that is a view changes."""
    y = np.zeros(radix**count)
    y[:] = x
    for i in range(count):
        permuted = np.transpose(np.reshape(y, (radix**i, radix, -1)), axes=(1, 0, 2))
        flat = np.reshape(permuted, (radix**count,))
        y[:] = np.reshape(np.ones((radix, radix)) @ np.reshape(flat * 0.5, (radix, -1)), -1) + 0.1 * x
    return np.sum(y * y)


def written_views(x: np.ndarray, radix: int, count: int) -> float:
    y = np.copy(x)
    for i in range(count):
        rows = np.reshape(y, (radix**i, -1))
        rows[0] *= 1.0 + np.sum(rows[-1])
        turned = np.reshape(np.transpose(rows), (-1,))
        turned += 0.5
    return np.sum(y * y)


@pytest.mark.parametrize("f", [stages, written_views])
@pytest.mark.parametrize("x", [X, np.repeat(X, 2)[::2], X[::-1]], ids=["plain", "strided", "backwards"])
def test_reshaped_views_that_are_written(f: Callable[..., Any], x: np.ndarray) -> None:
    value, gradient = ad.value_and_grad(f, native="strict")(x, 3, 3)
    expected, slopes = ad.value_and_grad(f)(x, 3, 3)
    np.testing.assert_allclose([value, expected], f(x.copy(), 3, 3), rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-11)
