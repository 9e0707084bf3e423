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
