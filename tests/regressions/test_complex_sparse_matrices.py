"""Sparse matrices with complex entries: nothing that is added up or solved loses its imaginary part."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import gmres, inv, norm, spilu, splu, spsolve

import adjoint as ad
from sampling import check_grads

ROWS, COLS = np.array([0, 1, 2, 0, 2, 0]), np.array([0, 1, 2, 2, 0, 0])
FIXED = sp.csr_matrix(np.array([[1.0, 2.0j, 0.0], [0.0, 1.0 + 1.0j, 0.0], [0.0, 0.0, 3.0]]))
V = np.array([1.0, 2.0, 3.0])
X = np.array([0.3, 0.7, 1.1, 0.5, -0.4, 0.9])


def turning(x, more=0.0):
    return sp.csr_matrix((x * np.exp(1j * x) + more, (ROWS, COLS)), (3, 3))


def products(x):
    both = turning(x).T * turning(x) + FIXED
    sums = np.imag(np.asarray(both.sum(axis=0)))
    return np.sum(np.real(both @ (V + 1j)) * V) + np.sum(sums**2) + np.sum(np.abs(both.diagonal()) ** 2)


def parts(x):
    a = turning(x)
    whole = np.sum(np.abs(a.toarray()) ** 3) + np.real(a.multiply(FIXED).sum())
    turned = np.sum(np.real(a.conj() * V)) + np.sum(np.imag(np.conj(a) * V))
    return whole + turned + np.imag((a - FIXED)[0, 1] + a[0, 0])


def real_and_imaginary(x):
    a, b = sp.csr_matrix((x * 1j, (ROWS, COLS)), (3, 3)), sp.csr_matrix((x, (ROWS, COLS)), (3, 3))
    both = a @ b + b * a
    return np.sum(np.abs(both @ x[:3])) + np.real(both.trace()) + np.imag((a + b).power(2).sum())


def blocks(x):
    a = sp.csr_matrix((x * 1j + 1, (ROWS, COLS)), (3, 3))
    d = sp.diags([x[:3] * 1j, x[:2]], [0, 1])
    beside = sp.hstack([a, d]).tocsr() @ np.arange(6.0)
    grown = sp.kron(a, sp.eye(2)) @ np.arange(6.0)
    return np.sum(np.abs(grown) ** 2) + np.sum(np.abs(beside) ** 2) + np.sum(np.abs((d @ a).toarray()) ** 2)


def filled(x):
    a = sp.lil_matrix((3, 3), dtype=complex)
    for i in range(3):
        a[i, i] = x[i] * 1j + 1
        a[0, i] = x[i]
    return np.sum(np.abs(a.tocsr() @ (V + 1j)) ** 2)


def complex_systems(x):
    a = turning(x, 3.0).tocsc()
    found = spsolve(a, V + 2j * x[:3])
    return np.sum(np.abs(found) ** 2) + np.sum(np.real(splu(a).solve(V + 1j * x[3:]))) + np.imag(spsolve(a, V)[0])


def complex_sides(x):
    a, given = sp.csc_matrix((x + 3, (ROWS, COLS)), (3, 3)), sp.csc_matrix((np.ones(6) + 3, (ROWS, COLS)), (3, 3))
    return np.imag(spsolve(a, V + 1j * x[3:])[0]) + np.imag(spsolve(given, V + 1j * x[3:])[0])


def complex_factors(x):
    given = sp.csc_matrix((np.ones(6) + 3j, (ROWS, COLS)), (3, 3))
    return np.imag(splu(given).solve(V + 1j * x[3:])[0]) + np.real(spsolve(given, x[:3])[1])


def other_solvers(x):
    a = (turning(x) + 4.0 * sp.eye(3)).tocsc()
    return np.real(gmres(a, V, rtol=1e-13)[0][0]) + np.real(norm(a)) + np.real(inv(a).toarray()[0, 0])


def indices_that_are_floats(x):
    a = sp.csr_matrix((x, (range(6), np.array([0.0, 1, 2, 2, 0, 0]))), (6, 3))
    b = sp.csr_matrix((x, np.array([0.0, 1, 2, 2, 0, 1]), [0, 3, 4, 6]), (3, 3))
    return np.sum((a @ V) ** 2) + np.sum((b @ V) ** 3)


PROGRAMS = [products, parts, real_and_imaginary, blocks, filled, complex_systems, complex_sides, complex_factors]


@pytest.mark.filterwarnings("ignore:.*AD0601")
@pytest.mark.parametrize("function", [*PROGRAMS, other_solvers, indices_that_are_floats])
def test_they_are_differentiated(function):
    check_grads(function, (X,))
    value, gradient = ad.value_and_grad(function)(X)
    assert value == pytest.approx(function(X), rel=1e-12)
    assert ad.grad(function, native=True)(X) == pytest.approx(gradient, rel=1e-10)


def test_incomplete_factors_keep_both_parts_of_a_side():
    def solved(x):
        a = sp.csc_matrix((X + 3, (ROWS, COLS)), (3, 3))
        b = sp.csc_matrix((X + 3 + 0 * x[0], (ROWS, COLS)), (3, 3))
        return np.imag(spsolve(a, V + 1j * x[:3])[0]) + np.real(spilu(b).solve(x[:3])[0])

    check_grads(solved, (X,))


REAL = sp.csr_matrix(np.eye(3) * 2.0)


def of_elements(x):
    """Of constant matrices, by functions of NumPy's, operators and methods: they stay matrices."""
    roots = np.sqrt(REAL) + abs(REAL) + REAL.real + REAL**2
    turned = np.conj(FIXED) @ (x[:3] * 1j) + FIXED.conj().T @ (x[3:] * (1.0 + 1j))
    return np.sum(roots @ x[:3]) + np.sum(np.real(turned)) + np.sum((FIXED.imag + FIXED.real.copy()) @ x[:3])


