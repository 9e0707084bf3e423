"""The type of a variable of a user's program where paths meet: numbers are promoted as Python and NumPy do it."""

from __future__ import annotations

import numpy as np

from adjoint.ir.join import Lattice
from adjoint.ir.types import BOOL, FLOAT, INT, Scalar

_ORDER = {"bool": 0, "int": 1, "float": 2, "complex": 3}
_PYTHON = {"bool": BOOL, "int": INT, "float": FLOAT, "complex": Scalar("complex")}


def _promoted(one: Scalar, other: Scalar) -> Scalar:
    kind = max(one.kind, other.kind, key=_ORDER.__getitem__)
    mine, theirs = (scalar.dtype if scalar.kind == kind else None for scalar in (one, other))
    if one.kind == other.kind:
        if mine is not None and theirs is not None:
            return Scalar(kind, np.promote_types(mine, theirs))
        return _PYTHON[kind]
    return Scalar(kind, mine if mine is not None else theirs)


join_types = Lattice(_promoted, None, mixes_tuples=False).join
"""The least type of both, None where there is none."""
