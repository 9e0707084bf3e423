"""Systems with triangular matrices, by substitution in BLAS: a third of the arithmetic that a factorisation takes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

_FEWEST_ROWS = 24
"""Smaller systems are NumPy's: from there on a call of BLAS was the faster one."""
_FLOAT = np.dtype(np.float64)
_Extents = ctypes.c_int * 4
_LETTERS = ctypes.create_string_buffer(b"RLUTN")
_RIGHT, _LOWER, _UPPER, _TURNED, _AS_IT_IS = range(ctypes.addressof(_LETTERS), ctypes.addressof(_LETTERS) + 5)
_ONE = ctypes.c_double(1.0)
_LARGEST = 2**31 - 1


def solve_triangular(a: Any, b: Any, lower: bool) -> Any:
    """The solution of ``a @ x = b`` with a triangular matrix; what stands in the other triangle has to be zero.

    Raises
    ------
    numpy.linalg.LinAlgError
        A number on the diagonal is zero.

    >>> solve_triangular(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([[2.0], [5.0]]), True)
    array([[1.],
           [1.]])
    """
    solved = _by_blas(a, b, lower)
    return np.linalg.solve(a, b) if solved is None else solved


SOLVERS = (np.linalg.solve, solve_triangular)
"""Functions whose solution is linear in their second argument."""


def _by_blas(a: Any, b: Any, lower: bool) -> Any:
    """The solution; None where that is left to NumPy."""
    if a.ndim != 2 or b.ndim != 2 or a.dtype != _FLOAT or b.dtype != _FLOAT or not _FEWEST_ROWS <= len(a) == len(b):
        return None
    by_columns = a.strides[0] == 8
    leading, rest = divmod(a.strides[by_columns], 8)
    n, m = b.shape
    if a.strides[not by_columns] != 8 or rest or leading < n or a.shape[1] != n or max(n, m, leading) > _LARGEST:
        return None
    trsm = _trsm()
    if trsm is None or not m or not np.diagonal(a).all():
        return None
    x = np.array(b, order="C")
    extents = _Extents(m, n, leading, m)
    at = ctypes.addressof(extents)
    # BLAS has matrices by columns: x.T @ a.T = b.T, where a matrix by rows is its own transpose
    side = _LOWER if lower == by_columns else _UPPER
    turned = _TURNED if by_columns else _AS_IT_IS
    trsm(
        *(_RIGHT, side, turned, _AS_IT_IS, at, at + 4, ctypes.addressof(_ONE), a.__array_interface__["data"][0]),
        *(at + 8, x.__array_interface__["data"][0], at + 12),
    )
    return x


def _trsm() -> Callable[..., None] | None:
    """The routine of SciPy's BLAS; None where there is none."""
    from adjoint.runtime.numerical_methods.of_scipy.blas_lapack import routine  # lazy

    return routine("blas_dtrsm", 11)
