"""Rank-one updates of matrices in place, in BLAS where that is faster than by NumPy.

NumPy makes the outer product, a matrix of its own, before it adds it: for large matrices that is three times the
traffic of the update itself.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.runtime.numerical_methods.of_scipy.blas_lapack import routine

FEWEST_ELEMENTS = 8192
"""Smaller matrices are updated by NumPy: from 70 by 70 on a call of BLAS, 5 us, was the faster one."""
_ROUTINES = {"d": ("dgemm", ctypes.c_double), "f": ("sgemm", ctypes.c_float)}
_Extents = ctypes.c_int * 5
_CONSTANTS = ctypes.c_char(b"T"), ctypes.c_char(b"N"), ctypes.c_int(1)
_BY_COLUMNS, _AS_IT_IS, _ONE = (ctypes.addressof(constant) for constant in _CONSTANTS)
_LARGEST = 2**31 - 1


def rank_one_update(a: Any, u: Any, v: Any) -> None:
    """Adds ``np.outer(u, v)`` to a matrix, or to a view of one, in place.

    >>> a = np.zeros((2, 3))
    >>> rank_one_update(a, np.array([1.0, 2.0]), np.array([1.0, 0.0, 3.0]))
    >>> a
    array([[1., 0., 3.],
           [2., 0., 6.]])
    """
    if not _by_blas(a, u, v, False):
        a += np.outer(u, v)


def rank_one_downdate(a: Any, u: Any, v: Any) -> None:
    """Subtracts ``np.outer(u, v)`` from a matrix, or from a view of one, in place.

    >>> a = np.ones((2, 2))
    >>> rank_one_downdate(a, np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    >>> a
    array([[ 0.,  1.],
           [-1.,  1.]])
    """
    if not _by_blas(a, u, v, True):
        a -= np.outer(u, v)


def _by_blas(a: Any, u: Any, v: Any, takes: bool) -> bool:
    """Whether ``np.outer(u, v)`` was added, or taken: as a product of matrices, in which zeros hide no NaN."""
    if type(a) is not np.ndarray or a.size < FEWEST_ELEMENTS or not _fit(a, u, v):
        return False
    if a.strides[1] != a.itemsize:
        a, u, v = a.T, v, u  # by columns
    (n, m), size = a.shape, a.itemsize
    steps = v.strides[0] // size, u.strides[0] // size, a.strides[0] // size
    if a.strides[1] != size or min(steps) < 1 or steps[2] < m or max(*steps, n, m) > _LARGEST or not a.flags.writeable:
        return False
    found = _gemm(a.dtype.char)
    if found is None or np.may_share_memory(a, u) or np.may_share_memory(a, v):
        return False
    gemm, one, minus_one = found
    extents = _Extents(m, n, *steps)
    at, plus = ctypes.addressof(extents), ctypes.addressof(one)
    scale = ctypes.addressof(minus_one) if takes else plus
    # of matrices by columns, as BLAS has them, the transpose: m by n, of v as a row that is transposed and u as a row
    gemm(
        *(_BY_COLUMNS, _AS_IT_IS, at, at + 4, _ONE, scale, _address(v), at + 8, _address(u), at + 12),
        *(plus, _address(a), at + 16),
    )
    return True


def _fit(a: np.ndarray, u: Any, v: Any) -> bool:
    """Whether these are vectors and a matrix of their lengths, of one dtype that is in the table."""
    if type(u) is not np.ndarray or type(v) is not np.ndarray or a.ndim != 2 or (u.shape + v.shape) != a.shape:
        return False
    dtype = a.dtype
    if dtype.char not in _ROUTINES or not dtype.isnative or u.dtype != dtype or v.dtype != dtype:
        return False
    strides = (*a.strides, *u.strides, *v.strides)
    return not any(stride % dtype.itemsize for stride in strides)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


@functools.cache
def _gemm(char: str) -> tuple[Callable[..., None], Any, Any] | None:
    """The routine of SciPy's BLAS for a dtype, with one and minus one as it takes them; None where there is none."""
    name, number = _ROUTINES[char]
    gemm = routine(f"blas_{name}", 13)
    return None if gemm is None else (gemm, number(1.0), number(-1.0))
