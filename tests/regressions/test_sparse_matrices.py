"""Products of constant sparse matrices with what varies: right, also of their transposes; the rest is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import linalg

import adjoint as ad
from regressions.differences import refused, right, second

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
MATRICES = [
    getattr(sp, f"{kind}_{form}")(DENSE) for kind in ("csr", "csc", "coo", "dia") for form in ("array", "matrix")
]
CSR = MATRICES[0]
X = np.array([0.6, -0.4, 1.3])
Y = np.array([0.3, -0.7])
B = np.arange(6.0).reshape(3, 2) / 3


SQUARE = sp.csc_matrix(np.array([[3.0, 0.0, 0.4], [0.2, 2.0, 0.0], [0.0, -0.5, 4.0]]))
FACTORS = linalg.splu(SQUARE)


def least_squares(x):
    residual = CSR @ x - Y
    return np.sum(residual * (CSR @ (CSR.T @ residual)))


def made_inside(x):
    matrix = sp.csr_matrix(DENSE)
    return np.sum((matrix @ x) ** 2)


def in_a_loop(x):
    for _ in range(3):
        x = np.tanh(CSR.T @ (CSR @ x))
    return np.sum(x)


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: type(matrix).__name__)
def test_products_with_vectors_and_matrices(matrix: Any) -> None:
    right(lambda x: np.sum((matrix @ x) ** 2), X)
    right(lambda x, m: np.sum((x @ m.T) ** 2), X, matrix)
    right(lambda y: np.sum((matrix.T @ y) ** 3), Y)
    right(lambda b: np.sum((matrix @ b) ** 2), B)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (least_squares, X),
        (made_inside, X),
        (in_a_loop, X),
        (lambda y: np.sum((y @ CSR) ** 2), Y),
        (lambda b: np.sum((b.T @ CSR.T) ** 2), B),
        (lambda x: np.sum(CSR.dot(x) ** 2), X),
        (lambda x: np.sum((CSR.toarray() @ x) ** 2), X),
        (lambda x: np.sum((sp.diags([1.0, 2.0, 3.0]) @ x) ** 2), X),
        (lambda x: np.sum(((2 * SQUARE + sp.eye(3)).T @ x) ** 2) + np.sum((SQUARE @ SQUARE / 3.0) @ x), X),
    ],
)
def test_programs(f: Callable[[Any], Any], x: np.ndarray) -> None:
    right(f, x)
    if x.ndim == 1:
        second(f, x)


def test_in_structures() -> None:
    assert np.allclose(
        ad.grad(lambda x, table: np.sum(table["m"] @ x))(X, {"m": CSR}), ad.grad(lambda x: np.sum(DENSE @ x))(X)
    )


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
def test_machine_code_leaves_it_to_scipy() -> None:
    np.testing.assert_allclose(ad.grad(least_squares, native=True)(X), ad.grad(least_squares)(X))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(CSR * x),
        lambda x: np.sum(CSR.multiply(x)),
        lambda x: np.sum(sp.csr_matrix(DENSE * x) @ X),
        lambda x: np.sum((CSR + DENSE * x) ** 2),
    ],
)
def test_what_is_refused(f: Callable[[Any], Any]) -> None:
    refused(lambda: ad.grad(f)(X))
    refused(lambda: ad.jvp(f, (X,), (X,)))


def of_data(d):
    return sp.csc_matrix((d, SQUARE.indices, SQUARE.indptr), shape=SQUARE.shape)


def products(d, x):
    matrix = of_data(d)
    both = (matrix @ x) * (matrix.T @ x) + x @ matrix + matrix.dot(x)
    return np.sum(both**2) + np.sum(matrix.toarray() ** 3) + np.sum(matrix.diagonal() ** 2)


def sums(d, x):
    places = (np.array([0, 1, 2]), np.array([1, 0, 2]))
    matrix = sp.csr_matrix((d[:3], places), shape=(3, 3))
    return np.sum((((matrix + 2 * SQUARE) @ x) * ((SQUARE - matrix * 3.0) @ x) + (-matrix / x[0]) @ x) ** 2)


def solutions(d, x):
    factors = linalg.splu(of_data(d))
    solve = linalg.factorized(of_data(d))
    return np.sum((factors.solve(x, "T") + solve(x**2)) ** 2) + np.sum(linalg.spsolve(of_data(d), x) ** 3)


def diagonals(d, x):
    matrix = sp.diags([d[:2], 2 + d[1:4], 2 * d[:2]], [-1, 0, 1])
    return np.sum(linalg.spsolve(matrix.tocsc(), x) ** 2) + np.sum((sp.diags(d[:3]) @ x) ** 2)


def scaled(d, x):
    return np.sum(((d[0] * SQUARE) @ x + (SQUARE / d[1]) @ x) ** 2)


def summed(d, x):
    matrix = of_data(d) * x[0]
    weights = np.arange(9.0).reshape(3, 3)
    return matrix.sum() * matrix.mean() + matrix.multiply(weights).sum() + matrix.multiply(x[1]).trace() ** 2


def entries_in_order(d, x):
    weights = np.arange(len(d)) + 1.0
    places = (np.array([2, 0, 1]), np.array([1, 0, 2]))
    loose = sp.coo_matrix((d[:3], places), shape=(3, 3))
    return (of_data(d) * x[0]).T.data @ weights + (-(SQUARE * d[0])).data @ weights + loose.data @ x


@pytest.mark.parametrize("f", [products, sums, solutions, diagonals, scaled, summed, entries_in_order])
def test_entries_that_vary(f: Callable[..., Any]) -> None:
    right(f, SQUARE.data, X)
    right(f, SQUARE.data, X, wrt=1)
    second(lambda d: f(d, X), SQUARE.data)


def entries_sorted(x):
    return sp.csr_matrix((x, (np.array([2, 0, 1]), np.array([1, 0, 2])))).data @ X


def entries_added_up(x):
    return sp.coo_matrix((x, (np.array([0, 0, 1]), np.array([1, 1, 2])))).tocsr().data.max()


def entries_of_diagonals(x):
    return np.sum(sp.diags([x, x[:2]], [0, 1]).data)


def times_an_array(x):
    return np.sum((SQUARE * x[0]) * x)


def array_times(x):
    return np.sum(x * (SQUARE * x[0]))


def over_an_array(x):
    return ((SQUARE * x[0]) / X).sum()


def times_a_matrix(x):
    return ((SQUARE * x[0]) * SQUARE).sum() + ((SQUARE * x[0]) @ SQUARE).sum()


def matrix_of_matrices(x):
    return ((SQUARE * x[0]) @ (SQUARE * x[1])).sum()


def plus_an_array(x):
    return np.sum((SQUARE * x[0]) + np.eye(3))


def sum_along_an_axis(x):
    return np.sum((SQUARE * x[0]).sum(axis=0))


@pytest.mark.parametrize(
    "f",
    [
        *(entries_sorted, entries_added_up, entries_of_diagonals, times_an_array, array_times, over_an_array),
        *(times_a_matrix, matrix_of_matrices, plus_an_array, sum_along_an_axis),
    ],
)
def test_what_scipy_does_otherwise_is_refused(f: Callable[[Any], Any]) -> None:
    refused(lambda: ad.grad(f)(X))
    refused(lambda: ad.jvp(f, (X,), (X,)))


def trend(x):
    """The filter of Hodrick and Prescott."""
    size = len(x)
    differences = sp.dia_array((np.repeat([[1.0], [-2.0], [1.0]], size, axis=1), [0, 1, 2]), shape=(size - 2, size))
    smooth = (sp.eye_array(size, size) + 10.0 * differences.T.dot(differences)).tocsc()
    return np.sum((x - linalg.spsolve(smooth, x)) ** 2)


def test_factors_of_constant_matrices() -> None:
    right(trend, np.array([0.6, -0.4, 1.3, 0.2, 0.9]))
    for f in (
        lambda x: np.sum(FACTORS.solve(x * x) ** 2) + np.sum(FACTORS.solve(x, "T") ** 3),
        lambda x: np.sum(linalg.splu(SQUARE).solve(x) ** 2),
        lambda x: np.sum(linalg.factorized(SQUARE)(x) ** 2),
    ):
        right(f, X)
        second(f, X)
    right(lambda b: np.sum(FACTORS.solve(b) ** 2), B)
