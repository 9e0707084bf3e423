"""Sparse matrices that are filled entry by entry, in Python: read by the compiler in place of those of SciPy."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from adjoint.frontend.external.sparse.definitions import ANY, SparseMatrix, _is_of_places, entries_of


class Written(SparseMatrix):
    """Entries by their places, each once: the last that was written counts."""

    __adjoint_stands_for__ = ANY

    def __init__(self, given, is_array, form):
        self.is_array = is_array
        self.kept = False
        self.single = True
        self.form = form
        self.shared = False
        self.by_rows = False
        self._where = {}
        self._values = []
        self._rows = []
        self._cols = []
        if isinstance(given, tuple):
            m, n = given
            self.shape = (m, n)
        elif isinstance(given, ANY):
            found = entries_of(given).merged()
            self.shape = found.shape
            for place in range(len(found.values)):
                self._put(int(found.rows[place]), int(found.cols[place]), found.values[place])
        else:
            array = np.atleast_2d(np.asarray(given))
            m, n = np.shape(array)
            self.shape = (m, n)
            for i in range(m):
                for j in range(n):
                    self._put(i, j, array[i, j])

    @property
    def values(self):
        return np.array(self._values) * 1.0

    @property
    def rows(self):
        return np.array(self._rows, dtype=int)

    @property
    def cols(self):
        return np.array(self._cols, dtype=int)

    def _in_order(self):
        raise NotImplementedError("entries that SciPy keeps in rows: A.tocsr()")

    def _put(self, i, j, value):
        place = i * self.shape[1] + j
        if place in self._where:
            self._values[self._where[place]] = value
        else:
            self._where[place] = len(self._values)
            self._values.append(value)
            self._rows.append(i)
            self._cols.append(j)

    def _entry(self, i, j):
        place = i * self.shape[1] + j
        return self._values[self._where[place]] if place in self._where else 0.0

    def __setitem__(self, key, value):
        if not isinstance(key, tuple) or len(key) != 2:
            raise NotImplementedError("a write of what is no entry, and no part of a row")
        m, n = self.shape
        i = _place(key[0], m)
        if _is_of_places(key):
            self._put(i, _place(key[1], n), value)
        else:
            cols = np.arange(n)[key[1]]
            parts = np.broadcast_to(value, np.shape(cols))
            for k in range(len(cols)):
                self._put(i, int(cols[k]), parts[k])

    def __imul__(self, factor):
        if np.ndim(factor) > 0:
            raise NotImplementedError("'*=' with what is no number: A = A * factor")
        for place in range(len(self._values)):
            self._values[place] = self._values[place] * factor
        return self

    def __itruediv__(self, divisor):
        if np.ndim(divisor) > 0:
            raise NotImplementedError("'/=' with what is no number: A = A / divisor")
        for place in range(len(self._values)):
            self._values[place] = self._values[place] / divisor
        return self

    def __getitem__(self, key):
        if not _is_of_places(key):
            return self.tocsr()[key]
        return self._entry(_place(key[0], self.shape[0]), _place(key[1], self.shape[1]))

    def setdiag(self, values, k=0):
        m, n = self.shape
        for place in range(min(m + min(k, 0), n - max(k, 0))):
            self._put(place - min(k, 0), place + max(k, 0), values if np.ndim(values) == 0 else values[place])

    def copy(self):
        return Written(self.tocsr(), self.is_array, self.form)

    def asformat(self, format, copy=False):
        if format == self.form and not copy:
            return self
        parts = (self.values, self.rows, self.cols, self.shape)
        return SparseMatrix(*parts, self.is_array, False, True, format)


def _place(key, count):
    if not isinstance(key, (int, np.integer)):
        raise NotImplementedError("a write of several rows at once")
    place = key + count if key < 0 else key
    if place < 0 or place >= count:
        raise IndexError("index out of range")
    return place
