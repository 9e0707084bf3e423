"""Options of the compiler in machine code of Adjoint's own."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch.options import Compiling, options_of
from adjoint.native.options import Options


def waves(x, scale):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(-x[i]) * np.tanh(x[i] * scale) / (1.0 + x[i] * x[i])
        if x[i] != x[i] or math.isnan(x[i] * scale):
            total += 1.0
    return total


def added_up(x, scale):
    for i in range(len(x)):
        scale = (scale + x[i]) - scale
    return scale * np.sum(x)


def rare(x, scale):
    total = 0.0
    for i in range(len(x)):
        total += math.sin(x[i] * scale) * np.exp(x[i])
    return total


FAST = [{"fastmath": True}, {"fastmath": True, "boundscheck": True}]


@pytest.mark.parametrize("function", [waves, added_up, rare], ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", FAST, ids=lambda each: " ".join(each))
def test_fast_arithmetic_agrees_to_rounding(function, options, own):
    x = np.linspace(-3.0, 2.0, 23)
    found = ad.value_and_grad(function, (0, 1), native="strict", **options)(x, 1.5)
    assert own
    expected = ad.value_and_grad(function, (0, 1))(x, 1.5)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf, 1e300])
def test_fast_arithmetic_keeps_what_is_no_number(special, own):
    x = np.linspace(-3.0, 2.0, 23)
    x[[0, 7, 22]] = special
    found = ad.value_and_grad(waves, native="strict", fastmath=True)(x, 1.5)
    assert own
    with np.errstate(all="ignore"):
        try:
            expected = ad.value_and_grad(waves)(x, 1.5)
        except OverflowError:
            pytest.skip("refused by Python")
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_options_of_a_function_of_numba_hold_for_its_derivative(own):
    x = np.linspace(-1.0, 2.0, 9)
    for options in ({"fastmath": True}, {"fastmath": {"contract", "nsz"}}):
        found = ad.grad(numba.njit(**options)(rare), native="strict")(x, 0.5)
        np.testing.assert_allclose(found, ad.grad(rare)(x, 0.5), rtol=1e-12)
    assert len(own) == 2


def of_rows(weights, rows):
    total, most = 0.0, 0.0
    for i in range(len(rows)):
        found = 0.0
        for k in range(len(weights)):
            found += weights[k] * rows[i, k]
        total += math.log(1.0 + math.exp(found))
    return total * most + total


def test_loops_in_threads(own):
    weights, rows = np.linspace(-1.0, 1.0, 4), np.linspace(0.0, 2.0, 160).reshape(40, 4)
    derivative = ad.grad(of_rows, native="strict", threads=3)
    found = derivative(weights, rows)
    assert any("chunk" in name for name in own)
    np.testing.assert_allclose(found, ad.grad(of_rows)(weights, rows), rtol=1e-12)
    for _ in range(20):
        np.testing.assert_array_equal(derivative(weights, rows), found)


def overflowing(weights, rows):
    total = 0.0
    for i in range(len(rows)):
        for k in range(len(weights)):
            total += math.exp(weights[k] * rows[i, k])
    return total


def test_exceptions_of_threads(own):
    derivative = ad.grad(overflowing, native="strict", threads=2)
    with pytest.raises(OverflowError, match="math range error"):
        derivative(np.array([1.0]), np.array([[1.0], [1000.0], [2.0]]))
    assert any("chunk" in name for name in own)


def test_options():
    assert options_of(rare) == options_of(numba.njit(rare)) == Options()
    fast = numba.njit(fastmath=True)(rare)
    assert options_of(fast, Compiling(boundscheck=True)) == Options("fast", True)
    assert options_of(numba.njit(fastmath={"nsz", "arcp"})(rare)) == Options("arcp nsz")
    assert options_of(fast, Compiling(fastmath=True)) == Options("fast")
    assert options_of(rare, Compiling(fastmath=True)) == Options("arcp contract nsz reassoc")


def element(x, i, j):
    return x[i, j] ** 2


def elements(x, i, j):
    y = x.copy()
    for k in range(i):
        y[k, j] = 3.0 * x[k, j] + y[k, -1]
    return np.sum(y * y)


def bundles(x, i, j):
    total = 0.0
    for k in range(i):
        p = x[k, 0]
        for m in range(j):
            p = p * x[k, m] * p + x[m, 0]
        total += p * p
    return total


@pytest.mark.parametrize("function", [element, elements, bundles], ids=lambda f: f.__name__)
def test_indices_are_checked(function, own):
    x = np.linspace(0.1, 0.6, 18 * 3).reshape(18, 3)
    derivative = ad.grad(function, native="strict", boundscheck=True)
    for i, j in ((17, 2), (2, 2)):
        np.testing.assert_allclose(derivative(x, i, j), ad.grad(function)(x, i, j), rtol=1e-12)
    for i, j in ((19, 2), (2, 4)):
        with pytest.raises(IndexError, match="out of bounds"):
            derivative(x, i, j)
    assert own


def test_places_from_the_end_are_checked(own):
    x = np.ones((4, 3))
    derivative = ad.grad(element, native="strict", boundscheck=True)
    np.testing.assert_array_equal(derivative(x, -4, -3), ad.grad(element)(x, -4, -3))
    for i, j in ((-5, 0), (0, -4)):
        with pytest.raises(IndexError):
            derivative(x, i, j)
    assert own
