"""Sparse matrices whose entries vary, in Python: read by the compiler in place of those of SciPy."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from adjoint.declarations.implicit import refused
from adjoint.runtime.numerical_methods.of_scipy.sparse import (
    entries_product,
    entries_solution,
    factored_solution,
    meetings,
    merged_order,
    merged_places,
    picked_entries,
    picked_shape,
)

ANY = next(cls for cls in sp.csr_matrix.__mro__ if cls.__name__ == "_spbase")
"""The class of all sparse matrices and arrays, of which nothing more is known."""
_IN_ORDER = {
    "csr": (sp.csr_matrix, sp.csr_array),
    "csc": (sp.csc_matrix, sp.csc_array),
    "coo": (sp.coo_matrix, sp.coo_array),
}
"""Classes of matrices whose data stand in the order of their entries, by their form."""
_FORMS = ("csr", "csc", "coo", "dia", "lil", "dok", "bsr")
_MATRICES = {form: getattr(sp, f"{form}_matrix") for form in _FORMS}
_ARRAYS = {form: getattr(sp, f"{form}_array") for form in _FORMS}


class SparseMatrix:
    """Entries at rows and columns; what stands in one place adds up.

    SciPy puts entries in an order of its own, and adds up: ``kept`` is whether they are still as they were given,
    ``single`` whether no two are known to be in one place. ``is_array`` is whether it is one of SciPy's sparse arrays,
    of which ``*`` multiplies elements. ``form`` is that of SciPy's classes where it is known. What SciPy may keep in
    the same memory as something else is ``shared``, and not written. ``by_rows`` is whether SciPy has put the entries
    in the order of rows, each place once.
    """

    __adjoint_stands_for__ = ANY

    def __init__(
        self, values, rows, cols, shape, is_array, kept=False, single=False, form=None, shared=False, by_rows=False
    ):
        self.values = values
        self.rows = rows
        self.cols = cols
        self.shape = shape
        self.is_array = is_array
        self.kept = kept
        self.single = single
        self.form = form
        self.shared = shared
        self.by_rows = by_rows

    def __getattr__(self, name):
        return refused(name, "the entries of a sparse matrix that varies")

    @property  # type: ignore[misc]
    def __class__(self):
        classes = _ARRAYS if self.is_array else _MATRICES
        return classes[self.format]

    @property
    def format(self):
        if self.form is None:
            raise NotImplementedError(
                "a matrix whose format is not known: ask issparse(A), or convert it before, A.tocsr()"
            )
        return self.form

    def getformat(self):
        return self.format

    @property
    def data(self):
        self._in_order()
        return self.values

    @data.setter
    def data(self, values):
        self._in_order()
        self.values = np.asarray(values)

    def _in_order(self):
        """Puts the entries in the order that they have in SciPy's matrix."""
        if not self.kept:
            if not self.by_rows:
                raise NotImplementedError("entries of a sparse matrix that SciPy has put in another order")
            ordered = self.merged()
            self.values = ordered.values
            self.rows = ordered.rows
            self.cols = ordered.cols
            self.kept = True
            self.single = True

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def ndim(self):
        return 2

    @property
    def T(self):
        self.shared = True
        turned, form = (self.shape[1], self.shape[0]), _TURNED.get(self.form)
        parts = (self.values, self.cols, self.rows, turned)
        return SparseMatrix(*parts, self.is_array, self.kept, self.single, form, True)

    def transpose(self):
        return self.T

    def _with(self, values):
        parts = (values, self.rows, self.cols, self.shape)
        return SparseMatrix(*parts, self.is_array, self.kept, self.single, self.form)

    def _only(self, places):
        return SparseMatrix(self.values[places], self.rows[places], self.cols[places], self.shape, self.is_array)

    # what SciPy gives matrices or numbers for, and objects would be compared by their places

    def __eq__(self, other):
        raise NotImplementedError("a comparison of sparse matrices")

    def __ne__(self, other):
        raise NotImplementedError("a comparison of sparse matrices")

    def __bool__(self):
        raise ValueError("The truth value of an array with more than one element is ambiguous.")

    def __setitem__(self, key, value):
        raise NotImplementedError("an entry that is written: make a coo_matrix of lists of values, rows and columns")

    def __imul__(self, factor):
        raise NotImplementedError("'*=', which writes what other matrices may share: A = A * factor")

    def __itruediv__(self, divisor):
        raise NotImplementedError("'/=', which writes what other matrices may share: A = A / divisor")

    def merged(self):
        """The same with one entry in each place."""
        if self.single:
            return self
        places = merged_places(self.rows, self.cols, self.shape)
        values = _added_up(self.values, merged_order(self.rows, self.cols, self.shape), np.shape(places)[1])
        return SparseMatrix(values, places[0], places[1], self.shape, self.is_array, False, True)

    # products

    def dot(self, other):
        return self @ other

    def __matmul__(self, other):
        if isinstance(other, ANY):
            return _product(self, entries_of(other))
        return entries_product(self.values, other, self.rows, self.cols, self.shape)

    def __rmatmul__(self, other):
        if isinstance(other, ANY):
            return _product(entries_of(other), self)
        return np.transpose(self.T @ np.transpose(other))

    def __mul__(self, factor):
        if isinstance(factor, ANY):
            other = entries_of(factor)
            return self.multiply(other) if self.is_array or other.is_array else _product(self, other)
        if np.ndim(factor) != 0:
            return self.multiply(factor) if self.is_array else self @ factor
        return self._with(self.values * factor)

    def __rmul__(self, factor):
        if isinstance(factor, ANY):
            return entries_of(factor) * self
        if np.ndim(factor) != 0:
            return self.multiply(factor) if self.is_array else self.__rmatmul__(factor)
        return self._with(factor * self.values)

    def __truediv__(self, divisor):
        if isinstance(divisor, ANY):
            raise NotImplementedError("a sparse matrix that divides")
        return self._with(self.values / divisor) if np.ndim(divisor) == 0 else self.multiply(1.0 / divisor)

    def multiply(self, other):
        if isinstance(other, ANY):
            one, two = self, entries_of(other)
            if one.shape != two.shape:
                raise ValueError("derivatives are known of products of matrices of one shape")
            left, right = meetings(one.rows * one.shape[1] + one.cols, two.rows * one.shape[1] + two.cols)
            values = one.values[left] * two.values[right]
            both = one.is_array or two.is_array
            return SparseMatrix(values, one.rows[left], one.cols[left], self.shape, both)
        factors = np.broadcast_to(other, self.shape)[self.rows, self.cols]
        return SparseMatrix(self.values * factors, self.rows, self.cols, self.shape, self.is_array)

    def power(self, n):
        single = self.merged()
        return single._with(single.values**n)

    def __pow__(self, n):
        if self.is_array:
            return self.power(n)
        if not isinstance(n, int) or n < 1:
            raise NotImplementedError("a power that is no whole number above zero")
        product = self
        for _ in range(n - 1):
            product = _product(product, self)
        return product

    # sums

    def __add__(self, other):
        if isinstance(other, (int, float)) and other == 0:
            return self.copy()
        if not isinstance(other, ANY):
            raise NotImplementedError("an array that is not sparse: add it to .toarray()")
        more = entries_of(other)
        if self.shape != more.shape:
            raise ValueError("inconsistent shapes")
        values, is_array = np.concatenate([self.values, more.values]), self.is_array or more.is_array
        rows, cols = np.concatenate([self.rows, more.rows]), np.concatenate([self.cols, more.cols])
        return SparseMatrix(values, rows, cols, self.shape, is_array, form=_common_form(self, more))

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return self._with(-self.values)

    def __sub__(self, other):
        return self + other * -1.0

    def __rsub__(self, other):
        return -self + other

    def sum(self, axis=None):
        if axis is None:
            return np.sum(self.values)
        along_rows = axis in (0, -2)
        count = self.shape[1] if along_rows else self.shape[0]
        result = _added_up(self.values, self.cols if along_rows else self.rows, count)
        if self.is_array:
            return result
        return Sums(np.reshape(result, (1, -1) if along_rows else (-1, 1)))

    def mean(self, axis=None):
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis]
        return self._with(self.values / count).sum(axis)

    def trace(self, offset=0):
        return np.sum(self.diagonal(offset))

    # parts

    def diagonal(self, k=0):
        m, n = self.shape
        inside = np.flatnonzero(self.cols - self.rows == k)
        count = min(m + min(k, 0), n - max(k, 0))
        return _added_up(self.values[inside], self.rows[inside] + min(k, 0), count)

    def setdiag(self, values, k=0):
        if self.shared:
            raise NotImplementedError("a matrix that shares its entries with something else: A.copy()")
        m, n = self.shape
        along = np.arange(min(m + min(k, 0), n - max(k, 0)))
        if np.ndim(values) > 0 and np.size(values) != np.size(along):
            raise ValueError("derivatives are known of whole diagonals")
        rest = self._only(np.flatnonzero(self.cols - self.rows != k))
        self.values = np.concatenate([rest.values, values * np.ones(np.size(along))])
        self.rows = np.concatenate([rest.rows, along - min(k, 0)])
        self.cols = np.concatenate([rest.cols, along + max(k, 0)])
        self.kept = False

    def __getitem__(self, key):
        if _is_of_places(key):
            i, j = [k + n if k < 0 else k for k, n in zip(key, self.shape, strict=True)]
            if i >= self.shape[0] or j >= self.shape[1]:
                raise IndexError("index out of range")
            return np.sum(self.values[np.flatnonzero(np.logical_and(self.rows == i, self.cols == j))])
        if self.is_array and _has_place(key):
            raise NotImplementedError("a row or a column without the other axis: write A[[i]]")
        if _has_places(key):
            raise NotImplementedError("pairs of rows and columns, or a mask")
        single = self.merged()
        places = picked_entries(key, single.rows, single.cols, self.shape)
        m, n = picked_shape(key, self.shape)
        return SparseMatrix(single.values[places[0]], places[1], places[2], (m, n), self.is_array, False, True)

    def getrow(self, i):
        return self[[i]]

    def getcol(self, j):
        return self[:, [j]]

    def toarray(self):
        return _added_up(self.values, (self.rows, self.cols), self.shape)

    # the same in another form

    def copy(self):
        parts = (self.values.copy(), self.rows, self.cols, self.shape)
        return SparseMatrix(*parts, self.is_array, self.kept, self.single, self.form)

    def astype(self, dtype):
        return self._with(self.values.astype(dtype))

    def conj(self):
        return self._with(np.conj(self.values))

    def conjugate(self):
        return self.conj()

    def asformat(self, format, copy=False):
        if format == self.form and not copy:
            return self
        if self.form is None and not copy:
            self.shared = True
        shared = self.form is None and not copy
        parts = (self.values, self.rows, self.cols, self.shape)
        by_rows = self.kept and self.form == "coo" and format == "csr"
        return SparseMatrix(*parts, self.is_array, False, self.single, format, shared, by_rows)

    def tocsc(self, copy=False):
        return self.asformat("csc", copy)

    def tocsr(self, copy=False):
        return self.asformat("csr", copy)

    def tocoo(self, copy=False):
        return self.asformat("coo", copy)

    def todia(self, copy=False):
        return self.asformat("dia", copy)

    def tolil(self, copy=False):
        return self.asformat("lil", copy)

    def sum_duplicates(self):
        if self.kept and self.shared:
            raise NotImplementedError("a matrix that shares its entries with something else: A.copy()")
        self.kept = False

    def sort_indices(self):
        self.sum_duplicates()

    def eliminate_zeros(self):
        self.sum_duplicates()


