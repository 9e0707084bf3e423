"""Sparse matrices whose entries vary, in Python: read by the compiler in place of those of SciPy."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from adjoint.runtime.numerical_methods.of_scipy.sparse import entries_product, entries_solution, factored_solution

_IN_ORDER = (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.csc_array, sp.coo_array)
"""Classes of matrices whose data stand in the order of their entries."""
_SPARSE = (sp.spmatrix, sp.sparray)


class SparseMatrix:
    """Entries at rows and columns; what stands in one place adds up.

    SciPy puts entries in an order of its own, and adds up: ``kept`` is whether they are still as they were given.
    """

    def __init__(self, values, rows, cols, shape, kept=False):
        self.values = values
        self.rows = rows
        self.cols = cols
        self.shape = shape
        self.kept = kept

    @property
    def data(self):
        if not self.kept:
            raise NotImplementedError("entries of a sparse matrix that SciPy has put in another order")
        return self.values

    @property
    def T(self):
        return SparseMatrix(self.values, self.cols, self.rows, (self.shape[1], self.shape[0]), self.kept)

    def transpose(self):
        return self.T

    def dot(self, other):
        return self @ other

    def __matmul__(self, other):
        if isinstance(other, (SparseMatrix, *_SPARSE)):
            raise NotImplementedError("a product of two sparse matrices")
        return entries_product(self.values, other, self.rows, self.cols, self.shape)

    def __rmatmul__(self, other):
        return np.transpose(self.T @ np.transpose(other))

    def __add__(self, other):
        if isinstance(other, SparseMatrix):
            values, rows, cols = other.values, other.rows, other.cols
        elif not isinstance(other, _SPARSE):
            raise NotImplementedError("an array that is not sparse: add it to .toarray()")
        else:
            entries = other.tocoo()
            values, rows, cols = np.asarray(entries.data, dtype=float), entries.row, entries.col
        places = np.concatenate([self.rows, rows]), np.concatenate([self.cols, cols])
        return SparseMatrix(np.concatenate([self.values, values]), *places, self.shape)

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return self._with(-self.values)

    def __sub__(self, other):
        return self + other * -1.0

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, factor):
        return self._with(self.values * _number(factor))

    def __rmul__(self, factor):
        return self._with(_number(factor) * self.values)

    def __truediv__(self, divisor):
        return self._with(self.values / _number(divisor))

    def _with(self, values):
        return SparseMatrix(values, self.rows, self.cols, self.shape, self.kept)

    def sum(self, axis=None):
        if axis is not None:
            raise NotImplementedError("an axis, along which a matrix gives a matrix")
        return np.sum(self.values)

    def mean(self, axis=None):
        return self.sum(axis) / (self.shape[0] * self.shape[1])

    def multiply(self, other):
        if isinstance(other, (SparseMatrix, *_SPARSE)):
            raise NotImplementedError("a sparse matrix")
        factors = np.broadcast_to(other, self.shape)[self.rows, self.cols]
        return SparseMatrix(self.values * factors, self.rows, self.cols, self.shape)

    def toarray(self):
        result = np.zeros(self.shape)
        np.add.at(result, (self.rows, self.cols), self.values)
        return result

    def diagonal(self):
        result = np.zeros(min(self.shape))
        inside = self.rows == self.cols
        np.add.at(result, self.rows[inside], self.values[inside])
        return result

    def trace(self):
        return np.sum(self.diagonal())

    def copy(self):
        return self._with(self.values.copy())

    def tocsc(self):
        return SparseMatrix(self.values, self.rows, self.cols, self.shape)

    def tocsr(self):
        return self.tocsc()

    def tocoo(self):
        return self.tocsc()


def _number(factor):
    """By what all entries are multiplied; what ``*`` is for arrays depends on the class of the matrix."""
    if isinstance(factor, (SparseMatrix, *_SPARSE)) or np.ndim(factor) != 0:
        raise NotImplementedError("'*' or '/' and an array or a matrix: write '@', or multiply the array")
    return factor


class Factored:
    """Stands for the factors of such a matrix, which solve systems of equations."""

    def __init__(self, matrix):
        self.matrix = matrix

    def solve(self, b, trans="N"):
        m = self.matrix
        return entries_solution(m.values, m.rows, m.cols, m.shape, b, trans != "N")


def of_entries(data, places, shape=None):
    rows, cols = places
    if shape is None:
        shape = (int(np.max(rows)) + 1, int(np.max(cols)) + 1)
    return SparseMatrix(data, rows, cols, shape)


def of_entries_kept(data, places, shape=None):
    made = of_entries(data, places, shape)
    return SparseMatrix(data, made.rows, made.cols, made.shape, True)


def of_rows(data, indices, indptr, shape=None):
    count = len(indptr) - 1
    rows = np.repeat(np.arange(count), np.diff(indptr))
    return SparseMatrix(data, rows, indices, (count, int(np.max(indices)) + 1) if shape is None else shape, True)


def of_columns(data, indices, indptr, shape=None):
    count = len(indptr) - 1
    cols = np.repeat(np.arange(count), np.diff(indptr))
    return SparseMatrix(data, indices, cols, (int(np.max(indices)) + 1, count) if shape is None else shape, True)


def of_diagonals(diagonals, offsets, shape=None):
    rows, cols = [], []
    for values, offset in zip(diagonals, offsets):  # noqa: B905
        along = np.arange(len(values))
        rows.append(along + max(-offset, 0))
        cols.append(along + max(offset, 0))
    if shape is None:
        size = len(diagonals[0]) + abs(offsets[0])
        shape = (size, size)
    return SparseMatrix(np.concatenate(diagonals), np.concatenate(rows), np.concatenate(cols), shape)


def solve(matrix, b):
    return Factored(matrix).solve(b)


def factorized(matrix):
    return Factored(matrix).solve


def solve_with(factors, b, trans="N"):
    """``factors.solve(b, trans)`` of a matrix that does not vary."""
    return factored_solution(factors, b, trans != "N")


def scaled(matrix, factor):
    """A matrix that does not vary times a number that may."""
    entries = matrix.tocoo()
    values = factor * np.asarray(entries.data, dtype=float)
    return SparseMatrix(values, entries.row, entries.col, matrix.shape, isinstance(matrix, _IN_ORDER))


def shrunk(matrix, divisor):
    return scaled(matrix, 1.0 / divisor)
