"""Lists of arrays that are as long as a loop runs, stacked and joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


def stacked(x: np.ndarray) -> Any:
    rows = []
    for i in range(len(x)):
        rows.append(np.array([x[0] * i, x[1] + i, x[2]]))
    m = np.stack(rows)
    return np.sum(m @ m.T)


def joined(x: np.ndarray) -> Any:
    parts = []
    for i in range(1, len(x)):
        parts.append(x[:i] * i)
    return np.sum(np.concatenate(parts) ** 2)


@pytest.mark.parametrize("function", [stacked, joined])
def test_gradients(function: Callable[..., Any]) -> None:
    x = np.linspace(0.3, 1.2, 4)
    expected = ad.grad(function)(x)
    np.testing.assert_allclose(ad.grad(function, native="strict")(x), expected, rtol=1e-13)
    step = 1e-6
    slopes = [(function(x + step * unit) - function(x - step * unit)) / (2 * step) for unit in np.eye(4)]
    np.testing.assert_allclose(expected, slopes, rtol=1e-7)