def beside_what_varies(x):
    d, given = sp.csr_matrix((x[:3] * (1 + 1j), (range(3), range(3)))), sp.csr_matrix(np.eye(3) + 0j)
    both = given * np.conj(FIXED * given) + np.conj(d) * given
    return np.sum(np.real(both @ (x[3:] * 1j))) + np.sum((REAL.power(2) + REAL.astype(complex)) @ x[:3]).real


@pytest.mark.parametrize("function", [of_elements, beside_what_varies])
def test_functions_of_the_elements_of_constant_matrices(function):
    check_grads(function, (X,))
    assert ad.grad(function, native=True)(X) == pytest.approx(ad.grad(function)(X), rel=1e-12)


def test_a_copy_may_be_written():
    def f(x):
        a = REAL.copy()
        a.data[:] = 3.0
        return np.sum(a @ x) + np.sum(REAL @ x)

    assert ad.grad(f)(V).tolist() == [5.0, 5.0, 5.0] and REAL[0, 0] == 2.0


def _potential(scale: float, ordering: str | None) -> float:
    """A Poisson equation on a circle: its matrix is singular but for rounding, and which way depends on the order."""
    n = 10
    matrix = sp.lil_matrix(sp.diags([np.ones(n - 1), -2.0 * np.ones(n), np.ones(n - 1)], [-1, 0, 1]))
    matrix[0, n - 1] = matrix[n - 1, 0] = 1.0
    found = spsolve(sp.csc_matrix(matrix / 0.3**2 * scale), np.sin(2 * np.pi * np.arange(n) / n), permc_spec=ordering)
    return float(np.sum((found - np.mean(found)) ** 2))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ordering", [None, "NATURAL", "MMD_AT_PLUS_A"])
def test_matrices_that_are_singular_but_for_rounding(ordering: str | None) -> None:
    expected = _potential(1.0, ordering)
    value, gradient = ad.value_and_grad(_potential)(1.0, ordering)
    np.testing.assert_array_equal(value, expected)
    if np.isfinite(expected):
        assert gradient == pytest.approx(-2.0 * expected, rel=1e-6)
    else:
        assert np.isnan(gradient)
