"""Arrays that are made of several, in machine code: the many names of two functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.codegen.expressions import lookup
from adjoint.native.legalize.arrays.indices import rank_of
from adjoint.runtime.array_functions import plain, sequences

_PARTS: dict[Any, Any] = {
    sequences.beside_part: sequences.hstack_of,
    sequences.rows_part: sequences.vstack_of,
    sequences.columns_part: sequences.column_stack_of,
}


def joined(call: ir.Call) -> ir.Call | None:
    """What makes the same array as a call, or takes it apart; None if it is another call, or its ranks are unknown."""
    if call.callee in (sequences.concatenate_of, sequences.stack_of):
        if any(name != "axis" for name, _ in call.kwargs):
            return None
        axis = next((axis for _, axis in call.kwargs), ir.Const(0))
        return _made(call, call.callee is sequences.stack_of, axis, call.args)
    if call.callee in (sequences.hstack_of, sequences.vstack_of, sequences.column_stack_of):
        form = _form(call.callee, call.args)
        return None if form is None else _made(call, *form, call.args)
    joins = lookup(_PARTS, call.callee)
    if joins is None:
        return None
    ct, place, *arrays = call.args
    form = _form(joins, arrays)
    if form is None or not isinstance(place, ir.Const):
        return None
    stacks, axis = form
    if stacks:
        return ir.Call(call.targets, sequences.stacked_part, (ct, place, axis, arrays[place.value]), (), call.span)
    return ir.Call(call.targets, sequences.concatenated_part, (ct, place, axis, *arrays), (), call.span)


def _made(call: ir.Call, stacks: bool, axis: ir.Atom, arrays: Sequence[ir.Atom]) -> ir.Call | None:
    if not isinstance(axis, ir.Const) or any(rank_of(array) is None for array in arrays):
        return None
    return ir.Call(call.targets, plain.stacked if stacks else plain.joined, (axis, *arrays), (), call.span)


def _form(callee: Any, arrays: Sequence[ir.Atom]) -> tuple[bool, ir.Const] | None:
    """Whether arrays are laid along a new axis, and which."""
    ranks = {rank_of(array) for array in arrays}
    if len(ranks) != 1:
        return None
    (rank,) = ranks
    if not rank:
        return None
    if callee is sequences.hstack_of:
        return False, ir.Const(0 if rank == 1 else 1)
    if callee is sequences.vstack_of:
        return rank == 1, ir.Const(0)
    return rank == 1, ir.Const(1)