def _added_up(values, places, shape):
    """An array of such values, of which those in one place add up."""
    result = np.zeros(shape, dtype=values.dtype)
    np.add.at(result, places, values)
    return result


_TURNED = {"csr": "csc", "csc": "csr", "coo": "coo"}
"""The form of the transpose, which shares its entries."""


def _is_place(key):
    return isinstance(key, (int, np.integer))


def _is_of_places(key):
    """Whether a key names one entry."""
    if not isinstance(key, tuple):
        return False
    if not _is_place(key[0]) or not _is_place(key[-1]):
        return False
    return len(key) == 2


def _has_place(key):
    if not isinstance(key, tuple):
        return _is_place(key)
    return _is_place(key[0]) or _is_place(key[-1])


def _has_places(key):
    """Whether a key names entries one by one, of which SciPy gives their numbers."""
    if isinstance(key, slice):
        return False
    if not isinstance(key, tuple):
        return isinstance(key, ANY) or np.ndim(key) > 1
    if isinstance(key[0], slice) or isinstance(key[-1], slice):
        return False
    return np.ndim(key[0]) == 1 and np.ndim(key[-1]) == 1


class Sums:
    """Stands for the matrix that sums along an axis are, where these are of a matrix and not of an array."""

    __adjoint_stands_for__ = np.matrix

    def __init__(self, whole):
        self.A = whole

    @property
    def A1(self):
        return np.ravel(self.A)

    def __array__(self):
        return self.A

    def __getattr__(self, name):
        return refused(name, "the elements of the matrix that these sums are: np.asarray(...) gives them")


