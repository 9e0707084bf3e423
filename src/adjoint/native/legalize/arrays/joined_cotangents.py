"""Cotangents of joined arrays as slices of the cotangent of the whole, which array statements are fused with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions import sequences

_NONE = ir.Const(None)


def with_slices(function: ir.Function) -> ir.Function:
    """The function in which cotangents of joined and stacked arrays are slices, where ranks and dtypes are known."""
    return _Slices().function(function)


class _Slices(Rewriting):
    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if not isinstance(statement, ir.Call) or statement.kwargs or len(statement.targets) != 1:
            return (statement,)
        rule = _RULES.get(statement.callee) if callable(statement.callee) else None
        ranks = [_rank(arg) for arg in statement.args]
        if rule is None or not ranks[0] or not _has_dtype_of_parts(statement):
            return (statement,)
        place = statement.args[1]
        found = rule(statement, ranks)
        if found is None or not isinstance(place, ir.Const):
            return (statement,)
        axis, is_stacked = found
        if is_stacked:
            return (_part(statement, axis, place),)
        builder = Builder(type_of_call, statement.span)
        parts = statement.args[_first_part(statement) :][: place.value + 1]
        extents = [builder.item(builder.call(np.shape, part), ir.Const(axis), ir.INT, "n") for part in parts]
        start: ir.Atom = ir.Const(0)
        for number, extent in enumerate(extents[:-1]):
            start = builder.call(operator.add, start, extent, hint="n") if number else extent
        stop = builder.call(operator.add, start, extents[-1], hint="n") if len(extents) > 1 else extents[0]
        return (*builder.statements, _part(statement, axis, ir.Slice(start, stop, _NONE)))


def _along(call: ir.Call, ranks: Sequence[int]) -> tuple[int, bool] | None:
    """Of ``concatenated_part(ct, place, axis, *arrays)``: the axis, and whether each array has one element there."""
    axis = call.args[2]
    if not isinstance(axis, ir.Const) or any(rank != ranks[0] for rank in ranks[3:]):
        return None
    if axis.value is None:
        return (0, False) if ranks[0] == 1 else None
    return axis.value % ranks[0], False


def _stacked(call: ir.Call, ranks: Sequence[int]) -> tuple[int, bool] | None:
    axis = call.args[2]
    if not isinstance(axis, ir.Const) or ranks[3] != ranks[0] - 1 or ranks[3] == 0:
        return None
    return axis.value % ranks[0], True


def _beside(call: ir.Call, ranks: Sequence[int]) -> tuple[int, bool] | None:
    return (min(ranks[0] - 1, 1), False) if all(rank == ranks[0] for rank in ranks[2:]) else None


def _matrices(axis: int) -> Callable[[ir.Call, Sequence[int]], tuple[int, bool] | None]:
    """Of functions that take vectors for rows or columns."""

    def rule(call: ir.Call, ranks: Sequence[int]) -> tuple[int, bool] | None:
        if ranks[0] == 2 and all(rank == 1 for rank in ranks[2:]):
            return axis, True
        return (axis, False) if all(rank == ranks[0] >= 2 for rank in ranks[2:]) else None

    return rule


_RULES: dict[Any, Callable[[ir.Call, Sequence[int]], tuple[int, bool] | None]] = {
    sequences.concatenated_part: _along,
    sequences.stacked_part: _stacked,
    sequences.beside_part: _beside,
    sequences.rows_part: _matrices(0),
    sequences.columns_part: _matrices(1),
}


def _first_part(call: ir.Call) -> int:
    return 3 if call.callee is sequences.concatenated_part else 2


def _rank(atom: ir.Atom) -> int:
    type_ = type_of_atom(atom)
    return len(type_.dims) if isinstance(type_, ir.Array) and type_.dims is not None else 0


def _has_dtype_of_parts(call: ir.Call) -> bool:
    """Whether nothing is converted: the part has the dtype of the whole."""
    mine, whole = call.targets[0].type, type_of_atom(call.args[0])
    return isinstance(mine, ir.Array) and isinstance(whole, ir.Array) and ir.same_dtype(mine.dtype, whole.dtype)


def _part(call: ir.Call, axis: int, item: ir.Atom | ir.Slice) -> ir.Load:
    return ir.Load(call.targets[0], call.args[0], ir.Subscript((*[ir.WHOLE_AXIS] * axis, item), axis > 0), call.span)
