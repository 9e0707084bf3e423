"""The type of a variable of a user's program where paths meet: numbers are promoted as Python and NumPy do it."""

from __future__ import annotations

import numpy as np

from adjoint import ir
from adjoint.ir.join import Lattice

_ORDER = {"bool": 0, "int": 1, "float": 2, "complex": 3}
_PYTHON = {"bool": ir.BOOL, "int": ir.INT, "float": ir.FLOAT, "complex": ir.Scalar("complex")}


class TypeJoins:
    """Joins of types while a program is lowered.

    Most programs never ask whether a number is Python's or NumPy's, so that one that may be either counts as Python's;
    nor whether it is a float, so that one that may be an integer counts as a float.

    Attributes
    ----------
    are_told_apart
        Whether the type of a number that may be Python's or NumPy's says so.
    are_kinds_told_apart
        Whether the type of a number that may be a float or an integer says so.
    have_met, kinds_have_met
        Whether there was such a number.
    """

    __slots__ = ("_lattice", "are_kinds_told_apart", "are_told_apart", "have_met", "kinds_have_met")

    def __init__(self, are_told_apart: bool, are_kinds_told_apart: bool) -> None:
        self.are_told_apart, self.are_kinds_told_apart = are_told_apart, are_kinds_told_apart
        self.have_met = self.kinds_have_met = False
        self._lattice = Lattice(self._promoted, None, mixes_tuples=False)

    def join(self, one: ir.Type, other: ir.Type) -> ir.Type | None:
        """The least type of both, None where there is none."""
        return self._lattice.join(one, other)

    def _promoted(self, one: ir.Scalar, other: ir.Scalar) -> ir.Type:
        kind = max(one.kind, other.kind, key=_ORDER.__getitem__)
        mine, theirs = (scalar.dtype if scalar.kind == kind else None for scalar in (one, other))
        if one.kind == other.kind:
            if not ir.same_dtype(mine, theirs):
                self.have_met = True
                if self.are_told_apart:
                    return ir.Number()
            if mine is not None and theirs is not None:
                return ir.Scalar(kind, np.promote_types(mine, theirs))
            return _PYTHON[kind]
        self.kinds_have_met = True
        if self.are_kinds_told_apart:
            return ir.Number()
        return ir.Scalar(kind, mine if mine is not None else theirs)
