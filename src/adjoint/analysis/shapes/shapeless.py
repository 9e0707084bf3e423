"""What may have no shape though its type is that of arrays: nobody takes its shape for that of another.

On a path that nobody computes with, an array may have no value; the cotangent that is fitted to it is a number there,
and so is what is computed of that. Tapes hand both on.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from adjoint import ir
from adjoint.analysis.joins import joins, reached
from adjoint.analysis.shapes.shape_arguments import shape_argument
from adjoint.analysis.shapes.tapes import put_on_tape, taken_from_tape
from adjoint.analysis.undefined import may_be_undefined
from adjoint.ir.walk import operands, statements_in


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
