"""Systems of equations in machine code: triangular matrices are seen when the program runs."""

import numpy as np
import pytest

from native.own_code import own_code
from sampling import IN_DEPTH


@own_code
def of_vector(a, b):
    return np.linalg.solve(a, b)


@own_code
def of_columns(a, b):
    return np.linalg.solve(a, b)


def _layouts(a):
    wide = np.zeros((2 * len(a), 2 * len(a)))
    wide[::2, ::2] = a
    return a, wide[::2, ::2]


@IN_DEPTH
@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 70])
@pytest.mark.parametrize("part", [np.asarray, np.tril, np.triu, lambda a: np.diag(np.diag(a))])
def test_solutions_are_those_of_numpy(n, part):
    rng = np.random.default_rng(n)
    a = part(rng.normal(size=(n, n)) * 0.2 + 2.0 * np.eye(n))
    b, columns = rng.normal(size=n), rng.normal(size=(n, 3))
    for matrix in _layouts(a):
        np.testing.assert_allclose(of_vector(matrix, b), np.linalg.solve(a, b), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(of_columns(matrix, columns), np.linalg.solve(a, columns), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("a", [np.zeros((3, 3)), np.tril(np.ones((3, 3))) * [1.0, 0.0, 1.0]])
def test_singular_matrices_raise(a):
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        np.linalg.solve(a, np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        of_vector(a, np.ones(3))


def test_what_is_not_finite_is_no_zero():
    a = np.tril(np.ones((3, 3)))
    a[0, 2] = np.nan
    assert np.isnan(of_vector(a, np.ones(3))).any()


def test_right_sides_fit():
    with pytest.raises(ValueError, match="mismatch"):
        of_vector(np.eye(3), np.ones(2))
