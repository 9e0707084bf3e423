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
