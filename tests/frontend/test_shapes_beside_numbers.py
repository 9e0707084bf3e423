"""Shapes that programs compare with numbers, and axes that only a call tells."""

import operator
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import legendre

import adjoint as ad
from sampling import check_grads


def _filled(x: Any) -> Any:
    found = np.full_like(x, np.nan)
    small = x <= 2.0
    found[~small] = np.log(x[~small])
    found[small] = x[small] ** 2
    return found[0] if found.shape == 1 else found


def test_a_shape_is_no_number() -> None:
    x = np.array([1.0, 1.5, 3.0, 4.0])
    check_grads(lambda x: np.sum(_filled(np.squeeze(x)) * x), (x,))
    check_grads(lambda x: np.sum(_filled(x[np.less(0.0, x)]) * x), (x,))
    assert ad.grad(lambda x: x * (x if (x, 1.0) == "ab" else 2.0))(3.0) == 2.0
    assert ad.grad(lambda x: x * (x if (x, 1.0) != 2 else 2.0))(3.0) == 6.0


def test_a_number_of_numpy_is_compared_with_each_item() -> None:
    assert ad.grad(lambda x: x * np.sum((np.float64(1.0) == (1.0, 2.0)) * 1.0))(3.0) == 1.0


@pytest.mark.parametrize("axis", [0, 1])
def test_axes_that_only_a_call_tells(axis: int) -> None:
    def f(x: Any) -> Any:
        first = np.moveaxis(x, operator.index(np.argmax([1 - axis, axis])), 0)
        rows = np.zeros((len(first) + 1, *first.shape[1:]))
        rows[1:] = first * first
        last = rows[-1]
        rows[0] += np.sum(last)
        return np.sum(rows * rows)

    check_grads(f, (np.array([[1.0, 2.0], [0.5, 3.0]]),))


def test_integrals_of_series() -> None:
    check_grads(lambda c: np.sum(legendre.legint(c, k=[0.5], lbnd=0.3) ** 2), (np.array([1.0, 2.0, 0.4]),))
