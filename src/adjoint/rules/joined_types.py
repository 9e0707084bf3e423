"""The type of what is one of several values, as rules tell it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from adjoint import ir
from adjoint.ir.join import Lattice

_ORDER: dict[str, int] = {"bool": 0, "int": 1, "float": 2, "complex": 3}


def _wider(a: ir.Scalar, b: ir.Scalar) -> ir.Type:
    if a == b:
        return a
    if a.kind != b.kind:
        wider = max(a, b, key=lambda scalar: _ORDER[scalar.kind])
        return wider
    dtypes = {ir.FLOAT.dtype if dtype == np.dtype(float) else dtype for dtype in (a.dtype, b.dtype)}
    if a.kind in ("float", "complex") and dtypes != {None}:
        return ir.Number()
    return ir.Scalar(a.kind)


join = Lattice(_wider, None, mixes_tuples=True).join
"""The least type of both, None where there is none."""


def join_all(types: Sequence[ir.Type]) -> ir.Type | None:
    """The least type of several, OPAQUE where there is none; None for no types."""
    if not types:
        return None

    def pair(one: ir.Type, other: ir.Type) -> ir.Type:
        joined = join(one, other)
        return ir.OPAQUE if joined is None else joined

    return reduce(pair, types)
