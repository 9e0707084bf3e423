"""Shapes that a program claims of its arrays before it runs, compared with those that they have."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents, Shape
from poison.outside import Poisoned


def claimed(function: ir.Function) -> dict[ir.Var, Shape]:
    """What is claimed of the arrays of a function."""
    return Extents(function).shapes


def compare(var: ir.Var, value: np.ndarray, claim: Shape, values: dict[ir.Var, Any]) -> None:
    """Raises where an array, when it is made, has another shape than was claimed."""
    if len(claim) != value.ndim:
        raise Poisoned(f"{var!r} has the shape {value.shape}, and {len(claim)} axes are claimed")
    for axis, extent in enumerate(claim):
        number = _number(extent, values)
        if number is not None and number != value.shape[axis]:
            raise Poisoned(f"{var!r} has the shape {value.shape}, and {number} is claimed for axis {axis}")


def _number(extent: Hashable, values: dict[ir.Var, Any]) -> int | None:
    """What a term says where variables have these values; None of a term that needs more."""
    match extent:
        case int():
            return extent
        case ("extent", var, axis):
            shape = np.shape(dict.get(values, var))
            return shape[axis] if axis < len(shape) else None
        case ("less", inner, int() as count):
            known = _number(inner, values)
            return None if known is None else max(known - count, 0)
    return None
