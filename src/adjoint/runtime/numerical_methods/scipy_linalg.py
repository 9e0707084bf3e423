"""What derivatives of ``scipy.linalg`` are made of; the only module here that needs SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg


def triangular_solution(a: Any, b: Any, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """The solution of ``a @ x = b``, looking at one triangle of ``a`` only."""
    return linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit_diagonal)


def triangle(a: Any, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """One triangle of a matrix, without its diagonal if that is taken to be one."""
    away = 1 if unit_diagonal else 0
    return np.tril(a, -away) if lower else np.triu(a, away)


def row_order(pivots: Any) -> Any:
    """Which row stands in each place after the exchanges of a decomposition into triangles."""
    order = np.arange(np.size(pivots))
    for row, other in enumerate(pivots):
        order[[row, other]] = order[[other, row]]
    return order


def places_of_rows(a: Any) -> Any:
    """Where each row stands after the exchanges of a decomposition into triangles: ``a == l[places] @ u``."""
    return linalg.lu(a, p_indices=True)[0]


def triangles(a: Any) -> Any:
    """The decomposition of a matrix into triangles, in one matrix, without exchanges of rows."""
    packed, pivots = linalg.lu_factor(a)
    if np.array_equal(pivots, np.arange(len(pivots))):
        return packed
    packed = np.array(a)  # of rows that are equally good, another was taken
    for k in range(len(packed) - 1):
        packed[k + 1 :, k] /= packed[k, k]
        packed[k + 1 :, k + 1 :] -= np.outer(packed[k + 1 :, k], packed[k, k + 1 :])
    return packed


def polar_factor(a: Any) -> Any:
    """The orthonormal columns nearest to those of a matrix."""
    return linalg.polar(a)[0]


def banded_solution(bands: Any, b: Any, lower: Any, upper: Any) -> Any:
    """The solution of ``a @ x = b``, for the bands of ``a`` as LAPACK has them: the one furthest above first."""
    return linalg.solve_banded((lower, upper), bands, b)


def banded_product(bands: Any, x: Any, lower: Any, upper: Any) -> Any:
    """``a @ x`` for the bands of ``a``.

    >>> banded_product(np.array([[0.0, 5.0], [1.0, 2.0], [7.0, 0.0]]), np.array([1.0, 10.0]), 1, 1).tolist()
    [51.0, 27.0]
    """
    n = np.shape(x)[0]
    y = np.zeros(np.shape(x), np.result_type(bands, x))
    for offset in range(-min(lower, n - 1), min(upper, n - 1) + 1):
        low, high = max(0, -offset), min(n, n - offset)
        y[low:high] += (bands[upper - offset, low + offset : high + offset] * x[low + offset : high + offset].T).T
    return y


def turned_bands(bands: Any, lower: Any, upper: Any) -> Any:
    """The bands of the transpose; what lies outside of the matrix is zero."""
    n = np.shape(bands)[1]
    turned = np.zeros(np.shape(bands), bands.dtype)
    for offset in range(-min(lower, n - 1), min(upper, n - 1) + 1):
        low, high = max(0, -offset), min(n, n - offset)
        turned[lower + offset, low:high] = bands[upper - offset, low + offset : high + offset]
    return turned


def band_products(y: Any, x: Any, lower: Any, upper: Any) -> Any:
    """The bands of ``y @ x.T``."""
    n = np.shape(x)[0]
    columns = np.reshape(y, (n, -1)), np.reshape(x, (n, -1))
    bands = np.zeros((lower + upper + 1, n), np.result_type(y, x))
    for offset in range(-min(lower, n - 1), min(upper, n - 1) + 1):
        low, high = max(0, -offset), min(n, n - offset)
        products = columns[0][low:high] * columns[1][low + offset : high + offset]
        bands[upper - offset, low + offset : high + offset] = np.sum(products, axis=1)
    return bands
