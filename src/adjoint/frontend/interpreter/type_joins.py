"""The type of a variable of a user's program where paths meet: numbers are promoted as Python and NumPy do it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from adjoint import ir
from adjoint.ir.join import Lattice

_ORDER = {"bool": 0, "int": 1, "float": 2, "complex": 3}
_PYTHON = {"bool": ir.BOOL, "int": ir.INT, "float": ir.FLOAT, "complex": ir.Scalar("complex")}


class Owners:
    """Whether a number of Python and one of NumPy have met in a variable, and whether the type of such a one says so.

    Most programs never ask whose number it is, so that it counts as one of Python.
    """

    __slots__ = ("are_told_apart", "have_met")

    def __init__(self, are_told_apart: bool) -> None:
        self.are_told_apart = are_told_apart
        self.have_met = False


_owners: ContextVar[Owners | None] = ContextVar("owners of numbers", default=None)


@contextmanager
def watched(are_told_apart: bool) -> Iterator[Owners]:
    """Joins of numbers meanwhile."""
    owners = Owners(are_told_apart)
    token = _owners.set(owners)
    try:
        yield owners
    finally:
        _owners.reset(token)


def _promoted(one: ir.Scalar, other: ir.Scalar) -> ir.Type:
    kind = max(one.kind, other.kind, key=_ORDER.__getitem__)
    mine, theirs = (scalar.dtype if scalar.kind == kind else None for scalar in (one, other))
    if one.kind == other.kind:
        owners = _owners.get()
        if owners is not None and not ir.same_dtype(mine, theirs):
            owners.have_met = True
            if owners.are_told_apart:
                return ir.Number()
        if mine is not None and theirs is not None:
            return ir.Scalar(kind, np.promote_types(mine, theirs))
        return _PYTHON[kind]
    return ir.Scalar(kind, mine if mine is not None else theirs)


join_types = Lattice(_promoted, None, mixes_tuples=False).join
"""The least type of both, None where there is none."""
