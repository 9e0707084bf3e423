"""Calls that are run again in the reverse sweep: of functions, and of loops that keep few of their states.

A loop is a function of its own (``Definition.checkpoints``). Its first half runs the iterations and keeps states; its
second half goes back from one iteration to the one before: from the last state that is kept it runs iterations again
up to there, keeping states on the way where there is room, and then that iteration and its reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.messages import communicates
from adjoint.diagnostics import Diagnostic, DifferentiationError, Span, diagnostic
from adjoint.differentiation.reverse.calls.calling_convention import Request
from adjoint.differentiation.reverse.checkpointing.loops import MOVING, Iterations
from adjoint.differentiation.reverse.checkpointing.loops_backward import Backward
from adjoint.differentiation.reverse.checkpointing.loops_forward import Forward
from adjoint.differentiation.reverse.checkpointing.recomputed_calls import Repeated, in_place
from adjoint.differentiation.reverse.cotangents import cotangent_var
from adjoint.ir.checked import checked
from adjoint.ir.rebuild import clone_function
from adjoint.ir.walk import statements_in
from adjoint.rules.helpers.structures import CHECKS
from adjoint.rules.registry import exchanges

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family
    from adjoint.differentiation.reverse.cotangents import Scope
    from adjoint.differentiation.reverse.statements import Reverser


def reverse_checkpointed(reverser: Reverser, call: ir.Call, scope: Scope, request: Request) -> None:
    """The reverse of a call that is run again; arrays' cotangents accumulate in the memory of the caller."""
    if request.moves_shadows:
        reverser.context.problem("AD0309", call.span, MOVING)
        return
    targets = [call.targets[place] for place in request.outputs]
    cotangents = [reverser.take(scope, target) for target in targets]
    varying = list(dict.fromkeys(arg for place in request.wrt if isinstance(arg := call.args[place], ir.Var)))
    references = [
        arg for place in request.wrt if isinstance(arg := call.args[place], ir.Var) and ir.is_handle(arg.type)
    ]
    if not varying or not (references or any(cotangent is not None for cotangent in cotangents)):
        if communicates(call.callee):
            reverser.context.problem("AD0309", call.span, "messages are exchanged here, and nothing varies")
        return
    halves = reverser.family.of(request)
    residual = ir.Var("residual", ir.OPAQUE)
    reverser.bind_at(residual, call, after=True)
    reverser.context.packs.add(residual)
    reverser.context.edits.replace[id(call)] = ir.Call(
        (*call.targets, residual), halves.primal, call.args, (), call.span
    )
    zero, sweep = reverser.context.zero, scope.sweep
    seeds = [
        zero(sweep, target) if cotangent is None else cotangent
        for target, cotangent in zip(targets, cotangents, strict=True)
    ]
    assert isinstance(call.callee, ir.Definition)
    assert call.callee.function is not None
    params = call.callee.function.params
    given = [(params[place], arg) for place in request.wrt if isinstance(arg := call.args[place], ir.Var)]
    values = [arg for param, arg in given if not in_place(param)]
    before: list[ir.Atom] = []
    for value in values:  # one that is handed over twice has its cotangent added up in the first
        known = scope.get(value) if _is_first(values, len(before)) else None
        before.append(zero(sweep, value) if known is None else known)
    lent = [arg for param, arg in given if in_place(param)]
    memory = [reverser.shadows.of(arg) if ir.is_handle(arg.type) else reverser.memory(arg) for arg in lent]
    shadows = [own for own in memory if own is not None]
    after = tuple(map(cotangent_var, values))
    sweep.emit(ir.Call(after, halves.adjoint, (residual, *before, *seeds, *shadows), (), call.span))
    for place, (value, total) in enumerate(zip(values, after, strict=True)):
        if _is_first(values, place):
            scope.set(value, total)
        else:
            reverser.add(scope, value, total)


def _is_first(values: Sequence[ir.Var], place: int) -> bool:
    """Whether the cotangent so far of a value is handed over: of a number, where it is handed over first."""
    return not in_place(values[place]) and values.index(values[place]) == place


def split_checkpointed(request: Request, family: Family) -> tuple[ir.Function, ir.Function]:
    """The halves of what is run again.

    The first takes what the function does, and gives the results and what the second needs. The second takes that,
    the cotangents so far of the numbers among the parameters, those of the outputs, and the memory in which the
    cotangents of arrays and references accumulate; it gives the cotangents of the numbers.
    """
    function = request.definition.function
    assert function is not None
    _check_repeatable(function, set())
    checkpoints = request.definition.checkpoints
    assert checkpoints is not None
    written = family.treatments[request.definition].arguments
    if not checkpoints.options:
        made = Repeated(function, request, family, written).halves()
    else:
        loop = Iterations(function, request, family, written, checkpoints)
        whole = loop.whole()
        made = (
            Forward(loop).function(f"{function.name}_primal"),
            Backward(loop, whole).function(f"{function.name}_adjoint"),
        )
    primal, adjoint = made
    return checked(clone_function(primal), "primal"), checked(clone_function(adjoint), "adjoint")


def _check_repeatable(function: ir.Function, seen: set[ir.Function]) -> None:
    """Refuses what does something else when it is run again, or something that others see."""
    seen.add(function)
    for statement in statements_in(function.body):
        if not isinstance(statement, ir.Call):
            continue
        callee = statement.callee
        if isinstance(callee, (ir.Definition, ir.Derived, ir.Function)):
            inner = callee if isinstance(callee, ir.Function) else callee.function
            if inner is not None and inner not in seen:
                _check_repeatable(inner, seen)
            continue
        if isinstance(callee, ir.Applied):
            continue  # it writes no memory that others see: else it is refused when it runs
        if callee in CHECKS or exchanges(callee):  # which all processes run again
            continue
        found = effects_of(statement)
        if not found.known or not (found.pure or found.confined):
            raise DifferentiationError(_not_repeatable(statement.span))


def _not_repeatable(span: Span | None) -> Diagnostic:
    return diagnostic("AD0309", span, "this may do something else, or something that others see, when it is run again")


__all__ = ["reverse_checkpointed", "split_checkpointed"]
