"""Compiled sweeps of several directions skip zeros of products, and nothing that is none."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


def framed(x: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Products from both sides with a matrix of which each argument moves one element; the last moves none."""
    frames = np.zeros((40, 3))
    for i in range(len(x) - 1):
        frames[7 * i % 40, i % 3] = np.sin(x[i])
    return np.exp(np.sum(left * left)) * ((left @ frames) * (frames.T @ right).T)


X = np.linspace(0.1, 1.3, 12)
LEFT, RIGHT = 0.01 * np.cos(np.arange(2000.0)).reshape(50, 40), np.sin(np.arange(2000.0)).reshape(40, 50)


def with_others(matrix: np.ndarray, *others: float) -> np.ndarray:
    """A copy with other numbers in some places."""
    found = matrix.copy()
    found.ravel()[np.arange(len(others)) * 77 + 5] = others
    return found


@pytest.mark.parametrize("others", [(), (np.inf,), (-np.inf, np.nan)], ids=str)
def test_zeros_are_skipped_where_they_give_zeros(others: tuple[float, ...]) -> None:
    for left, right in ((with_others(LEFT, *others), RIGHT), (LEFT, with_others(RIGHT, *others))):
        with np.errstate(all="ignore"):
            expected = ad.jacobian(framed)(X, left, right)
            found = ad.jacobian(framed, native="strict")(X, left, right)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        assert np.isnan(found).any() == bool(others)
        assert others or not found[..., -1].any()


def test_values_and_pullbacks() -> None:
    def blended(x: np.ndarray, left: np.ndarray) -> np.ndarray:
        return np.tanh(left) @ np.sin(x)

    x = np.cos(np.arange(120.0)).reshape(40, 3)
    value, pullback = ad.vjp(blended, x, LEFT, native="strict")
    _, plain = ad.vjp(blended, x, LEFT)
    units = np.eye(value.size)[:13].reshape(13, *value.shape)
    for unit, found in zip(units, pullback.each(list(units)), strict=True):
        for one, other in zip(found, plain(unit), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    ways = [(way, None) for way in np.eye(x.size)[:13].reshape(13, *x.shape)]
    value, columns = ad.jvps(blended, (x, LEFT), ways, native="strict")
    np.testing.assert_allclose(value, blended(x, LEFT), rtol=1e-12)
    value[:] = np.nan
    for (way, _), column in zip(ways, columns, strict=True):
        np.testing.assert_allclose(column, np.tanh(LEFT) @ (np.cos(x) * way), rtol=1e-12, atol=1e-14)
