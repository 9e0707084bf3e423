"""Systems of linear equations, for Numba: LAPACK, or substitution where the matrix turns out to be triangular.

Derivatives of factorisations solve systems with the factors, and so do programs that factorise a matrix themselves.
One look at the matrix tells, which ends at the first pair of numbers on both sides of the diagonal. Blocks of rows are
substituted by products of matrices.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import functools

import numpy as np
from numba.extending import register_jitable
from numba.np import linalg as of_numba

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.linear_algebra import (
    _LAPACK,
    _PIVOT,
    _check_square,
    _is_matrix,
    _keep,
    _kind,
    _transposed_copy,
)
from adjoint.native.runtime.overloads.strided_products import _COLUMNS, _ROWS, _as_told, _layout
from adjoint.runtime.array_functions import plain

_BLOCK = 32
"""So many rows are substituted one by one, before a product of matrices takes them out of the others."""
_FULL, _LOWER, _UPPER = 0, 1, 2


@overload(plain.solution)
def _solution(a, b):
    if not _is_matrix(a) or not (_is_matrix(b) or _is_matrix(b, 1)) or a.dtype != b.dtype:
        return None
    solve_in_place, substitute, substitute_rows = _solver(a.dtype), _of_one_side(a.dtype), _of_rows(a.dtype)

    def of_vector(a, b):
        _check_system(a, b.shape[0])
        right = plain.empty(b.shape[0], b.dtype)
        for i in range(b.shape[0]):
            right[i] = b[i]
        side = _triangle(a)
        if side == _FULL:
            solve_in_place(_transposed_copy(a), right, 1)
        else:
            substitute(a, right, side)
        return right

    def of_columns(a, b):
        _check_system(a, b.shape[0])
        side = _triangle(a)
        if side == _FULL:
            right = _transposed_copy(b)
            solve_in_place(_transposed_copy(a), right, b.shape[1])
            return _transposed_copy(right)
        rows = plain.empty(b.shape, b.dtype)
        for i in range(b.shape[0]):
            for j in range(b.shape[1]):
                rows[i, j] = b[i, j]
        substitute_rows(_as_told(a), rows, side)
        return rows

    return of_vector if b.ndim == 1 else of_columns


@register_jitable
def _check_system(a, rows):
    _check_square(a)
    if rows != a.shape[0]:
        raise ValueError("solve: Input operand 1 has a mismatch in its core dimension 0")


@functools.cache
def _solver(dtype):
    """Solves equations with the transpose of a matrix, for rows of right sides, and overwrites both."""
    solve, kind = _LAPACK().numba_xgesv(dtype), _kind(dtype, "solve")

    @register_jitable
    def solve_in_place(matrix, right, count):
        n = matrix.shape[0]
        if n == 0 or count == 0:
            return
        pivots = plain.empty(n, _PIVOT)
        if solve(kind, n, count, matrix.ctypes, n, pivots.ctypes, right.ctypes, n):
            raise np.linalg.LinAlgError("Singular matrix")
        _keep(matrix)
        _keep(pivots)
        _keep(right)

    return solve_in_place


@register_jitable
def _triangle(a):
    """On which side of its diagonal a matrix has all that is not zero; singular ones count as full."""
    n = a.shape[0]
    is_upper, is_lower = True, True
    for i in range(n):
        if a[i, i] == 0:
            return _FULL
        for j in range(i):
            is_upper = is_upper and a[i, j] == 0
            is_lower = is_lower and a[j, i] == 0
            if not (is_upper or is_lower):
                return _FULL
    return _UPPER if is_upper else _LOWER


@functools.cache
def _of_one_side(dtype):
    """Solves a triangular system for a vector, which it overwrites."""
    zero = dtype(0)

    @register_jitable
    def substitute(a, right, side):
        n = a.shape[0]
        for count in range(n):
            i = count if side == _LOWER else n - 1 - count
            total = zero
            for j in range(0 if side == _LOWER else i + 1, i if side == _LOWER else n):
                total += a[i, j] * right[j]
            right[i] = (right[i] - total) / a[i, i]

    return substitute


@functools.cache
def _of_rows(dtype):
    """Solves a triangular system for the columns of a matrix by rows, which it overwrites."""
    take_product = _taken(dtype)

    @register_jitable
    def substitute_rows(a, rows, side):
        n, width = rows.shape
        for done in range(0, n, _BLOCK):
            size = min(_BLOCK, n - done)
            start = done if side == _LOWER else n - done - size
            first, last = (0, start) if side == _LOWER else (start + size, n)
            take_product(a[start : start + size, first:last], rows[first:last], rows[start : start + size])
            for count in range(size):
                i = start + (count if side == _LOWER else size - 1 - count)
                for j in range(start if side == _LOWER else i + 1, i if side == _LOWER else start + size):
                    factor = a[i, j]
                    for k in range(width):
                        rows[i, k] -= factor * rows[j, k]
                divisor = a[i, i]
                for k in range(width):
                    rows[i, k] /= divisor

    return substitute_rows


@functools.cache
def _taken(dtype):
    """Takes the product ``a @ b`` from ``out``, whose rows, as those of ``b``, lie one behind the other."""
    multiply, kind = of_numba._BLAS().numba_xxgemm(dtype), _kind(dtype, "dot")

    @register_jitable
    def take_product(a, b, out):
        if a.size == 0 or b.size == 0:
            return
        factors = plain.empty(2, a.dtype)
        factors[0], factors[1] = -1.0, 1.0
        way, apart = _layout(a)
        multiply(
            kind,
            _COLUMNS,
            _COLUMNS if way == _ROWS else _ROWS,
            b.shape[1],
            a.shape[0],
            a.shape[1],
            factors.ctypes,
            b.ctypes,
            b.shape[1],
            a.ctypes,
            apart,
            factors[1:].ctypes,
            out.ctypes,
            b.shape[1],
        )
        _keep(a)
        _keep(b)
        _keep(out)
        _keep(factors)

    return take_product
