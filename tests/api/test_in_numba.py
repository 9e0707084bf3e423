"""Derivatives in functions of Numba."""

import math

import numpy as np
import pytest

import adjoint as ad

numba = pytest.importorskip("numba")


@numba.njit
def wave(x, y):
    return math.sin(x) * y * y


@numba.njit
def energy(x):
    total = 0.0
    for i in range(x.size):
        total += 0.5 * x[i] ** 2
    return total


def recorded(x, table):
    return x * table["key"]


slopes = ad.grad(wave, (0, 1))
force = ad.grad(energy)
refused = ad.grad(recorded)


@numba.njit
def sum_of_slopes(x):
    a, b = slopes(x, 2.0)
    return a + b


@numba.njit
def descended(x, n):
    for _ in range(n):
        x = x - 0.1 * force(x)
    return x


def test_numbers():
    expected = 4 * math.cos(1.0) + 4 * math.sin(1.0)
    assert sum_of_slopes(1.0) == pytest.approx(expected)
    assert sum(slopes(1.0, 2.0)) == pytest.approx(expected)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_arrays_of_any_extent(size):
    np.testing.assert_allclose(descended(np.ones(size), 5), np.full(size, 0.9**5))


def test_derivatives_of_functions_that_call_functions_of_numba():
    def twice(x):
        return wave(x, 3.0) + wave(2.0, x)

    assert ad.grad(twice)(1.0) == pytest.approx(9 * math.cos(1.0) + 2 * math.sin(2.0))


def test_what_is_refused_is_told():
    @numba.njit
    def call(x, n):
        return refused(x, n)

    with pytest.raises(numba.core.errors.TypingError, match="AD0"):
        call(1.0, 2)
