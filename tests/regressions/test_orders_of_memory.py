"""The order in which an array happens to lie in memory is refused: cotangents and machine code lie in another one."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

W = np.arange(6.0)


def reshaped(x, order):
    return np.sum(np.reshape(np.sin(x), -1, order=order) * W)


def by_place(x, order):
    return np.sum(np.reshape(np.sin(x), (6,), order) * W)


def by_method(x, order):
    return np.sum(np.sin(x).reshape((3, 2), order=order)[:, 0] * W[:3])


FUNCTIONS = [reshaped, by_place, by_method]
LAYOUTS = [np.ascontiguousarray, np.asfortranarray]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_order_of_memory_is_refused(function, layout, native):
    with pytest.raises(ad.DifferentiationError, match="how the array lies in memory") as refused:
        ad.value_and_grad(function, native=native)(layout(np.ones((2, 3))), "A")
    assert "AD0204" in str(refused.value) and "order='C' by rows" in str(refused.value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_orders_that_are_said_have_derivatives(function, layout, order):
    x = layout(np.linspace(0.1, 0.7, 6).reshape(2, 3))
    ad.testing.check_grads(lambda x: function(x, order), (x,), order=2)


def vector(x):
    return np.sum(np.reshape(x * x, (2, 3), order="A")[0])


def vector_by_method(x):
    return np.sum((x * x).reshape(2, 3, order="A")[0])


@pytest.mark.parametrize("function", [vector, vector_by_method])
def test_vectors_have_one_order(function):
    np.testing.assert_array_equal(ad.grad(function)(np.ones(6)), [2.0, 2.0, 2.0, 0.0, 0.0, 0.0])


def gone_through(x):
    return np.sum(np.array([each for each in np.nditer(np.sin(x))]) * W)


@pytest.mark.parametrize("native", [False, True])
def test_iterators_go_through_arrays_as_they_lie(native):
    gradient = ad.grad(gone_through, native=native)
    x = np.linspace(0.1, 0.7, 6).reshape(2, 3)
    np.testing.assert_allclose(gradient(x), np.cos(x) * W.reshape(2, 3))
    with pytest.raises(ad.DifferentiationError, match="AD0204"):
        gradient(np.asfortranarray(x))
