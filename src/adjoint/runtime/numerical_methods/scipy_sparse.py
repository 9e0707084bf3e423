"""Solutions of sparse systems of equations, whose matrices are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import linalg


def sparse_solution(matrix: Any, b: Any, turned: bool = False) -> Any:
    """The solution of a sparse system, or of that of the transpose.

    >>> from scipy.sparse import csc_matrix
    >>> sparse_solution(csc_matrix([[2.0, 0.0], [2.0, 1.0]]), np.array([2.0, 3.0])).tolist()
    [1.0, 1.0]
    """
    return np.array(linalg.spsolve((matrix.T if turned else matrix).tocsc(), b))
