"""Sparse matrices whose entries vary, in Python: read by the compiler in place of those of SciPy."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from adjoint.runtime.numerical_methods.scipy_sparse import entries_product, entries_solution, factored_solution


class SparseMatrix:
    """Entries at rows and columns; what stands in one place adds up."""

    def __init__(self, data, rows, cols, shape):
        self.data = data
        self.rows = rows
        self.cols = cols
        self.shape = shape

    @property
    def T(self):
        return SparseMatrix(self.data, self.cols, self.rows, (self.shape[1], self.shape[0]))

    def transpose(self):
        return self.T

    def dot(self, other):
        return self @ other

    def __matmul__(self, other):
        return entries_product(self.data, other, self.rows, self.cols, self.shape)

    def __rmatmul__(self, other):
        return np.transpose(self.T @ np.transpose(other))

    def __add__(self, other):
        if isinstance(other, SparseMatrix):
            data, rows, cols = other.data, other.rows, other.cols
        else:
            entries = other.tocoo()
            data, rows, cols = np.asarray(entries.data, dtype=float), entries.row, entries.col
        places = np.concatenate([self.rows, rows]), np.concatenate([self.cols, cols])
        return SparseMatrix(np.concatenate([self.data, data]), *places, self.shape)

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return SparseMatrix(-self.data, self.rows, self.cols, self.shape)

    def __sub__(self, other):
        return self + other * -1.0

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, factor):
        return SparseMatrix(self.data * factor, self.rows, self.cols, self.shape)

    def __rmul__(self, factor):
        return SparseMatrix(factor * self.data, self.rows, self.cols, self.shape)

    def __truediv__(self, divisor):
        return SparseMatrix(self.data / divisor, self.rows, self.cols, self.shape)

    def toarray(self):
        result = np.zeros(self.shape)
        np.add.at(result, (self.rows, self.cols), self.data)
        return result

    def diagonal(self):
        result = np.zeros(min(self.shape))
        inside = self.rows == self.cols
        np.add.at(result, self.rows[inside], self.data[inside])
        return result

    def copy(self):
        return SparseMatrix(self.data.copy(), self.rows, self.cols, self.shape)

    def tocsc(self):
        return self

    def tocsr(self):
        return self

    def tocoo(self):
        return self


class Factored:
    """Stands for the factors of such a matrix, which solve systems of equations."""

    def __init__(self, matrix):
        self.matrix = matrix

    def solve(self, b, trans="N"):
        m = self.matrix
        return entries_solution(m.data, m.rows, m.cols, m.shape, b, trans != "N")


def of_entries(data, places, shape=None):
    rows, cols = places
    if shape is None:
        shape = (int(np.max(rows)) + 1, int(np.max(cols)) + 1)
    return SparseMatrix(data, rows, cols, shape)


def of_rows(data, indices, indptr, shape=None):
    count = len(indptr) - 1
    rows = np.repeat(np.arange(count), np.diff(indptr))
    return SparseMatrix(data, rows, indices, (count, int(np.max(indices)) + 1) if shape is None else shape)


def of_columns(data, indices, indptr, shape=None):
    count = len(indptr) - 1
    cols = np.repeat(np.arange(count), np.diff(indptr))
    return SparseMatrix(data, indices, cols, (int(np.max(indices)) + 1, count) if shape is None else shape)


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
    return SparseMatrix(factor * np.asarray(entries.data, dtype=float), entries.row, entries.col, matrix.shape)


def shrunk(matrix, divisor):
    return scaled(matrix, 1.0 / divisor)
