"""Delayed rank-one updates of a matrix by NumPy: some at a time, as one product of matrices.

An update of its own reads and writes the whole matrix. Here the vectors are kept as rows, copied, until there is no
more room; the product of both matrices of rows is added then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.array_functions.rank_one import rank_one_update

_MOST_ROWS = 64
"""So many updates are added at a time: from there on their sum takes what its arithmetic takes."""
_SMALL = 1 << 16
"""How many numbers may be kept whatever the size of the matrix; more than that only as many as it has."""
DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


class DelayedUpdates:
    """The vectors of outer products that have still to be added to a matrix.

    Attributes
    ----------
    matrix : array of shape (n, m)
        What they will be added to.
    us, vs : array of shape (rows, n) and (rows, m), or None
        The vectors; None where each update is done at once.
    count : int
        How many there are.
    """

    __slots__ = ("count", "matrix", "us", "vs")

    def __init__(self, matrix: Any) -> None:
        self.matrix, self.count, self.us, self.vs = matrix, 0, None, None
        if type(matrix) is np.ndarray and matrix.ndim == 2 and matrix.dtype in DTYPES:
            n, m = matrix.shape
            rows = min(_MOST_ROWS, max(matrix.size, _SMALL) // max(n + m, 1))
            if rows > 1:
                self.us, self.vs = np.empty((rows, n), matrix.dtype), np.empty((rows, m), matrix.dtype)


def delayed_updates(matrix: Any) -> DelayedUpdates:
    """Room for updates of a matrix that nobody looks at until they are applied."""
    return DelayedUpdates(matrix)


def delay_update(updates: DelayedUpdates, u: Any, v: Any) -> None:
    """Adds ``np.outer(u, v)`` to the matrix, at some time.

    >>> matrix = np.zeros((2, 2))
    >>> updates = delayed_updates(matrix)
    >>> delay_update(updates, np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    >>> apply_updates(updates, matrix)
    >>> matrix
    array([[1., 0.],
           [2., 0.]])
    """
    us, vs = updates.us, updates.vs
    if us is None or vs is None or u.shape != us.shape[1:] or v.shape != vs.shape[1:]:
        rank_one_update(updates.matrix, u, v)
        return
    us[updates.count], vs[updates.count] = u, v
    updates.count += 1
    if updates.count == len(vs):
        apply_updates(updates, updates.matrix)


def delay_downdate(updates: DelayedUpdates, u: Any, v: Any) -> None:
    """Subtracts ``np.outer(u, v)`` from the matrix, at some time."""
    delay_update(updates, -u, v)


def apply_updates(updates: DelayedUpdates, matrix: Any) -> None:
    """Adds what is kept to the matrix, which may be looked at from here on."""
    count, us, vs = updates.count, updates.us, updates.vs
    if count and us is not None and vs is not None:
        matrix += us[:count].T @ vs[:count]
        updates.count = 0
