"""What may be a number or an array: read by index it is an array, and no tuple."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


def powers(x: float, k: int) -> np.ndarray:
    v = np.ones(2)
    for _ in range(k):
        v = np.concatenate([v * x, np.ones(1)])
    return np.sum(np.stack([v, v * v]), axis=(0,))


def parts(x: float, k: int) -> float:
    z = powers(x, k)
    return z[1:3].sum() * z[0] + np.sum(z[::2]) + z[2] ** 2


def items(x: float, k: int) -> float:
    z = powers(x, k)
    if isinstance(z, (tuple, list)):
        return 0.0
    total = 0.0
    for part in z:
        total = total + part * part
    return total


@pytest.mark.parametrize("f", [parts, items])
def test_items_of_what_may_be_a_number(f: object) -> None:
    def g(x: float) -> float:
        return f(x, 3)  # type: ignore[operator]

    step = 1e-5
    slope = (g(0.7 + step) - g(0.7 - step)) / (2 * step)
    assert ad.grad(g)(0.7) == pytest.approx(slope, rel=1e-8)
    assert ad.grad(g, native=True)(0.7) == pytest.approx(slope, rel=1e-8)
    assert ad.jvp(g, (0.7,), (1.0,)) == pytest.approx((g(0.7), slope), rel=1e-8)
    first = ad.grad(g)
    assert ad.grad(first)(0.7) == pytest.approx((first(0.7 + step) - first(0.7 - step)) / (2 * step), rel=1e-7)
