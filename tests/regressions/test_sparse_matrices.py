"""Products of constant sparse matrices with what varies: right, also of their transposes; the rest is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

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
        lambda x: np.sum((sp.diags([1.0, 2.0, 3.0]) @ x) ** 2),
        lambda x: np.sum((CSR + DENSE * x) ** 2),
    ],
)
def test_what_is_refused(f: Callable[[Any], Any]) -> None:
    refused(lambda: ad.grad(f)(X))
    refused(lambda: ad.jvp(f, (X,), (X,)))
