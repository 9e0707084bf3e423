"""Declared derivatives in reverse mode: the pullback, written into the reverse region; and without any mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjoint.ir.builder import Builder
from adjoint.ir.effects import is_shared_and_written, written_places
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Call, Const, Declared, Var
from adjoint.ir.types import Array, is_handle, storage_of
from adjoint.ir.walk import inline
from adjoint.transform.reverse.contents import ask_originals, content
from adjoint.transform.reverse.normal import normalize
from adjoint.transform.reverse.scopes import Scope
from adjoint.transform.reverse.sweep import is_zero

if TYPE_CHECKING:
    from adjoint.transform.reverse.reverser import Reverser


def write_values(builder: Builder, call: Call, renamed: dict[Var, Atom]) -> None:
    """Writes out a call as the values that its results are; what is written in place is a copy."""
    declared: Declared = call.callee
    for target, value in zip(call.targets, declared.values_of(call), strict=True):
        is_written = is_handle(target.type) or is_handle(type_of_atom(value))
        if (
            isinstance(target.type, Array)
            and is_written
            and storage_of(target.type) is not storage_of(type_of_atom(value))
        ):
            builder.emit(Call((target,), np.copy, (value,), (("order", Const("K")),), call.span))
        else:
            renamed[target] = value


def reverse_declared(reverser: Reverser, call: Call, scope: Scope) -> None:
    """Adds to the cotangents of the arguments what the declared pullback gives for those of the results."""
    declared = call.callee
    assert isinstance(declared, Declared)
    if not any(map(reverser.active, call.targets)):
        return
    if any(is_handle(target.type) and not isinstance(target.type, Array) for target in call.targets):
        label = f"{declared.name!r} returns a container, whose items are not told apart"
        reverser.context.problem("AD0303", call.span, label)
        return
    if is_shared_and_written(call):
        reverser.context.problem("AD0303", call.span, f"what {declared.name!r} returns is not its own, and is written")
        return
    results = [call.targets[place] for place in declared.seeds]
    cotangents = [reverser.take(scope, target) for target in results]
    if all(cotangent is None or is_zero(cotangent) for cotangent in cotangents):
        return
    sweep = scope.sweep
    start = len(sweep.nodes)
    seeds = [
        reverser.context.zero(sweep, target) if cotangent is None else cotangent
        for target, cotangent in zip(results, cotangents, strict=True)
    ]
    written = written_places(declared.pullback)
    for place, seed in enumerate(seeds):
        if place in written:
            seeds[place] = sweep.call(np.copy, seed, hint="t_bar")
    if any(place >= len(seeds) for place in written):
        label = f"the declared pullback of {declared.name!r} writes what it captures"
        reverser.context.problem("AD0303", call.span, label, name=declared.name)
        return
    residuals = [content(reverser, atom, call) for atom in declared.residuals_of(call)]
    first = len(sweep.nodes)
    bars = inline(sweep, normalize(declared.pullback), (*seeds, *residuals))
    sweep.last(first)
    for arg, bar in zip(call.args, bars, strict=False):
        reverser.add(scope, arg, bar, shaped=True)
    ask_originals(reverser, sweep, start)
