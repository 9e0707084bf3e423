"""The shapes of what keys select of arrays: slices, masks, and arrays of places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.terms import ONE, Extent, less
from adjoint.ir.walk import is_basic

if TYPE_CHECKING:
    from adjoint.analysis.shapes.extents import Extents, Shape


def selected_shape(known: Extents, shape: Shape, items: Sequence[ir.Atom | ir.Slice]) -> Shape | None:
    """The shape of what basic indices select, or a mask beside slices, or arrays of places."""
    if items and all(map(_is_of_places, items)):
        places = known.broadcast([known.of(item) for item in items])  # type: ignore[arg-type]
        return None if places is None or len(items) > len(shape) else (*places, *shape[len(items) :])
    result: list[Extent] = []
    axis = 0
    taken = sum(_mask_rank(item) or 1 for item in items if item not in (ir.Const(None), ir.Const(Ellipsis)))
    may_mask = all(isinstance(item, (ir.Slice, ir.Const)) or is_mask(item) for item in items)
    for item in items:
        match item:
            case ir.Slice():
                if axis >= len(shape):
                    return None
                result.append(_sliced(known, shape[axis], item))
                axis += 1
            case ir.Const(value=None):
                result.append(ONE)
            case ir.Const(value=value) if value is Ellipsis:
                skipped = len(shape) - taken
                result += shape[axis : axis + skipped]
                axis += skipped
            case _ if is_basic(item):
                axis += 1
            case ir.Var() if may_mask and sum(map(is_mask, items)) == 1:
                result.append(known.masks.get(item, ("count", item)))
                axis += _mask_rank(item)
            case _:
                return None
    return None if axis > len(shape) else (*result, *shape[axis:])


def _sliced(known: Extents, extent: Extent, part: ir.Slice) -> Extent:
    """The term of what a slice selects of an axis."""
    unknown = ("slice", extent, known.whole.bound(part.lower), known.whole.bound(part.upper), part.step)
    if part.step not in (ir.Const(None), ir.Const(1)):
        return unknown
    start, stop = (bound.value if isinstance(bound, ir.Const) else bound for bound in (part.lower, part.upper))
    if (start is None or (type(start) is int and start >= 0)) and (stop is None or (type(stop) is int and stop < 0)):
        return less(extent, (start or 0) - (stop or 0))
    found = known.whole.window(extent, part)
    if found is None and (start is None or (type(start) is int and start >= 0)):
        found = known.whole.up_to_the_end(extent, start or 0, part.upper)
    return unknown if found is None else found


def _is_of_places(item: ir.Atom | ir.Slice) -> bool:
    """Whether an index is an array of integers."""
    type_ = item.type if isinstance(item, ir.Var) else None
    return isinstance(type_, ir.Array) and type_.dtype is not None and type_.dtype.kind in "iu"


def is_mask(item: object) -> bool:
    """Whether an index is an array of truths that stay as they are."""
    return _mask_rank(item) > 0


def _mask_rank(item: object) -> int:
    """Of how many axes a mask selects elements, whose truths stay as they are; 0 for anything else."""
    type_ = getattr(item, "type", None)
    if not isinstance(type_, ir.Array) or type_.dtype != np.bool_ or type_.dims is None or type_.storage.written:
        return 0
    return len(type_.dims)
