"""Which extents of arguments agree.

Shapes are not part of kinds. Where a function would compare extents again and again (``u[1:-1] + v[1:-1]`` is broadcast
if one of the two has a single row), it is compiled for those that agree at the first call, and says so where another
call differs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from adjoint.records import dataclass
from adjoint.runtime.arithmetic.fused_loops import Source

MOST_WIDER = 4
"""So many elements wider an extent may be than another one, to be told as a part of it: halos of stencils."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """``one`` is ``other`` and ``more``; ``other`` is an extent, or None for nothing: ``one`` is so much then."""

    one: Source
    other: Source | None
    more: int


def agreements(args: Sequence[Any], among: Collection[Source] | None = None) -> tuple[Agreement, ...]:
    """What holds of the extents and whole numbers of arguments, or of some of them.

    Axes that have one element are told from others by the types of a derivative; where an axis has none, nothing is
    told: there is nothing to do.
    """
    found = [(size, source) for size, source in _sizes(args) if among is None or source in among]
    if any(size == 0 for size, (_, axis) in found if axis is not None):
        return ()
    known: list[tuple[int, Source]] = []
    told: list[Agreement] = []
    for size, source in sorted(found, key=lambda each: (each[1][1] is None, each[0], each[1])):
        if size < 2:
            continue
        base = _base(size, source, known)
        if base is not None:
            told.append(Agreement(source, base[1], size - base[0]))
        if source[1] is not None:
            known.append((size, source))
    return tuple(told)


def _base(size: int, source: Source, known: Sequence[tuple[int, Source]]) -> tuple[int, Source] | None:
    """An extent that is the same, or a little smaller one of the same axis; for a number the one that is next to it."""
    same = next((each for each in known if each[0] == size), None)
    if same is not None:
        return same
    if source[1] is None:
        near = [each for each in known if abs(size - each[0]) <= MOST_WIDER]
        return min(near, key=lambda each: abs(size - each[0]), default=None)
    others = (each for each in reversed(known) if each[1][1] == source[1] and size - each[0] <= MOST_WIDER)
    return next(others, None)


def _sizes(args: Sequence[Any]) -> list[tuple[int, Source]]:
    found: list[tuple[int, Source]] = []
    for place, arg in enumerate(args):
        if isinstance(arg, np.ndarray):
            found += [(size, (place, axis)) for axis, size in enumerate(arg.shape)]
        elif type(arg) is int:
            found.append((arg, (place, None)))
    return found