def _product(left, right):
    if left.shape[1] != right.shape[0]:
        raise ValueError("matmul: dimension mismatch")
    before, after = meetings(left.cols, right.rows)
    values, shape = left.values[before] * right.values[after], (left.shape[0], right.shape[1])
    is_array = left.is_array or right.is_array
    product = SparseMatrix(values, left.rows[before], right.cols[after], shape, is_array).merged()
    product.form = _common_form(left, right)
    return product


def _common_form(one, two):
    """The form of a sum or a product, where it is that of both."""
    return one.form if one.form in _IN_LINES and one.form == two.form and one.is_array == two.is_array else None


_IN_LINES = ("csr", "csc")


def _form_of(matrix):
    """The form of a matrix of SciPy, as far as its class tells."""
    for form, classes in _IN_ORDER.items():
        if isinstance(matrix, classes):
            return form
    return None


def entries_of(matrix):
    """A matrix by its entries, where it may be one of SciPy's."""
    if isinstance(matrix, SparseMatrix):
        return matrix
    entries = matrix.tocoo()
    values, (m, n) = np.asarray(entries.data + 0.0), matrix.shape
    return SparseMatrix(values, entries.row, entries.col, (m, n), isinstance(matrix, sp.sparray), form=_form_of(matrix))


class Factored:
    """Stands for the factors of such a matrix, which solve systems of equations."""

    def __init__(self, matrix):
        self.matrix = matrix

    def solve(self, b, trans="N"):
        m = self.matrix
        return entries_solution(m.values, m.rows, m.cols, m.shape, b, trans != "N")

    def __getattr__(self, name):
        return refused(name, "the solutions that the factors of a sparse matrix give")


def solve(A, b, permc_spec=None, use_umfpack=True):
    if isinstance(b, ANY):
        raise NotImplementedError("a right side that is sparse")
    return entries_solution(A.values, A.rows, A.cols, A.shape, b, False, permc_spec, False)


def factorized(matrix):
    return Factored(matrix).solve


def elementwise(matrix, other):
    """``matrix.multiply(other)`` of a matrix that does not vary."""
    return entries_of(matrix).multiply(other)


def solve_with(factors, b, trans="N"):
    """``factors.solve(b, trans)`` of a matrix that does not vary."""
    return factored_solution(factors, b, trans != "N")


def scaled(matrix, factor):
    """A matrix that does not vary times a number that may."""
    found = entries_of(matrix)
    parts = (factor * found.values, found.rows, found.cols, found.shape, found.is_array)
    return SparseMatrix(*parts, found.form is not None, False, found.form)


def shrunk(matrix, divisor):
    return scaled(matrix, 1.0 / divisor)
