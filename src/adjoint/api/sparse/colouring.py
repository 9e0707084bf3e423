"""Colourings of patterns of zeros: which columns and rows one sweep may take together.

Columns without a common row need only one sweep together: their entries do not mix [1]_. In a symmetric matrix an entry
stands in two places, and one of them is enough: a star colouring, in which no path of four vertices has but two
colours, leaves one of the two alone in its sum [2]_. A matrix that is not symmetric is a part of one that is: the star
colouring of ``[[0, J], [J.T, 0]]`` tells which entries to read of sweeps forwards and which of sweeps backwards.

.. [1] Curtis, Powell, Reid, "On the estimation of sparse Jacobian matrices", J. Inst. Math. Appl. 13 (1974).
.. [2] Gebremedhin, Tarafdar, Manne, Pothen, "New acyclic and star coloring algorithms with application to computing
   Hessians", SIAM J. Sci. Comput. 29 (2007), algorithm 4.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.native.compile.kernels import compiled_loops

COMPILED_FROM = 200_000
"""How many visits of entries take longer in Python (about .3 s) than machine code takes to be there."""


def groups_of_columns(pattern: Any) -> np.ndarray:
    """A group for each column of a sparse matrix, so that no two columns of a group have a common row.

    Groups are found greedily, the fullest columns first.

    Parameters
    ----------
    pattern
        A matrix of SciPy in compressed columns, of shape ``(m, n)``.

    Returns
    -------
    numpy.ndarray
        The number of the group of each column, of shape ``(n,)``.
    """
    rows, columns = pattern.shape
    taken = np.zeros((rows, 1), dtype=np.uint64)
    groups = np.zeros(columns, dtype=np.intp)
    starts, places = pattern.indptr, pattern.indices
    for column in np.argsort(-np.diff(starts), kind="stable"):
        own = places[starts[column] : starts[column + 1]]
        word, bit = _first_free(np.bitwise_or.reduce(taken[own], axis=0))
        if word == taken.shape[1]:
            taken = np.concatenate((taken, np.zeros((rows, 1), dtype=np.uint64)), axis=1)
        taken[own, word] |= np.uint64(1) << np.uint64(bit)
        groups[column] = 64 * word + bit
    return groups


def _first_free(used: np.ndarray) -> tuple[int, int]:
    for word, bits in enumerate(used.tolist()):
        if bits != 0xFFFF_FFFF_FFFF_FFFF:
            return word, (~bits & (bits + 1)).bit_length() - 1
    return len(used), 0


def star_colouring(pattern: Any) -> tuple[np.ndarray, np.ndarray]:
    """A star colouring of a symmetric pattern, and where each entry is alone.

    Parameters
    ----------
    pattern
        A matrix of SciPy in compressed rows, of shape ``(n, n)``, that has an entry ``(j, i)`` for each ``(i, j)``.

    Returns
    -------
    colours : numpy.ndarray
        The colour of each vertex, of shape ``(n,)``; the fullest are coloured first.
    is_alone : numpy.ndarray
        For each entry ``(i, j)``, in the order of the matrix, whether it is the only one of row ``i`` in a column of
        the colour of ``j``. If it is not, ``(j, i)`` is.
    """
    starts, places = pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64)
    degrees = np.diff(starts)
    visits = float(degrees @ degrees)
    order = np.argsort(-degrees, kind="stable")
    if visits <= COMPILED_FROM:
        colours = _star(starts, places, order)
        return colours, _alone(starts, places, colours)
    colours = compiled_loops(_star, (starts, places, order))(starts, places, order)
    return colours, compiled_loops(_alone, (starts, places, colours))(starts, places, colours)


def _star(starts: Any, places: Any, order: Any) -> Any:
    count = len(starts) - 1
    colours = np.full(count, -1, np.int64)
    forbidden = np.full(count + 1, -1, np.int64)
    for v in order:
        for p in range(starts[v], starts[v + 1]):
            w = places[p]
            if w == v:
                continue
            if colours[w] >= 0:
                forbidden[colours[w]] = v
            for q in range(starts[w], starts[w + 1]):
                x = places[q]
                if x in (v, w) or colours[x] < 0:
                    continue
                if colours[w] < 0:
                    forbidden[colours[x]] = v
                elif forbidden[colours[x]] != v:
                    for r in range(starts[x], starts[x + 1]):
                        y = places[r]
                        if y != w and y != x and colours[y] == colours[w]:
                            forbidden[colours[x]] = v
                            break
        found = 0
        while forbidden[found] == v:
            found += 1
        colours[v] = found
    return colours


def _alone(starts: Any, places: Any, colours: Any) -> Any:
    alone = np.zeros(len(places), np.bool_)
    seen = np.zeros(len(starts), np.int64)
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            seen[colours[places[p]]] += 1
        for p in range(starts[i], starts[i + 1]):
            alone[p] = seen[colours[places[p]]] == 1
        for p in range(starts[i], starts[i + 1]):
            seen[colours[places[p]]] = 0
    return alone
