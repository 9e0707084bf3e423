"""Declared derivatives in reverse mode: the pullback, written into the reverse region; and without any mode.

Where only a differential is declared, its reverse derivative with respect to the tangents is the pullback, if it is
linear in them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.linearity import is_linear
from adjoint.analysis.effects import is_shared_and_written, written_places
from adjoint.differentiation.forward.custom_derivatives import excluded
from adjoint.differentiation.reverse.build import reverse
from adjoint.differentiation.reverse.cotangents import Scope
from adjoint.differentiation.reverse.memory.overwritten_values import ask_originals, content
from adjoint.differentiation.reverse.normalize import normalize
from adjoint.differentiation.reverse.region import is_zero
from adjoint.differentiation.surgery import HELPS_SHARED, is_inert, is_sole
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import inline
from adjoint.ir.walk import operands, statements_in, terminators_in

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.statements import Reverser

_NOT_LINEAR = (
    "make the differential linear in its tangents: sums, and products with what does not depend on them",
    "or declare reverse mode, too: @ad.derivative_of(fn)",
)


def write_values(builder: Builder, call: ir.Call, renamed: dict[ir.Var, ir.Atom]) -> None:
    """Writes out a call as the values that its results are; what is written in place is a copy."""
    declared: ir.Declared = call.callee
    for target, value in zip(call.targets, declared.values_of(call), strict=True):
        is_written = ir.is_handle(target.type) or ir.is_handle(type_of_atom(value))
        if (
            isinstance(target.type, ir.Array)
            and is_written
            and ir.storage_of(target.type) is not ir.storage_of(type_of_atom(value))
        ):
            builder.emit(ir.Call((target,), np.copy, (value,), (("order", ir.Const("K")),), call.span))
        else:
            renamed[target] = value


def _only_cotangents_use(reverser: Reverser, written: Sequence[ir.Atom]) -> bool:
    """Whether memory that is written in the reverse sweep is used by nothing but such functions."""
    memory = {storage.find() for atom in written for storage in ir.storages(type_of_atom(atom))}
    body = reverser.context.function.body
    for node in (*statements_in(body), *terminators_in(body)):
        is_surgery = isinstance(node, ir.Call) and isinstance(node.callee, ir.Surgery)
        atoms = ir.differentiated_args(node) if isinstance(node, ir.Call) and is_surgery else operands(node)
        reached = {storage.find() for atom in atoms for storage in ir.storages(type_of_atom(atom))}
        if not memory.isdisjoint(reached):
            return False
    return True


def reverse_declared(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """Adds to the cotangents of the arguments what the declared derivative gives for those of the results."""
    declared = call.callee
    assert isinstance(declared, ir.Declared)
    if not any(map(reverser.active, call.targets)):
        return
    results = [call.targets[place] for place in declared.seeds]
    cotangents = [reverser.take(scope, target) for target in results]
    if all(cotangent is None or is_zero(cotangent) for cotangent in cotangents) and is_inert(declared):
        return
    if _is_refused(reverser, call):
        return
    sweep = scope.sweep
    start = len(sweep.nodes)
    in_place = {
        place: cotangent
        for place, (target, cotangent) in enumerate(zip(results, cotangents, strict=True))
        if is_sole(declared) and ir.is_handle(target.type) and cotangent is not None
    }
    seeds = [
        reverser.context.zero(sweep, target) if cotangent is None else cotangent
        for target, cotangent in zip(results, cotangents, strict=True)
    ]
    bars: Sequence[ir.Atom] = ()
    if declared.pullback is not None:
        bars = _by_pullback(reverser, call, scope, seeds, in_place)
    elif declared.differential is not None:
        bars = _by_differential(reverser, call, scope, seeds)
    for place, (arg, bar) in enumerate(zip(declared.arguments_of(call), bars, strict=False)):
        if place in in_place:
            sweep.store(in_place[place], ir.WHOLE, bar)
        else:
            reverser.add(scope, arg, bar, shaped=True)
    ask_originals(reverser, sweep, start)


def _is_refused(reverser: Reverser, call: ir.Call) -> bool:
    """Takes down what varies without a derivative, and what is wrong with the memory of values and of captures."""
    declared: ir.Declared = call.callee
    is_surgery = isinstance(declared, ir.Surgery)
    if any(ir.is_handle(target.type) and not isinstance(target.type, ir.Array) for target in call.targets):
        label = f"{declared.name!r} returns a container, whose items are not told apart"
        reverser.context.problem("AD0303", call.span, label)
        return True
    if is_shared_and_written(call) and not is_sole(declared):
        label = f"what {declared.name!r} returns is not its own, and is written"
        reverser.context.problem("AD0303", call.span, label, helps=HELPS_SHARED if is_surgery else None)
        return True
    for name, arg in zip(declared.excluded, declared.excluded_of(call), strict=True):
        if reverser.active(arg):
            reverser.context.problem("AD0204", call.span, excluded(declared, name), name=declared.name)
            return True
    if declared.pullback is None:
        return False
    count, kept = len(declared.seeds), declared.of_pullback(call)
    captured = [kept[place - count] for place in written_places(declared.pullback) if place >= count]
    if captured and not (is_surgery and _only_cotangents_use(reverser, captured)):
        what = "function of the cotangent" if is_surgery else f"declared pullback of {declared.name!r}"
        helps = ("let it write what nothing else in the function uses",) if is_surgery else None
        label = f"the {what} writes what it captures"
        reverser.context.problem("AD0303", call.span, label, helps=helps, name=declared.name)
        return True
    return False


def _by_pullback(
    reverser: Reverser, call: ir.Call, scope: Scope, seeds: list[ir.Atom], in_place: Container[int]
) -> Sequence[ir.Atom]:
    declared: ir.Declared = call.callee
    assert declared.pullback is not None
    sweep = scope.sweep
    written = written_places(declared.pullback)
    for place, seed in enumerate(seeds):
        if place in written or place in in_place:
            seeds[place] = sweep.call(np.copy, seed, hint="t_bar")
    residuals = [content(reverser, atom, call) for atom in declared.of_pullback(call)]
    first = len(sweep.nodes)
    bars = inline(sweep, normalize(declared.pullback), (*seeds, *residuals))
    sweep.last(first)
    return bars


def _by_differential(reverser: Reverser, call: ir.Call, scope: Scope, seeds: list[ir.Atom]) -> Sequence[ir.Atom]:
    declared: ir.Declared = call.callee
    assert declared.differential is not None
    sweep = scope.sweep
    args = declared.arguments_of(call)
    tangents = range(len(args))
    if any(ir.is_handle(type_of_atom(arg)) and not isinstance(type_of_atom(arg), ir.Array) for arg in args):
        label = f"the declared differential of {declared.name!r} takes a container, whose items are not told apart"
        helps = ("declare reverse mode, too: @ad.derivative_of(fn)",)
        reverser.context.problem("AD0208", call.span, label, helps=helps, name=declared.name)
        return ()
    if not is_linear(declared.differential, tangents):
        label = f"the declared differential of {declared.name!r} is transposed, and is not known to be linear"
        reverser.context.problem("AD0208", call.span, label, helps=_NOT_LINEAR, name=declared.name)
        return ()
    residuals = [content(reverser, atom, call) for atom in declared.of_differential(call)]
    zeros = [reverser.context.zero(sweep, arg) if isinstance(arg, ir.Var) else ir.Const(0.0) for arg in args]
    transposed = reverse(declared.differential, tuple(tangents), range(len(seeds)), target=reverser.family.target)
    first = len(sweep.nodes)
    results = inline(sweep, normalize(transposed), (*zeros, *residuals, *seeds))
    sweep.last(first)
    return results[len(results) - len(args) :]
