"""Loops along arrays, one after the other in each step of time: compiled as one, their derivatives are the same."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from golden.programs import vibrating

pytest.importorskip("llvmlite")


def slope(x, y):
    found = np.empty(len(x))
    found[0] = x[0]
    for i in range(1, len(x)):
        found[i] = x[i] * y[i - 1]
    return found


def by_runge_kutta(x, steps):
    h = 2.0 / steps
    y = np.zeros(len(x))
    for _ in range(steps):
        first = slope(x, y)
        second = slope(x, y + 0.5 * h * first)
        third = slope(x, y + h * second)
        y = y + h / 6.0 * (first + 4.0 * second + third)
    return np.sum(y * y)


@pytest.mark.parametrize("f", [by_runge_kutta, vibrating])
def test_the_same_for_long_and_short_arrays(f) -> None:
    compiled, interpreted = ad.grad(f, native="strict"), ad.grad(f)
    for count in (1, 2, 3, 9, 40):  # shorter than a vector of the processor, and longer
        x = np.cos(np.arange(float(count)))
        before = x.copy()
        for steps in (1, 3):
            np.testing.assert_allclose(compiled(x, steps), interpreted(x, steps), rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(x, before)
