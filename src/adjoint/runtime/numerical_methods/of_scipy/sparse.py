"""Solutions of sparse systems of equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, linalg


def sparse_solution(matrix: Any, b: Any, turned: bool = False) -> Any:
    """The solution of a sparse system, or of that of the transpose.

    >>> from scipy.sparse import csc_matrix
    >>> sparse_solution(csc_matrix([[2.0, 0.0], [2.0, 1.0]]), np.array([2.0, 3.0])).tolist()
    [1.0, 1.0]
    """
    return np.array(linalg.spsolve((matrix.T if turned else matrix).tocsc(), b))


def factored_solution(factors: Any, b: Any, turned: bool = False) -> Any:
    """The solution of a system of which the factors are given, or of that of the transpose."""
    return factors.solve(np.asarray(b, dtype=float), "T" if turned else "N")


def entries_solution(data: Any, rows: Any, cols: Any, shape: Any, b: Any, turned: bool = False) -> Any:
    """The solution of the sparse system with these entries, or of that of the transpose.

    >>> entries_solution(np.array([2.0, 4.0]), [0, 1], [0, 1], (2, 2), np.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    matrix = csc_matrix((data, (rows, cols)), shape=shape)
    return factored_solution(linalg.splu(matrix), b, turned)


def entries_product(data: Any, x: Any, rows: Any, cols: Any, shape: Any, turned: bool = False) -> Any:
    """The product of the sparse matrix with these entries, or of its transpose, with a vector or a matrix."""
    matrix = csc_matrix((data, (rows, cols)), shape=shape)
    return np.asarray((matrix.T if turned else matrix) @ x)


def outer_entries(left: Any, right: Any, rows: Any, cols: Any) -> Any:
    """The entries at some places of the product of a column with a row, or of several, added up."""
    products = left[rows] * right[cols]
    return products if products.ndim == 1 else products.sum(axis=-1)
