"""Compiled sweeps of several directions skip zeros of products, and nothing that is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.sweeps import batched_sweeps
from adjoint.api.sweeps.batched_sweeps import SweepsAt


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


def mixed(x: np.ndarray, scale: float, wide: np.ndarray, tall: np.ndarray) -> np.ndarray:
    """Numbers, views, products from both sides, arrays that one branch makes, and sums of more than one block."""
    frame = np.zeros((70, 7))
    for i in range(70):
        for j in range(7):
            frame[i, j] = np.sin(x[i % 5] * x[(i + j) % len(x)]) / scale
    if scale > 1.0:
        turn = np.zeros((5, 5))
        for i in range(5):
            turn[i, i - 1] = x[i] * scale
    else:
        turn = np.eye(5)
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i - 1]
    found = wide @ frame + (frame @ tall)[:9, :7] * total
    along = (frame[:5].T @ x[:5]) / total + wide[0, :5] @ (turn[1] + frame.reshape(490)[9:14])
    return found.T[:, 1:] - along[:, None] - (x[:5] @ turn)[3]


def test_directions_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    swept = []
    side_by_side = batched_sweeps._side_by_side
    monkeypatch.setattr(batched_sweeps, "_side_by_side", lambda parts: swept.extend(parts) or side_by_side(parts))
    x = np.linspace(0.2, 1.9, 13)
    wide, tall = np.cos(np.arange(630.0)).reshape(9, 70), np.sin(np.arange(70.0)).reshape(7, 10)
    for scale in (0.7, 1.3):
        expected = ad.jacobian(mixed)(x, scale, wide, tall)
        np.testing.assert_allclose(ad.jacobian(mixed, native="strict")(x, scale, wide, tall), expected, rtol=1e-10)
    assert len(swept) == 26


def skinned(x: np.ndarray, weights: np.ndarray, points: np.ndarray) -> np.ndarray:
    frames = np.zeros((weights.shape[1], 5))
    for i in range(len(frames)):
        for j in range(5):
            frames[i, j] = np.sin(x[i % len(x)] * j)
    blended = weights @ frames
    found = np.empty(len(points))
    for v in range(len(points)):
        row = blended[v]
        a, b = points[v]
        found[v] = a * row[0] + b * row[1] * row[3]
    return found


@pytest.mark.parametrize("frames", [6, 70])
def test_rows_of_products(frames: int) -> None:
    x, weights = np.linspace(0.2, 0.9, 6), np.cos(np.arange(5.0 * frames)).reshape(5, frames)
    weights, points = np.ascontiguousarray(weights), np.sin(np.arange(10.0)).reshape(5, 2)
    for numbers in (weights, weights * np.where(np.arange(frames) == 1, np.inf, 1.0)):
        with np.errstate(invalid="ignore"):
            expected = ad.jacobian(skinned)(x, numbers, points)
        found = ad.jacobian(skinned, native="strict")(x, numbers, points)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sweeps_of_bundles_that_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise ad.DifferentiationError()

    monkeypatch.setattr(SweepsAt, "_bundled", refuse)
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        value, found = ad.jvps(lambda x: 3.0 * x * x, (x,), [(unit,) for unit in np.eye(3)], native="strict")
        np.testing.assert_array_equal(value, [3.0, 12.0, 27.0])
        np.testing.assert_array_equal(found, np.diag([6.0, 12.0, 18.0]))
