"""Functions that ask an argument for nothing but its shape and its kind.

The extents of an array have one form in the IR: calls of ``np.shape``, ``np.size`` and ``np.ndim``. They are printed as
``x.shape`` where ``x`` is known to be an array. What else is asked of one (``x.dtype``) is a load of an attribute.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from adjoint import ir
from adjoint.analysis.joins import joins, may_be_undefined, reached
from adjoint.analysis.shapes.tapes import put_on_tape, taken_from_tape
from adjoint.ir.join import is_array, reads_metadata
from adjoint.ir.walk import operands, statements_in
from adjoint.runtime import cotangents, tangents
from adjoint.runtime.array_functions import arrays
from adjoint.types.classes.safe_lookups import found_in

SHAPE_ARGUMENTS = {
    arrays.unbroadcast: 1,
    cotangents.check_cotangent: 1,
    arrays.zeros_like: 0,
    arrays.zeros_in_memory: 0,
    arrays.spread: 1,
    arrays.shape_only: 0,
    arrays.restore_axes: 1,
    arrays.count: 0,
    np.zeros_like: 0,
    np.shape: 0,
    np.size: 0,
    np.ndim: 0,
    len: 0,
    tangents.shadow_or_zeros: 1,
}
"""Which argument it is, by function."""


EXTENTS = (np.shape, np.size, np.ndim, len)


def asks_about_array(node: object) -> bool:
    """Whether a statement asks an array for its extents or its kind, and neither reads nor hands on its elements."""
    match node:
        case ir.Call(callee=callee, args=(array,), kwargs=()):
            return callee in EXTENTS and is_array(array)
        case ir.Load():
            return reads_metadata(node) and is_array(node.base)
        case _:
            return False


def shape_argument(callee: Any) -> int | None:
    """The place of an argument of which a function only asks the shape."""
    return found_in(SHAPE_ARGUMENTS, callee)  # type: ignore[no-any-return]


# What may have no shape though its type is that of arrays: nobody takes its shape for that of another.
#
# On a path that nobody computes with, an array may have no value; the cotangent that is fitted to it is a number there,
# and so is what is computed of that. Tapes hand both on.


class _Place(NamedTuple):
    """A variable, and whether what is said of it is that it may be a number, or that it may have no value."""

    var: ir.Atom
    is_number: bool


def may_have_no_shape(block: ir.Block) -> set[ir.Var]:
    """The variables of a block, arrays by their types, that may have no value, or be a number, on some path."""
    undefined = may_be_undefined(block)
    if not undefined:
        return set()
    onward: dict[_Place, list[_Place]] = defaultdict(list)
    for statement in statements_in(block):
        moves: list[tuple[ir.Atom, ir.Var]] = [*joins(statement)]
        if (put := put_on_tape(statement)) is not None:
            moves.append((put[1], put[0]))
        if (taken := taken_from_tape(statement)) is not None:
            moves.append(taken)
        for source, target in moves:
            for is_number in (False, True):
                onward[_Place(source, is_number)].append(_Place(target, is_number))
        if isinstance(statement, ir.Call):
            _through(statement, onward)
    found = reached([_Place(var, False) for var in undefined], onward)
    return {place.var for place in found if isinstance(place.var, ir.Var)}


def _through(call: ir.Call, onward: dict[_Place, list[_Place]]) -> None:
    """What a call makes of numbers, and of an array without a value of which it asks the shape."""
    made = [_Place(target, True) for target in call.targets if isinstance(target.type, ir.Array)]
    place = shape_argument(call.callee)
    if place is not None and place < len(call.args):
        onward[_Place(call.args[place], False)] += made
    for arg in operands(call):
        onward[_Place(arg, True)] += made
