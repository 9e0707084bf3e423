"""Sets that are unions of sets, listed as the compressed rows of a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.native.compile.kernels import compiled_loops

COMPILED_FROM = 20_000
"""How many unions take longer in Python (about .1 s) than machine code takes to be there."""


def rows_of(sets: np.ndarray, unions: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The elements of each of some sets.

    Parameters
    ----------
    sets
        The sets, as numbers (:mod:`adjoint.runtime.sets.numbers`), of shape ``(m,)``.
    unions
        Of which sets those are unions that have none but these.
    most
        How many elements are listed at most.

    Returns
    -------
    indptr, indices : numpy.ndarray
        As those of a matrix in compressed rows, from column 0 on; the columns of a row are in order.
    failed : int
        The row with which there were more than ``most``; else -1.

    >>> rows_of(np.array([3.0, 0.0, 1.0]), np.array([[1.0, 2.0], [1.0, 2.0]]), 9)
    (array([0, 2, 2, 3]), array([0, 1, 0]), -1)
    """
    args = (sets, unions, int(unions[0, 1]), int(unions[0, 0]), most)
    list_rows = compiled_loops(_list_rows, args) if len(unions) + len(sets) > COMPILED_FROM else _list_rows
    found: tuple[np.ndarray, np.ndarray, int] = list_rows(*args)
    return found


def _list_rows(sets: Any, unions: Any, n: int, made: int, most: int) -> Any:
    starts = np.zeros(len(sets) + 1, np.int64)
    found = np.empty(1024, np.int64)
    seen = np.full(n + made + 1, -1, np.int64)
    todo = np.empty(n + made + 1, np.int64)
    count = 0
    for row in range(len(sets)):
        depth = 0
        if sets[row] > 0:
            todo[0] = int(sets[row])
            seen[todo[0]] = row
            depth = 1
        first = count
        while depth > 0:
            depth -= 1
            each = todo[depth]
            if each <= n:
                if count == most:
                    return starts, found[:0], row
                if count == len(found):
                    found = np.concatenate((found, np.empty(count, np.int64)))
                found[count] = each - 1
                count += 1
                continue
            for side in range(2):
                part = int(unions[each - n, side])
                if part > 0 and seen[part] != row:
                    seen[part] = row
                    todo[depth] = part
                    depth += 1
        found[first:count].sort()
        starts[row + 1] = count
    return starts, found[:count], -1
