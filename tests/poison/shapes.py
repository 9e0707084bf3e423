"""Shapes that a program claims of its arrays before it runs, compared with those that they have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents, Shape
from poison.outside import Poisoned


@dataclass(frozen=True)
class Claims:
    """The shapes of variables, and which indices of loops those of other loops stand for in them."""

    shapes: Mapping[ir.Var, Shape] = field(default_factory=dict)
    mirrored: Mapping[ir.Var, ir.Var] = field(default_factory=dict)


def claimed(function: ir.Function) -> Claims:
    """What is claimed of the arrays of a function."""
    found = Extents(function)
    return Claims(found.shapes, found.tapes.mirrored)


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
            known = _whole(inner, values)
            return None if known is None else max(known - count, 0)
        case ("number", _) | ("sum", *_):
            known = _whole(extent, values)
            return None if known is None else max(known, 0)
        case ("slice", inner, *bounds):
            known, numbers = _number(inner, values), [_bound(bound, values) for bound in bounds]
            if known is None or _UNKNOWN in numbers:
                return None
            return len(range(*slice(*numbers).indices(known)))
        case ("broadcast", *parts):
            found = [_number(part, values) for part in parts]
            return None if None in found else next((each for each in found if each != 1), 1)
        case ("count", ir.Var() as mask) if isinstance(known := dict.get(values, mask), np.ndarray):
            return int(np.count_nonzero(known))
    return None


_UNKNOWN = object()


def _bound(bound: Any, values: dict[ir.Var, Any]) -> Any:
    """The bound of a slice that a term tells."""
    if isinstance(bound, ir.Const):
        return bound.value
    known = dict.get(values, bound, _UNKNOWN) if isinstance(bound, ir.Var) else _whole(bound, values)
    return _UNKNOWN if known is None else known


def _whole(term: Hashable, values: dict[ir.Var, Any]) -> int | None:
    """A whole number that may be negative."""
    match term:
        case ("number", ir.Var() as var):
            known = dict.get(values, var)
            return int(known) if isinstance(known, (int, np.integer)) else None
        case ("sum", int() as constant, *terms):
            found = [(_whole(symbol, values), times) for symbol, times in terms]
            return None if any(each is None for each, _ in found) else constant + sum(a * b for a, b in found)
    return _number(term, values)
