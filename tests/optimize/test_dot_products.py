"""Cotangents of numbers that scale arrays are dot products, with the numbers outside."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X, Y = np.array([0.3, -0.7, 1.1]), np.array([1.0, 2.0, -0.5])
A = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])


def scaled(c, x):
    return np.sum(np.sin(c * x))


def normalized(x):
    return np.sum(np.sin(x / np.sqrt(x @ x)))


def of_matrices(c, a):
    return np.sum(np.sin(a / c))


def mean_removed(c, x):
    return np.sum((-(x * 2.0) / c) ** 3)


def row(a, c):
    total = 0.0
    for i in range(len(a)):
        total += np.sum(np.tanh(a[i] / c))
    return total


def alone(c, x):
    return np.sum(x / c)


def of_one_row(c, x, a):
    return np.sum(np.cos(c * a) * x)


def written_between(c, x):
    y = x.copy()
    z = c * y
    y[0] = 2.0 * c
    return np.sum(z * z * y)


def of_unknown_ranks(c, xs):
    total = 0.0
    for x in xs:
        total += np.sum(np.sin(x / c))
    return total


def single(c, x):
    return float(np.sum(np.sin(np.float32(c) * x)))


CASES = {
    scaled: ((0.7, X), "float("),
    normalized: ((X,), " @ "),
    of_matrices: ((0.7, A), "np.vdot("),
    mean_removed: ((0.7, X), " @ "),
    row: ((A, 0.7), " @ "),
    alone: ((0.7, X), "np.sum("),
    of_one_row: ((0.7, X, A), "np.vdot("),
    written_between: ((0.7, X), " @ "),
}


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_derivatives(function):
    args, shown = CASES[function]
    check_grads(function, args)
    derivative = ad.grad(function, wrt=tuple(range(len(args))), native=False)
    found = derivative(*args)
    assert shown in ad.source(derivative), ad.source(derivative)
    found = found if isinstance(found, tuple) else (found,)
    assert [type(each) for each in found] == [type(arg) for arg in args]


def test_rows_that_are_broadcast_are_summed():
    def cost(c, x, y):
        return np.sum(c * x * y)

    derivative = ad.grad(cost, wrt=(0, 1, 2), native=False)
    for x, y in ((X, Y), (X, Y[:1]), (X[:1], Y)):
        found = derivative(0.5, x, y)
        assert np.isclose(found[0], np.sum(x * y))
        assert found[1].shape == x.shape and found[2].shape == y.shape


def test_single_precision_sums_as_before():
    derivative = ad.grad(lambda c, x: np.sum(np.sin(c * x)), native=False)
    derivative(0.5, X.astype(np.float32))
    assert "rt.unbroadcast(" in ad.source(derivative)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_stays_so(bad):
    found = ad.grad(scaled, native=False)(bad, X)
    assert np.isnan(found)


def test_a_product_of_a_vector_with_itself_is_made_once():
    derivative = ad.grad(normalized, native=False)
    derivative(X)
    text = ad.source(derivative)
    assert text.count(" @ ") == 2, text
