"""Sparse systems whose right side has one column: SciPy gives a vector, and the derivative was of another shape."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import adjoint as ad
from sampling import check_grads

DIAGONAL = np.diag([1.0, 2.0, 4.0])
COLUMN = np.array([[1.0], [2.0], [3.0]])


def of_a_constant_matrix(x):
    found = spsolve(sp.csc_matrix(DIAGONAL), COLUMN * x**2)
    return np.sum(found) * found.ndim + found[2]


def of_a_matrix_that_varies(x):
    found = spsolve(sp.csc_matrix(DIAGONAL * x), b=COLUMN)
    if found.ndim < 2:
        found = found[np.newaxis]
    return np.sum(found) * found.shape[0]


def of_several_columns(x):
    both = spsolve(sp.csc_matrix(DIAGONAL * x), np.ones((3, 2)) * x**3, "NATURAL")
    return np.sum(both[:, 0] ** 2) + both[1, 1]


@pytest.mark.parametrize("function", [of_a_constant_matrix, of_a_matrix_that_varies, of_several_columns])
def test_the_solution_has_the_shape_that_scipy_gives(function):
    check_grads(function, (1.5,))
    value, gradient = ad.value_and_grad(function)(1.5)
    assert value == pytest.approx(function(1.5), rel=1e-12)
    assert ad.grad(function, native=True)(1.5) == pytest.approx(gradient, rel=1e-12)


def test_as_many_columns_as_there_are():
    def f(x, columns):
        return np.sum(spsolve(sp.csc_matrix(DIAGONAL * x), np.reshape(np.arange(3.0 * columns), (3, columns)) * x**3))

    assert ad.grad(f)(1.5, 2) == pytest.approx(2.0 * f(1.5, 2) / 1.5)
    with pytest.raises(ad.DifferentiationError, match="the right side has one column, and SciPy gives a vector"):
        ad.grad(f)(1.5, 1)
