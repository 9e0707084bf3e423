"""Factors of a matrix, computed once for all systems, inverses and determinants that are asked of it (LAPACK's LU).

``np.linalg.solve`` factorises its matrix anew in each call: two thirds of n cubed multiplications, where a solution by
given factors takes n squared of them, for the transpose of the matrix, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

_FEWEST_ROWS = 64
"""Smaller systems are NumPy's, each factorised anew: from there on calls of LAPACK were the faster ones."""
_NO_PIVOTS = np.zeros(0, np.int64)
_NO_PIVOTS.flags.writeable = False
_LARGEST = 2**31 - 1
_WORK = 64
"""So many columns LAPACK inverts together."""


def lu_factors(a: Any) -> tuple[Any, Any]:
    """The factors of a matrix, one in each triangle, by columns, and which rows were exchanged, two in a number.

    A matrix for which that does not pay, or that has no factors, is given as it is, without rows. Nothing is raised
    here: of a singular matrix those tell who ask it for something.

    >>> a = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> solve_factored(*lu_factors(a), np.array([3.0, 4.0]))
    array([1., 1.])
    """
    n = len(a)
    if not _FEWEST_ROWS <= n <= _LARGEST or a.shape != (n, n) or (getrf := _routine("dgetrf", 6)) is None:
        return a, _NO_PIVOTS
    lu, pivots = np.array(a, order="F"), np.zeros(n, np.int64)
    sizes = (ctypes.c_int * 2)(n, 0)
    size = ctypes.addressof(sizes)
    getrf(size, size, lu.ctypes.data, size, pivots.ctypes.data, size + 4)
    return lu, pivots


def solve_factored(lu: Any, pivots: Any, b: Any, turned: bool = False) -> Any:
    """The solution of ``a @ x = b``, or of ``a.T @ x = b``, by the factors of ``a``.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular, or not square.
    ValueError
        There are not as many rows in ``b``.
    """
    getrs = _routine("dgetrs", 9) if len(pivots) else None
    if getrs is None or len(b) != len(lu):
        return np.linalg.solve(lu.T if turned else lu, b)
    _refuse_singular(lu)
    x = np.array(b, order="F")
    sizes = (ctypes.c_int * 3)(len(lu), 1 if b.ndim == 1 else b.shape[1], 0)
    size = ctypes.addressof(sizes)
    letter = ctypes.c_char(b"T" if turned else b"N")
    getrs(
        *(ctypes.addressof(letter), size, size + 4, lu.ctypes.data, size, pivots.ctypes.data),
        *(x.ctypes.data, size, size + 8),
    )
    return np.ascontiguousarray(x)


def inverse_factored(lu: Any, pivots: Any) -> Any:
    """The inverse of a matrix by its factors.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular, or not square.
    """
    getri = _routine("dgetri", 7) if len(pivots) else None
    if getri is None:
        return np.linalg.inv(lu)
    _refuse_singular(lu)
    n = len(lu)
    found, room = lu.copy(order="F"), np.empty(_WORK * n)
    sizes = (ctypes.c_int * 3)(n, _WORK * n, 0)
    size = ctypes.addressof(sizes)
    getri(size, found.ctypes.data, size, pivots.ctypes.data, room.ctypes.data, size + 4, size + 8)
    return np.ascontiguousarray(found)


def slogdet_factored(lu: Any, pivots: Any) -> tuple[Any, Any]:
    """The sign and the logarithm of the determinant of a matrix by its factors."""
    if not len(pivots):
        return tuple(np.linalg.slogdet(lu))
    diagonal = np.diagonal(lu)
    rows = pivots.view(np.int32)[: len(lu)]
    exchanged = int(np.count_nonzero(rows != np.arange(1, len(lu) + 1)))
    if not diagonal.all():
        return np.float64(0.0), np.float64(-np.inf)
    sign = np.prod(np.sign(diagonal))
    return -sign if exchanged % 2 else sign, np.sum(np.log(np.abs(diagonal)))


def _routine(name: str, arguments: int) -> Callable[..., None] | None:
    """The routine of SciPy's LAPACK; None where there is none."""
    from adjoint.runtime.numerical_methods.of_scipy.blas_lapack import routine  # lazy

    return routine(f"lapack_{name}", arguments)


def _refuse_singular(lu: Any) -> None:
    if not np.diagonal(lu).all():
        raise np.linalg.LinAlgError("Singular matrix")
