"""Keywords of ufuncs: those that change nothing, and the dtype in which they compute."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.3, 0.7, 1.2])


def in_single_precision(x):
    return np.exp(x, dtype=np.float32)


def from_whole_numbers(x):
    return np.multiply(np.array([1, 2, 3]), x, dtype=float, casting="unsafe")


CALLS = {
    "order": lambda x: np.sum(np.exp(x, order="K")),
    "casting": lambda x: np.sum(np.sin(x, casting="same_kind")),
    "no dtype": lambda x: np.sum(np.multiply(x, x, dtype=None, out=None)),
    "subok": lambda x: np.sum(np.add(x, x * x, subok=False)),
    "the same dtype": lambda x: np.sum(np.hypot(x, 2.0, dtype="f8")),
    "whole numbers": lambda x: np.sum(from_whole_numbers(x)),
}


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_derivatives_are_right(name, native):
    ad.testing.check_grads(CALLS[name], (X,), order=2)
    np.testing.assert_allclose(ad.grad(CALLS[name], native=native)(X), ad.grad(CALLS[name])(X), rtol=1e-14)


@pytest.mark.parametrize("x", [X, 0.5])
def test_results_have_the_dtype(x):
    value, pullback = ad.vjp(in_single_precision, x)
    expected = in_single_precision(x)
    assert value.dtype == expected.dtype == np.float32 and type(value) is type(expected)
    (found,) = pullback(np.ones_like(expected))
    assert np.asarray(found).dtype == np.float64
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-6)
    value, tangent = ad.jvp(in_single_precision, (x,), (np.ones_like(x),))
    np.testing.assert_allclose(tangent, np.exp(x), rtol=1e-6)


def test_casts_to_whole_numbers_are_refused():
    with pytest.raises(ad.DifferentiationError, match="AD0204"):
        ad.grad(lambda x: np.sum(np.multiply(x, x, dtype=int, casting="unsafe")))(X)


def product_into(x, y):
    out = np.empty(y.shape, dtype=y.dtype)
    np.multiply(x, y, out=out, casting="no")
    return np.sum(out)


@pytest.mark.parametrize("native", [False, True])
def test_casts_that_are_not_wanted(native):
    gradient = ad.grad(product_into, native=native)
    single = X.astype(np.float32)
    np.testing.assert_allclose(gradient(X, X), X)
    np.testing.assert_allclose(gradient(single, single), single)
    with pytest.raises(TypeError, match="with casting rule 'no'"):
        gradient(X, single)
