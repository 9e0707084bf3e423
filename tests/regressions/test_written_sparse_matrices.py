"""Sparse matrices that are filled entry by entry, and their data: right where what is written varies."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import linalg

import adjoint as ad
from regressions.differences import refused, right, second

D = np.array([2.0, 3.0, 4.0])
B = np.array([1.0, -2.0, 0.5])


def in_a_loop(d, b):
    matrix = sp.lil_matrix((3, 3))
    for i in range(3):
        matrix[i, i] = d[i]
        if i > 0:
            matrix[i, i - 1] = -0.5 * d[i] * d[i - 1]
    return np.sum(linalg.spsolve(matrix.tocsc(), b) ** 2)


def assembled(d, b):
    matrix = sp.dok_matrix((4, 4))
    for e in range(3):
        for i in range(2):
            for j in range(2):
                matrix[e + i, e + j] += d[e] if i == j else -d[e] * b[e]
    return np.sum((matrix.tocsr() @ np.append(b, 1.0)) ** 2) + matrix[1, 1] + matrix[0, 3]


def written_twice(d, b):
    matrix = sp.lil_array((3, 3))
    matrix[0, :] = d
    matrix[-1, [0, 2]] = b[:2] * d[0]
    matrix[0, 1] = 3.0
    matrix[0, -1] *= 2.0
    matrix.setdiag(b[0], 1)
    return np.sum((matrix @ b) ** 3) + matrix[0, 1] + (matrix[1:, :] @ d).sum()


def begun_with_others(d, b):
    matrix = sp.lil_matrix(np.diag(np.arange(3.0)))
    matrix[1, 0] = d[0] * b[1]
    other = sp.lil_matrix(sp.eye(3, format="csr"))
    other[0, 2] = matrix[1, 0] ** 2
    return np.sum((matrix.tocsr() @ (other.T @ b)) ** 2)


def scaled_in_place(d, b):
    matrix = sp.lil_matrix(sp.spdiags(np.vstack((-b, b)), np.array([-1, 1]), 3, 3))
    matrix[0, 2] = d[0]
    matrix[2, 0] = 1.0
    matrix /= 2.0 * d[1]
    matrix *= d[2]
    same = matrix
    other = sp.csr_matrix(matrix)
    other.setdiag(b)
    return np.sum((other @ d) ** 2) + np.sum(same.tocsr() @ b) + matrix[0, 2]


def data_in_place_of_others(d, b):
    matrix = sp.csr_matrix((np.ones(3), np.array([0, 1, 2]), np.arange(4)), shape=(3, 3))
    matrix.data = d * 2
    matrix.data[1] *= b[0]
    matrix.data *= 0.5
    return np.sum((matrix @ b) ** 2)


def data_in_order(d, b):
    places = (np.array([2, 0, 1, 0]), np.array([1, 0, 2, 0]))
    matrix = sp.coo_matrix((np.append(d, b[0]), places), shape=(3, 3)).tocsr()
    matrix.data = np.exp(matrix.data * b)
    return np.sum((matrix @ b) ** 2) + sp.csr_matrix((d, (np.array([2, 0, 1]), np.arange(3)))).data @ b


PROGRAMS = [
    in_a_loop,
    assembled,
    written_twice,
    begun_with_others,
    scaled_in_place,
    data_in_place_of_others,
    data_in_order,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_written_varies(f: Callable[..., float]) -> None:
    right(f, D, B)
    right(f, D, B, wrt=1)
    second(lambda d: f(d, B), D)


@pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")
@pytest.mark.parametrize("f", PROGRAMS[:2])
def test_natively(f: Callable[..., float]) -> None:
    np.testing.assert_allclose(ad.grad(f, native=True)(D, B), ad.grad(f)(D, B), rtol=1e-12)


def test_what_is_outside_raises() -> None:
    def outside(d):
        matrix = sp.lil_matrix((2, 2))
        matrix[len(d) - 1, 0] = d[0]
        return matrix.sum()

    with pytest.raises(IndexError):
        ad.value_and_grad(outside)(D)


def columns(d):
    matrix = sp.lil_matrix((3, 3))
    matrix[:, 0] = d[:, None]
    return matrix.sum()


def rows_of_data(d):
    matrix = sp.lil_matrix((3, 3))
    matrix[0, 0] = d[0]
    return np.sum(matrix.data[0])


@pytest.mark.parametrize("f", [columns, rows_of_data])
def test_others_are_refused(f: Callable[..., float]) -> None:
    refused(lambda: ad.grad(f)(D))
