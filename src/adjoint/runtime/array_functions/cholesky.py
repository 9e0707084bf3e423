"""The pullback of the Cholesky factorisation, by blocks: matrix products, as the factorisation itself.

I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527 (2016), section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.array_functions.linalg import diagonal_of, folded, hermitian, lower_half, transposed
from adjoint.runtime.array_functions.triangular import solve_triangular

_BLOCK = 64
"""Of 32 to 192 columns, these took the least time for matrices of 300 and of 1,000 rows."""
_FEWEST_ROWS = 224
"""Smaller matrices are one block: from there on several were the faster ones, in machine code, too."""


def cholesky_pullback(ct: Any, factor: Any) -> Any:
    """The cotangent of a matrix, of which the lower triangle is looked at, for that of its lower Cholesky factor.

    Parameters
    ----------
    ct
        The cotangent of the factor; an array (..., n, n).
    factor
        The factor; an array (..., n, n), zero above its diagonal.

    >>> cholesky_pullback(np.eye(2), np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([[ 0.375,  0.   ],
           [-0.5  ,  0.5  ]])
    """
    return of_block(ct, factor) if factor.ndim != 2 or factor.dtype.kind == "c" else of_matrix(ct, factor)


def of_matrix(ct: Any, factor: Any) -> Any:
    """The pullback of one real matrix."""
    return of_block(ct, factor) if len(factor) < _FEWEST_ROWS else by_blocks(ct, factor)


def of_block(ct: Any, factor: Any) -> Any:
    """The pullback by substitution in the whole matrix."""
    turned = transposed(factor)
    diagonal = diagonal_of(ct)
    is_diagonal = np.count_nonzero(ct) == np.count_nonzero(diagonal)  # that of the logarithm of the determinant is
    product = turned * diagonal[..., None, :] if is_diagonal else turned @ ct
    half = solve_triangular(turned, hermitian(lower_half(product)), False)
    return folded(solve_triangular(turned, hermitian(half), False))


def by_blocks(ct: Any, factor: Any) -> Any:
    """The pullback of one real matrix: what the factorisation has done to columns, the last ones first."""
    bar = np.tril(ct)
    for first in range((len(factor) - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        last = min(first + _BLOCK, len(factor))
        corner, left = factor[first:last, first:last], factor[first:last, :first]
        below = transposed(solve_triangular(transposed(corner), transposed(bar[last:, first:last]), False))
        bar[last:, first:last] = below
        bar[last:, :first] -= below @ left
        bar[first:last, :first] -= transposed(below) @ factor[last:, :first]
        bar[first:last, first:last] -= np.tril(transposed(below) @ factor[last:, first:last])
        diagonal = of_block(bar[first:last, first:last], corner)
        bar[first:last, first:last] = diagonal
        bar[first:last, :first] -= (diagonal + transposed(diagonal)) @ left
    return bar
