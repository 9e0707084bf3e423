"""Entries of a matrix in the order in which a program meets them: where they stand, and which of them count."""

from __future__ import annotations

from typing import Any

import numpy as np


def place_in(index: int, extent: int) -> int:
    """The place of an element of a vector.

    >>> place_in(-1, 4)
    3
    """
    return index + extent if index < 0 else index


def place_in_rows(row: int, column: int, rows: int, columns: int) -> int:
    """The place of an element of a matrix, row by row.

    >>> place_in_rows(1, -1, 2, 3)
    5
    """
    return place_in(row, rows) * columns + place_in(column, columns)


def start_of(lower: int, extent: int) -> int:
    """Where a slice begins.

    >>> start_of(-3, 4), start_of(-9, 4), start_of(9, 4)
    (1, 0, 4)
    """
    return max(lower + extent, 0) if lower < 0 else min(lower, extent)


def put_entry(rows: Any, cols: Any, at: int, row: int, col: int) -> None:
    """Takes down where an entry stands, as far as there is room."""
    if at < len(rows):
        rows[at] = row
        cols[at] = col


def put_store(last: Any, row: int, at: int) -> None:
    """Takes down that a result is set: what was met before does not count."""
    last[row] = at


def structure_of(
    rows: np.ndarray, cols: np.ndarray, last: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrix of some entries, in compressed rows; those that do not count lie behind the others.

    Returns
    -------
    indptr, indices
        Of the matrix.
    places
        Of each entry, in its data; ``len(indices)`` for one that does not count.

    >>> structure_of(np.array([1, 0, 1]), np.array([2, 0, 2]), np.array([0, 0]), (2, 3))
    (array([0, 1, 2]), array([0, 2]), array([1, 0, 1]))
    """
    counted = np.arange(len(rows)) >= last[rows]
    keys = rows[counted] * shape[1] + cols[counted]
    own, inverse = np.unique(keys, return_inverse=True)
    places = np.full(len(rows), len(own))
    places[counted] = inverse
    indptr = np.searchsorted(own, np.arange(shape[0] + 1) * shape[1])
    return indptr, own % shape[1] if shape[1] else own, places
