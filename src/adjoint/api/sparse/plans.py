"""Plans: by which sweeps the entries of a matrix are found, and where in the products each of them stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint.api.sparse.colouring import groups_of_columns, star_colouring
from adjoint.records import dataclass

REVERSE_COSTS = 2.0
"""How many sweeps forwards a sweep backwards is worth."""
NONE = -1
"""The group of what no sweep takes."""


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """The sweeps of a matrix of shape ``(m, n)`` with a known pattern.

    Attributes
    ----------
    forwards, backwards
        The group of each column, which one sweep forwards takes together, of shape ``(n,)``; and of each row, ``(m,)``.
    sources
        For each entry, in compressed rows, by which sweep it is found: those backwards count behind those forwards.
    places
        Where it stands in the product: at its row forwards, at its column backwards. In a symmetric matrix the entry
        may be read where it stands mirrored.
    """

    forwards: np.ndarray
    backwards: np.ndarray
    sources: np.ndarray
    places: np.ndarray

    @property
    def counts(self) -> tuple[int, int]:
        """How many sweeps there are forwards, and backwards."""
        return count_of(self.forwards), count_of(self.backwards)

    @property
    def cost(self) -> float:
        """In sweeps forwards."""
        forwards, backwards = self.counts
        return forwards + REVERSE_COSTS * backwards

    def values(self, products: Iterable[np.ndarray]) -> np.ndarray:
        """The entries, of the products that the sweeps give in their order."""
        order = np.argsort(self.sources, kind="stable")
        bounds = np.searchsorted(self.sources[order], np.arange(sum(self.counts) + 1))
        values = np.zeros(len(order))
        for sweep, product in enumerate(products):
            mine = order[bounds[sweep] : bounds[sweep + 1]]
            values[mine] = product[self.places[mine]]
        return values


def count_of(groups: np.ndarray) -> int:
    """How many groups there are."""
    return int(np.max(groups)) + 1 if len(groups) else 0


def plan_of_jacobian(pattern: Any) -> Plan:
    """The cheapest of the plans with sweeps forwards, backwards, and both; ``pattern`` is in compressed rows."""
    rows, columns = _entries(pattern)
    m, n = pattern.shape
    none_of_columns, none_of_rows = np.full(n, NONE), np.full(m, NONE)
    of_columns = groups_of_columns(pattern.tocsc())
    of_rows = groups_of_columns(pattern.T.tocsc())
    plans = [
        Plan(of_columns, none_of_rows, of_columns[columns], rows),
        Plan(none_of_columns, of_rows, of_rows[rows], columns),
    ]
    if min(plan.cost for plan in plans) > REVERSE_COSTS + 1:  # one sweep forwards and one backwards
        plans.append(_both_ways(pattern))
    return min(plans, key=lambda plan: plan.cost)


def plan_of_hessian(pattern: Any) -> Plan:
    """Sweeps forwards by a star colouring, or by groups of columns: if it is not symmetric, or has no fewer colours."""
    rows, columns = _entries(pattern)
    none = np.full(pattern.shape[0], NONE)
    groups = groups_of_columns(pattern.tocsc())
    plan = Plan(groups, none, groups[columns], rows)
    if plan.cost > 2 and (pattern != pattern.T).nnz == 0:
        colours, alone = star_colouring(pattern)
        if count_of(colours) < count_of(groups):
            return Plan(colours, none, colours[np.where(alone, columns, rows)], np.where(alone, rows, columns))
    return plan


def _both_ways(pattern: Any) -> Plan:
    """Sweeps forwards and backwards by a star colouring of ``[[0, J], [J.T, 0]]``: columns first, then rows."""
    from scipy.sparse import block_array  # lazy

    rows, columns = _entries(pattern)
    n = pattern.shape[1]
    whole = block_array([[None, pattern.T], [pattern, None]], format="csr")
    whole.sort_indices()
    colours, alone = star_colouring(whole)
    of_columns, of_rows = colours[:n], colours[n:]
    entries = len(columns)
    is_forward, is_backward = alone[entries:], np.zeros(entries, bool)  # of the rows of J, of the rows of its transpose
    is_backward[np.lexsort((rows, columns))] = alone[:entries]
    is_read_forwards = _choice(is_forward, is_backward, of_columns[columns], of_rows[rows])
    forwards = _without_unread(of_columns, of_columns[columns][is_read_forwards])
    backwards = _without_unread(of_rows, of_rows[rows][~is_read_forwards])
    sources = np.where(is_read_forwards, forwards[columns], count_of(forwards) + backwards[rows])
    return Plan(forwards, backwards, sources, np.where(is_read_forwards, rows, columns))


def _choice(is_forward: np.ndarray, is_backward: np.ndarray, ahead: np.ndarray, back: np.ndarray) -> np.ndarray:
    """Which entries are read of sweeps forwards; those that may be either go where a sweep is needed anyway."""
    needed = set(ahead[is_forward & ~is_backward].tolist())
    needed_back = set(back[is_backward & ~is_forward].tolist())
    found = is_forward.copy()
    for entry in np.flatnonzero(is_forward & is_backward):
        forwards, backwards = int(ahead[entry]), int(back[entry])
        if forwards in needed:
            continue
        if backwards in needed_back:
            found[entry] = False
        else:
            needed.add(forwards)
    return found


def _without_unread(groups: np.ndarray, read: np.ndarray) -> np.ndarray:
    """The groups that are read of, numbered anew."""
    numbers = np.full(count_of(groups), NONE)
    used = np.unique(read)
    numbers[used] = np.arange(len(used))
    found: np.ndarray = numbers[groups]
    return found


def _entries(pattern: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), np.asarray(pattern.indices)
