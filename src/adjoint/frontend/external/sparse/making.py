"""How sparse matrices are made of what varies: of entries, diagonals, arrays, and of other matrices."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from scipy import linalg

from adjoint.frontend.external.sparse.definitions import ANY, SparseMatrix, entries_of
from adjoint.runtime.numerical_methods.of_scipy.sparse import exponential_product


def of_entries(data, places, shape=None, *, is_array, form):
    rows, cols = [np.asarray(place, dtype=np.int64) for place in places]
    if shape is None:
        shape = (int(np.max(rows)) + 1, int(np.max(cols)) + 1)
    kept = form == "coo"
    return SparseMatrix(np.asarray(data), rows, cols, shape, is_array, kept, False, form, kept, form == "csr")


def of_rows(data, indices, indptr, shape=None, *, is_array):
    count = len(indptr) - 1
    rows = np.repeat(np.arange(count), np.diff(indptr))
    extents = (count, int(np.max(indices)) + 1) if shape is None else shape
    return SparseMatrix(
        np.asarray(data), rows, np.asarray(indices, dtype=np.int64), extents, is_array, True, False, "csr", True
    )


def of_columns(data, indices, indptr, shape=None, *, is_array):
    turned = of_rows(data, indices, indptr, None if shape is None else (shape[1], shape[0]), is_array=is_array)
    return turned.T


def of_whole(given, shape=None, *, is_array, form=None):
    """Of a matrix or an array, of which zeros are entries: they may vary."""
    if isinstance(given, ANY):
        found = entries_of(given)
        is_shared = form is None or found.form is None or form == found.form
        found.shared = found.shared or is_shared
        return SparseMatrix(
            found.values, found.rows, found.cols, found.shape, is_array, False, found.single, form, is_shared
        )
    array = np.atleast_2d(np.asarray(given))
    m, n = np.shape(array)
    rows, cols = np.repeat(np.arange(m), n), np.tile(np.arange(n), m)
    return SparseMatrix(np.ravel(array) + 0.0, rows, cols, (m, n), is_array, False, True, form)


def of_diagonals(diagonals, offsets, shape=None, *, is_array, form=None):
    if shape is None:
        size = np.size(diagonals[0]) + abs(offsets[0])
        shape = (size, size)
    m, n = shape
    parts, rows, cols = [], [], []
    for given, offset in zip(diagonals, offsets):  # noqa: B905
        along = np.arange(min(m + min(offset, 0), n - max(offset, 0)))
        if np.size(given) != 1 and np.size(given) != np.size(along):
            raise ValueError("the length of a diagonal does not agree with the shape of the matrix")
        parts.append(np.ravel(given) * np.ones(np.size(along)))
        rows.append(along - min(offset, 0))
        cols.append(along + max(offset, 0))
    entries = (np.concatenate(parts), np.concatenate(rows), np.concatenate(cols))
    return SparseMatrix(*entries, (m, n), is_array, form=form or "dia")


def of_bands(given, shape=None, *, is_array):
    """Of diagonals in rows, of which what lies outside of the matrix is left out, and their offsets."""
    data, offsets = np.atleast_2d(np.asarray(given[0])), np.atleast_1d(np.asarray(given[1]))
    if shape is None:
        raise NotImplementedError("no shape")
    m, n = shape
    width = np.shape(data)[1]
    cols = np.tile(np.arange(width), np.size(offsets))
    rows = cols - np.repeat(offsets, width)
    inside = np.flatnonzero(np.logical_and(np.logical_and(rows >= 0, rows < m), cols < n))
    return SparseMatrix(np.ravel(data)[inside], rows[inside], cols[inside], (m, n), is_array, form="dia")


def spdiags(data, diags, m=None, n=None, format=None):
    if m is None:
        width = np.shape(np.atleast_2d(np.asarray(data)))[1]
        shape = (width, width)
    else:
        shape = m if n is None else (m, n)
    made = of_bands((data, diags), shape, is_array=False)
    return made if format is None else made.asformat(format)


def _part(matrix, keep):
    found = block_of(matrix)
    return found._only(np.flatnonzero(keep(found.cols - found.rows)))


def tril(A, k=0, format=None):
    return _part(A, lambda offsets: offsets <= k)


def triu(A, k=0, format=None):
    return _part(A, lambda offsets: offsets >= k)


def kron(A, B, format=None):
    left, right = block_of(A), block_of(B)
    m, n = right.shape
    values = np.ravel(np.outer(left.values, right.values))
    rows = np.ravel(np.add.outer(left.rows * m, right.rows))
    cols = np.ravel(np.add.outer(left.cols * n, right.cols))
    is_array = left.is_array or right.is_array
    return SparseMatrix(values, rows, cols, (left.shape[0] * m, left.shape[1] * n), is_array)


def kronsum(A, B, format=None):
    left, right = block_of(A), block_of(B)
    return kron(_unit(right.shape[0]), left) + kron(right, _unit(left.shape[0]))


def _unit(n):
    return SparseMatrix(np.ones(n), np.arange(n), np.arange(n), (n, n), False, False, True)


def block_of(given):
    return entries_of(given) if isinstance(given, ANY) else of_whole(given, is_array=False)


def _together(blocks, tops, lefts, shape):
    """One matrix of several, which begin at rows and columns."""
    is_array = False
    for block in blocks:
        is_array = is_array or block.is_array
    values = np.concatenate([block.values for block in blocks])
    rows = np.concatenate([block.rows + top for block, top in zip(blocks, tops, strict=True)])
    cols = np.concatenate([block.cols + left for block, left in zip(blocks, lefts, strict=True)])
    return SparseMatrix(values, rows, cols, shape, is_array)


def vstack(blocks, format=None, dtype=None):
    found = [block_of(block) for block in blocks]
    tops, top = [], 0
    for block in found:
        tops.append(top)
        top = top + block.shape[0]
    return _together(found, tops, [0] * len(found), (top, found[0].shape[1]))


def hstack(blocks, format=None, dtype=None):
    return vstack([block_of(block).T for block in blocks]).T


def block_diag(mats, format=None, dtype=None):
    found = [block_of(block) for block in mats]
    tops, lefts, top, left = [], [], 0, 0
    for block in found:
        tops.append(top)
        lefts.append(left)
        top, left = top + block.shape[0], left + block.shape[1]
    return _together(found, tops, lefts, (top, left))


def empty(beside, below):
    """A block without entries, as high as one beside it and as wide as one below."""
    none = np.zeros(0, dtype=int)
    shape = (block_of(beside).shape[0], block_of(below).shape[1])
    return SparseMatrix(np.zeros(0), none, none, shape, False, False, True)


# what is computed of them


def norm(x, ord=None, axis=None):
    if ord not in (None, "fro", "f") or axis is not None:
        raise NotImplementedError("another norm than that of Frobenius")
    return np.linalg.norm(x.merged().values)


def expm(A):
    if isinstance(A, ANY):
        return of_whole(linalg.expm(A.toarray()), is_array=A.is_array)
    return linalg.expm(A)


def expm_multiply(A, B, start=None, stop=None, num=50, endpoint=True, traceA=None):
    if start is None and stop is None:
        return _exponential_times(A, B)
    times = np.linspace(start, stop, num, endpoint=endpoint)
    return np.stack([_exponential_times(A * time, B) for time in times])


def _exponential_times(A, B):
    if isinstance(A, SparseMatrix):
        return linalg.expm(A.toarray()) @ B
    return exponential_product(A, B) if isinstance(A, ANY) else linalg.expm(A) @ B


def matrix_power(A, power):
    """By as many products; it has each place once."""
    if power < 1:
        raise NotImplementedError("a power below one")
    found = A
    for _ in range(power - 1):
        found = found @ A
    return found


def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    return linalg.solve_triangular(A.toarray(), b, lower=lower, unit_diagonal=unit_diagonal)


def inverse(A):
    return of_whole(np.linalg.inv(A.toarray()), is_array=A.is_array)
