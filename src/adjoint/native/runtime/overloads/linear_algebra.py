"""Inverses, factors and determinants of one matrix, for Numba: LAPACK between two plain loops.

What LAPACK calls a matrix is the transpose of ours; where that is of no consequence, nothing is transposed.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import math

import numpy as np
from numba.core import types
from numba.extending import register_jitable
from numba.np import linalg as of_numba

from adjoint.native.runtime.declaring import overload
from adjoint.runtime.array_functions import arrays, linalg, plain

_PIVOT = of_numba.F_INT_nptype
_TRUTH = np.dtype(bool)
_LAPACK = of_numba._LAPACK
_UPPER = ord("U")


def _is_matrix(a, rank=2):
    return isinstance(a, types.Array) and a.ndim == rank and isinstance(a.dtype, (types.Float, types.Complex))


def _kind(dtype, name):
    of_numba.ensure_lapack()
    return ord(of_numba.get_blas_kind(dtype, name))


@register_jitable
def _copied(a):
    """A copy whose rows lie one behind the other."""
    rows, columns = a.shape
    out = plain.empty((rows, columns), a.dtype)
    for i in range(rows):
        for j in range(columns):
            out[i, j] = a[i, j]
    return out


@register_jitable
def _transposed_copy(a):
    rows, columns = a.shape
    out = plain.empty((columns, rows), a.dtype)
    for i in range(rows):
        for j in range(columns):
            out[j, i] = a[i, j]
    return out


@register_jitable
def _check_square(a):
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


@register_jitable
def _keep(array):
    """Keeps memory alive up to here, of which a library was told the address only."""
    return array.size


@overload(plain.eye)
def _eye(n):
    if not isinstance(n, types.Integer):
        return None

    def eye(n):
        out = plain.zeros((n, n), np.float64)
        for i in range(n):
            out[i, i] = 1.0
        return out

    return eye


@overload(plain.inverse)
def _inverse(a):
    if not _is_matrix(a):
        return None
    factor, invert = _LAPACK().numba_xxgetrf(a.dtype), _LAPACK().numba_ez_xxgetri(a.dtype)
    kind = _kind(a.dtype, "inv")

    def inverse(a):
        _check_square(a)
        n = a.shape[0]
        out = _copied(a)
        if n == 0:
            return out
        pivots = plain.empty(n, _PIVOT)
        if factor(kind, n, n, out.ctypes, n, pivots.ctypes) or invert(kind, n, out.ctypes, n, pivots.ctypes):
            raise np.linalg.LinAlgError("Singular matrix")
        _keep(pivots)
        _keep(out)
        return out

    return inverse


@overload(plain.cholesky_factor)
def _cholesky_factor(a):
    if not _is_matrix(a):
        return None
    factor, kind = _LAPACK().numba_xxpotrf(a.dtype), _kind(a.dtype, "cholesky")

    def cholesky_factor(a):
        _check_square(a)
        n = a.shape[0]
        out = _copied(a)
        if n == 0:
            return out
        if factor(kind, _UPPER, n, out.ctypes, n):
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        _keep(out)
        for i in range(n):
            for j in range(i + 1, n):
                out[i, j] = 0
        return out

    return cholesky_factor


@overload(plain.triangular_factors)
def _triangular_factors(a):
    if not _is_matrix(a):
        return None

    def triangular_factors(a):
        rows, columns = a.shape
        if rows == 0 or columns == 0:
            return plain.zeros((0, rows), a.dtype).T, plain.zeros((columns, 0), a.dtype).T
        return np.linalg.qr(a)

    return triangular_factors


@overload(plain.singular_factors)
def _singular_factors(a, full_matrices=True):
    if not _is_matrix(a):
        return None
    values = types.float32 if a.dtype in (types.float32, types.complex64) else types.float64

    def singular_factors(a, full_matrices=True):
        rows, columns = a.shape
        if rows == 0 or columns == 0:
            bases = (rows, columns) if full_matrices else (0, 0)
            return _basis(bases[0], rows, a), plain.zeros(0, values), _basis(columns, bases[1], a)
        return np.linalg.svd(a, full_matrices)

    return singular_factors


@register_jitable
def _basis(columns, rows, like):
    """As many vectors of a basis as there are columns or, the other way round, rows."""
    out = plain.zeros((columns, rows), like.dtype)
    for i in range(min(columns, rows)):
        out[i, i] = 1.0
    return out.T


@overload(plain.sign_and_log_determinant)
def _sign_and_log_determinant(a):
    if not _is_matrix(a) or not isinstance(a.dtype, types.Float):
        return None
    factor, kind = _LAPACK().numba_xxgetrf(a.dtype), _kind(a.dtype, "slogdet")
    kind_of = a.dtype

    def sign_and_log_determinant(a):
        _check_square(a)
        n = a.shape[0]
        matrix, pivots = _copied(a), plain.empty(n, _PIVOT)
        sign, log = kind_of(1.0), kind_of(0.0)
        if n == 0:
            return sign, log
        if factor(kind, n, n, matrix.ctypes, n, pivots.ctypes) > 0:
            return kind_of(0.0), kind_of(-math.inf)
        _keep(matrix)
        for i in range(n):
            entry = matrix[i, i]
            if (pivots[i] != i + 1) != (entry < 0):
                sign = -sign
            log += kind_of(math.log(abs(entry)))
        return sign, log

    return sign_and_log_determinant


@overload(plain.determinant)
def _determinant(a):
    if not _is_matrix(a):
        return None
    factor, kind = _LAPACK().numba_xxgetrf(a.dtype), _kind(a.dtype, "det")
    kind_of = a.dtype

    def determinant(a):
        _check_square(a)
        n = a.shape[0]
        matrix, pivots = _copied(a), plain.empty(n, _PIVOT)
        product = kind_of(1.0)
        if n == 0:
            return product
        if factor(kind, n, n, matrix.ctypes, n, pivots.ctypes) > 0:
            return kind_of(0.0)
        _keep(matrix)
        for i in range(n):
            product *= matrix[i, i] if pivots[i] == i + 1 else -matrix[i, i]
        return product

    return determinant


# What derivatives of these are made of


@overload(linalg.transposed)
def _transposed(a):
    return (lambda a: a.T) if _is_matrix(a) else None


@overload(linalg.as_columns)
def _as_columns(x, b):
    if not isinstance(b, types.Array) or not isinstance(x, types.Array):
        return None
    return (lambda x, b: np.expand_dims(x, x.ndim)) if b.ndim == 1 else (lambda x, b: x)


@overload(linalg.from_columns)
def _from_columns(x, b):
    if not isinstance(b, types.Array) or not _is_matrix(x):
        return None
    return (lambda x, b: x[:, 0]) if b.ndim == 1 else (lambda x, b: x)


@overload(linalg.conjugated)
def _conjugated(a):
    if not isinstance(a, types.Array):
        return None
    return (lambda a: np.conj(a)) if isinstance(a.dtype, types.Complex) else (lambda a: a)


@overload(linalg.hermitian)
def _hermitian(a):
    return (lambda a: linalg.conjugated(a.T)) if _is_matrix(a) else None


def _of_entries(function, entry):
    """Declares a function that makes each entry of a matrix of the two that lie opposite each other."""
    value = register_jitable(entry)

    @overload(function)
    def declared(m):
        if not _is_matrix(m):
            return None
        zero = m.dtype(0)

        def write(m):
            rows, columns = m.shape
            out = plain.empty((rows, columns), m.dtype)
            for i in range(rows):
                for j in range(columns):
                    out[i, j] = value(m, i, j, zero)
            return out

        return write


_of_entries(linalg.lower_half, lambda m, i, j, zero: m[i, j] if j < i else (m[i, j] / 2 if i == j else zero))
_of_entries(linalg.hollow, lambda m, i, j, zero: m[i, j] if i != j else zero)
_of_entries(
    linalg.skew,
    lambda m, i, j, zero: m[i, j] if j < i else (-np.conj(m[j, i]) if i < j else m[i, j] - m[i, j].real),
)


def _of_triangle(function, entry):
    """Declares a function that makes each entry from the two that lie opposite each other, and the side that counts."""
    value = register_jitable(entry)

    @overload(function)
    def declared(m, lower=True):
        if not _is_matrix(m):
            return None
        zero = m.dtype(0)

        def write(m, lower=True):
            rows, columns = m.shape
            out = plain.empty((rows, columns), m.dtype)
            for i in range(rows):
                for j in range(columns):
                    out[i, j] = value(m, i, j, zero, (j < i) == lower)
            return out

        return write


_of_triangle(
    linalg.completed,
    lambda m, i, j, zero, counts: m[i, j].real + zero if i == j else (m[i, j] if counts else np.conj(m[j, i])),
)
_of_triangle(
    linalg.folded,
    lambda m, i, j, zero, counts: m[i, j].real + zero if i == j else (m[i, j] + np.conj(m[j, i]) if counts else zero),
)


@overload(linalg.diagonal_matrix)
def _diagonal_matrix(d):
    if not _is_matrix(d, 1):
        return None

    def diagonal_matrix(d):
        out = plain.zeros((d.shape[0], d.shape[0]), d.dtype)
        for i in range(d.shape[0]):
            out[i, i] = d[i]
        return out

    return diagonal_matrix


@overload(linalg.diagonal_of)
def _diagonal_of(m):
    if not _is_matrix(m):
        return None

    def diagonal_of(m):
        out = plain.empty(min(m.shape), m.dtype)
        for i in range(out.shape[0]):
            out[i] = m[i, i]
        return out

    return diagonal_of


@overload(arrays.place_diagonal)
def _place_diagonal(ct, x):
    if not _is_matrix(ct, 1) or not _is_matrix(x) or ct.dtype != x.dtype:
        return None

    def place_diagonal(ct, x):
        out = plain.zeros(x.shape, x.dtype)
        for i in range(ct.shape[0]):
            out[i, i] = ct[i]
        return out

    return place_diagonal


def _of_pairs(function, diagonal):
    """Declares the matrix of the differences of the elements of a vector."""

    @overload(function)
    def declared(w):
        if not _is_matrix(w, 1):
            return None

        def write(w):
            n = w.shape[0]
            out = plain.empty((n, n), w.dtype)
            for i in range(n):
                for j in range(n):
                    out[i, j] = w[j] - w[i]
                out[i, i] = diagonal
            return out

        return write


_of_pairs(linalg.differences, 0.0)
_of_pairs(linalg.gaps, 1.0)


@overload(linalg.occupied)
def _occupied(m):
    if not _is_matrix(m):
        return None

    def occupied(m):
        rows, columns = m.shape
        out = plain.empty(columns, _TRUTH)
        for j in range(columns):
            out[j] = False
            for i in range(rows):
                out[j] = out[j] or m[i, j] != 0
        return out

    return occupied


@overload(linalg.distinct)
def _distinct(w, asked=None):
    if not _is_matrix(w, 1) or not isinstance(w.dtype, types.Float):
        return None
    eps = float(np.finfo(w.dtype.name).eps)
    all_asked = asked is None or isinstance(asked, (types.NoneType, types.Omitted))
    is_asked = register_jitable((lambda asked, i: True) if all_asked else (lambda asked, i: asked[i]))

    def distinct(w, asked=None):
        n = w.shape[0]
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(w[i]))
        out = plain.empty((n, n), w.dtype)
        for i in range(n):
            for j in range(n):
                rounded = abs(w[j] - w[i]) <= largest * n * eps and (is_asked(asked, i) or is_asked(asked, j))
                out[i, j] = math.nan if rounded and i != j else 1.0
        return out

    return distinct


@overload(linalg.scaled_by)
def _scaled_by(m, factor):
    if not _is_matrix(m) or not isinstance(factor, types.Float) or m.dtype != factor:
        return None

    def scaled_by(m, factor):
        rows, columns = m.shape
        out = plain.empty((rows, columns), m.dtype)
        for i in range(rows):
            for j in range(columns):
                out[i, j] = m[i, j] * factor
        return out

    return scaled_by
