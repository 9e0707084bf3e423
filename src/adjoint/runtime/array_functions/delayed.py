"""Products that a loop adds to one matrix in each iteration, some at a time: delayed updates.

Vectors of outer products are kept as rows. Where there is no more room, all that are kept are one product of matrices,
which reads and writes the matrix once. Products of one matrix with a vector, which become columns or rows, are kept as
that vector. Where a part of the matrix was meant, the rest of a row is zero.

Nothing here looks at what the matrix holds; so whoever reads it calls ``add_delayed`` before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_ROWS = 128
"""So many products are added at a time."""
FEWEST_ROWS = 8
"""Fewer are not worth to be kept; nor is it worth it to keep more numbers than the matrix has."""


def rows_to_keep(n: int, m: int) -> int:
    """How many products are kept of an ``n`` by ``m`` matrix.

    >>> rows_to_keep(1000, 500), rows_to_keep(4, 4)
    (128, 0)
    """
    rows = min(MOST_ROWS, n * m // max(n + m, 1))
    return rows if rows >= FEWEST_ROWS else 0


def room_for_outer(matrix: Any) -> Any:
    """Room for the vectors of outer products: the two of each, and which part of the matrix they are for."""
    n, m = np.shape(matrix)
    rows = rows_to_keep(n, m)
    return np.empty((rows, n), matrix.dtype), np.empty((rows, m), matrix.dtype), np.zeros((rows + 1, 4), np.int64)


def room_for_lines(matrix: Any, factor: Any) -> Any:
    """Room for the vectors with which ``factor`` is multiplied, and for which lines of the matrix the products are."""
    rows = rows_to_keep(*np.shape(factor))
    return np.empty((rows, np.shape(factor)[1]), matrix.dtype), np.zeros((rows + 1, 5), np.int64)


def add_outer(matrix: Any, part: Any, u: Any, v: Any, takes: bool, us: Any, vs: Any, spans: Any) -> None:
    """Adds the outer product of two vectors to a part of a matrix, or takes it, at some time."""
    del matrix, us, vs, spans  # they are machine code's
    if takes:
        part -= np.outer(u, v)
    else:
        part += np.outer(u, v)


def add_rows(matrix: Any, part: Any, x: Any, y: Any, takes: bool, us: Any, vs: Any, spans: Any) -> None:
    """Adds ``x.T @ y`` to a part of a matrix, or takes it, at some time: as many outer products as there are rows."""
    del matrix, us, vs, spans
    if takes:
        part -= x.T @ y
    else:
        part += x.T @ y


def add_line(matrix: Any, part: Any, factor: Any, a: Any, v: Any, takes: bool, vs: Any, spans: Any) -> None:
    """Adds ``a @ v`` to a line of a matrix, or takes it, at some time, where ``a`` is a part of ``factor``."""
    del matrix, factor, vs, spans
    if takes:
        part -= a @ v
    else:
        part += a @ v


def add_delayed(matrix: Any, us: Any, vs: Any, spans: Any) -> None:
    """Adds the outer products that are kept."""
    del matrix, us, vs, spans


def add_delayed_lines(matrix: Any, factor: Any, vs: Any, spans: Any) -> None:
    """Adds the lines that are kept."""
    del matrix, factor, vs, spans
