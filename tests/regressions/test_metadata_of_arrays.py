"""What an array is like never varies, whatever is in it; other names of its memory are refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([0.7, 1.3, -0.4, 2.1])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.nbytes * x[0],
        lambda x: x[1:].nbytes * x[0] + x.T.itemsize * x[1] ** 2,
        lambda x: x[0].nbytes * x[0] + x[1].itemsize * x[1],
        lambda x: x.reshape(2, 2).strides[0] // x.itemsize * x[0],
        lambda x: x[0] if x[::2].flags.c_contiguous else x[1],
    ],
)
def test_metadata_is_constant(f: Callable[[Any], Any]) -> None:
    check_grads(f, (X,))
    np.testing.assert_array_equal(ad.grad(f, native=True)(X), ad.grad(f)(X))


@pytest.mark.parametrize("f", [lambda x: np.sum(x.base), lambda x: np.sum(np.asarray(x.data))])
def test_other_names_of_memory(f: Callable[[Any], Any]) -> None:
    view = X[:]
    for derivative in (lambda: ad.grad(f)(view), lambda: ad.jvp(f, (view,), (X,))):
        with pytest.raises(ad.DifferentiationError, match="AD0303"):
            derivative()


def test_a_question_about_memory() -> None:
    def f(x):
        return np.sum(x * x) if x.base is None else np.sum(x)

    check_grads(f, (X,))
    np.testing.assert_array_equal(ad.grad(f)(X[:]), np.ones(4))


# Shapes that are assigned where something else may hold the same array


def of_an_argument(x):
    x.shape = 2, 2
    return np.sum(x[0])


def held_by_a_list(x):
    y = x * 2.0
    held = [y]
    y.shape = 2, 2
    return np.sum(held[0][0])


def of_what_may_be_the_same(x):
    y = x * 2.0
    same = np.asarray(y)
    y.shape = 2, 2
    return np.sum(same[0])


def in_a_loop(x):
    y = x * 2.0
    for _ in range(2):
        y.shape = 2, 2
    return np.sum(y[0])


def of_a_name_of_the_caller(x):
    def square():
        y.shape = 2, 2

    y = x * 2.0
    square()
    return np.sum(y[0])


def of_what_is_yielded(x):
    def both():
        y = x * 2.0
        yield y
        y.shape = 2, 2
        yield y

    one, other = both()
    return np.sum(one[0] * other[1])


@pytest.mark.parametrize(
    "f",
    [of_an_argument, held_by_a_list, of_what_may_be_the_same, in_a_loop, of_a_name_of_the_caller, of_what_is_yielded],
)
def test_shapes_of_shared_arrays_are_not_assigned(f: Callable[[Any], Any]) -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(f)(X.copy())
