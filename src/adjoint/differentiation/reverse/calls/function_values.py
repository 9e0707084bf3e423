"""Function values that are known only at run time, in reverse mode: the pullback of each call; and without any mode."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.cotangents import Scope
from adjoint.differentiation.reverse.region import is_zero
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.runtime.functions import called, pulled_back, with_pullback

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.statements import Reverser


def write_call(builder: Builder, call: ir.Call, read: Set[ir.Atom], outside_is_written: bool) -> None:
    """Writes out a call: with its pullback only where somebody reads that.

    Where memory of the arguments or of the values is written, the values must not lie in that of the arguments; where
    that of the values is, or memory from outside, nor in what the function captured.
    """
    *values, pullback = call.targets
    written = [ir.is_handle(type_of_atom(atom)) for atom in (*values, *call.args)]
    asked = {"apart": any(written), "made": any(written[: len(values)]) or outside_is_written}
    kwargs = tuple([(name, ir.Const(True)) for name, holds in asked.items() if holds])
    if pullback in read:
        builder.emit(ir.Call(call.targets, with_pullback, call.args, kwargs, call.span))
    else:
        builder.emit(ir.Call(tuple(values), called, call.args, kwargs, call.span))


def reverse_applied(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """Adds to the cotangents of the arguments what the pullback of the call gives."""
    applied: ir.Applied = call.callee
    *values, pullback = call.targets
    if not any(map(reverser.active, values)):
        return
    cotangents = [reverser.take(scope, value) for value in values]
    if all(cotangent is None or is_zero(cotangent) for cotangent in cotangents):
        return
    sweep = scope.sweep
    seeds = [
        reverser.context.zero(sweep, value) if cotangent is None else cotangent
        for value, cotangent in zip(values, cotangents, strict=True)
    ]
    args = [call.args[place] for place in applied.places]
    bars = tuple(ir.Var(_hint(arg), ir.fresh(type_of_atom(arg) or ir.OPAQUE)) for arg in args)
    sweep.emit(ir.Call(bars, pulled_back, (pullback, *seeds), (), call.span))
    for arg, bar in zip(args, bars, strict=True):
        reverser.add(scope, arg, bar, shaped=True)


def _hint(arg: ir.Atom) -> str:
    return f"{arg.hint}_bar" if isinstance(arg, ir.Var) else "t_bar"
