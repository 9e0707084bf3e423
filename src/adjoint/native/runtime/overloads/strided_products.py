"""Products of parts of arrays, for Numba: BLAS is told how far rows are apart, where Numba would copy the part.

What BLAS calls a matrix is the transpose of ours: ``a @ b`` is computed as ``b.T @ a.T``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import functools

import numpy as np
from numba.core import types
from numba.extending import register_jitable
from numba.np import linalg as of_numba

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.linear_algebra import _keep, _kind
from adjoint.runtime.array_functions import arrays, plain

_ROWS, _COLUMNS = ord("t"), ord("n")


@overload(plain.product)
def _product(a, b):
    if not _are_plain(a, b):
        return lambda a, b: a @ b
    if a.ndim > 2:
        return _of_stack
    if all(array.layout in "CF" for array in (a, b)):
        return lambda a, b: np.dot(a, b)
    if a.ndim == b.ndim == 1:
        return lambda a, b: np.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))
    if b.ndim == 1:
        return _times_vector(a.dtype)
    return _vector_times if a.ndim == 1 else _of_matrices(a.dtype)


def _are_plain(a, b):
    if not all(isinstance(array, types.Array) for array in (a, b)) or a.dtype != b.dtype:
        return False
    return isinstance(a.dtype, (types.Float, types.Complex)) and a.ndim >= 1 and b.ndim in (1, 2)


def _of_stack(a, b):
    rows = np.ascontiguousarray(a).reshape((-1, a.shape[-1]))
    return plain.product(rows, b).reshape(a.shape[:-1] + b.shape[1:])


@overload(arrays.matmul_left)
def _matmul_left(ct, a, b):
    if not _are_of_stack(ct, a, b):
        return None

    def of_stack(ct, a, b):
        return plain.product(ct, b.T)

    def of_vector(ct, a, b):
        return _columns(ct, a) * b

    return of_stack if b.ndim == 2 else of_vector


@overload(arrays.matmul_right)
def _matmul_right(ct, a, b):
    if not _are_of_stack(ct, a, b):
        return None

    def of_stack(ct, a, b):
        rows = np.ascontiguousarray(a).reshape((-1, a.shape[-1]))
        return plain.product(rows.T, np.ascontiguousarray(ct).reshape((-1, b.shape[-1])))

    def of_vector(ct, a, b):
        rows = np.ascontiguousarray(a).reshape((-1, a.shape[-1]))
        return plain.product(rows.T, np.ascontiguousarray(ct).reshape(-1))

    return of_stack if b.ndim == 2 else of_vector


def _are_of_stack(ct, a, b):
    """Whether a stack of matrices was multiplied with one matrix or vector, and all are real numbers of one kind."""
    if not all(isinstance(array, types.Array) and isinstance(array.dtype, types.Float) for array in (ct, a, b)):
        return False
    return ct.dtype == a.dtype == b.dtype and a.ndim > 2 and b.ndim in (1, 2) and ct.ndim == a.ndim + b.ndim - 2


@register_jitable
def _columns(ct, a):
    return np.ascontiguousarray(ct).reshape(a.shape[:-1] + (1,))  # noqa: RUF005 - Numba's form


@register_jitable
def _as_told(a):
    """A matrix whose rows, or columns, lie one behind the other: itself, or a copy."""
    size = a.itemsize
    by_rows = a.strides[1] == size and a.strides[0] >= size * a.shape[1]
    by_columns = a.strides[0] == size and a.strides[1] >= size * a.shape[0]
    return a if by_rows or by_columns else a.copy()


@register_jitable
def _layout(a):
    """Whether it is told by rows or by columns, and how far these are apart."""
    size = a.itemsize
    if a.strides[1] == size and a.strides[0] >= size * a.shape[1]:
        return _ROWS, max(a.strides[0] // size, 1)
    return _COLUMNS, max(a.strides[1] // size, 1)


@register_jitable
def _check_inner(mine, theirs):
    if mine != theirs:
        raise ValueError("matmul: Input operand 1 has a mismatch in its core dimension 0")


@functools.cache
def _times_vector(dtype):
    """``a @ b`` of a matrix and a vector."""
    multiply, kind = _gemv(dtype), _kind(dtype, "dot")

    def times_vector(a, b):
        _check_inner(a.shape[1], b.shape[0])
        matrix, vector = _as_told(a), np.ascontiguousarray(b)
        out, factors = plain.zeros(a.shape[0], a.dtype), plain.zeros(2, a.dtype)
        factors[0] = 1.0
        way, apart = _layout(matrix)
        rows, columns = (a.shape[1], a.shape[0]) if way == _ROWS else a.shape
        if a.size:
            one, zero = factors.ctypes, factors[1:].ctypes
            multiply(kind, way, rows, columns, one, matrix.ctypes, apart, vector.ctypes, zero, out.ctypes)
        _keep(matrix)
        _keep(vector)
        _keep(factors)
        return out

    return times_vector


def _vector_times(a, b):
    return plain.product(b.T, a)


@functools.cache
def _of_matrices(dtype):
    """``a @ b``"""
    multiply, kind = of_numba._BLAS().numba_xxgemm(dtype), _kind(dtype, "dot")

    def of_matrices(a, b):
        _check_inner(a.shape[1], b.shape[0])
        left, right = _as_told(a), _as_told(b)
        out, factors = plain.zeros((a.shape[0], b.shape[1]), a.dtype), plain.zeros(2, a.dtype)
        factors[0] = 1.0
        way, apart = _layout(left)
        way_right, apart_right = _layout(right)
        if a.size and b.size:
            multiply(
                kind,
                _COLUMNS if way_right == _ROWS else _ROWS,
                _COLUMNS if way == _ROWS else _ROWS,
                b.shape[1],
                a.shape[0],
                a.shape[1],
                factors.ctypes,
                right.ctypes,
                apart_right,
                left.ctypes,
                apart,
                factors[1:].ctypes,
                out.ctypes,
                b.shape[1],
            )
        _keep(left)
        _keep(right)
        _keep(factors)
        return out

    return of_matrices


def _gemv(dtype):
    """The product of a matrix and a vector, as Numba brings it: its steps along vectors are 1."""
    of_numba.ensure_blas()
    pointer = types.CPointer(dtype)
    given = (types.char, types.char, types.intp, types.intp, pointer, pointer, types.intp, pointer, pointer, pointer)
    return types.ExternalFunction("numba_xxgemv", types.intc(*given))
