"""Declared derivatives in forward mode: the differential, or the transpose of a pullback that is linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.linearity import is_linear
from adjoint.analysis.effects import is_shared_and_written
from adjoint.diagnostics import DifferentiationError, error
from adjoint.differentiation.forward.tangent_rules import TangentRules
from adjoint.differentiation.surgery import HELPS_SHARED, is_sole, leaves_alone, without_pullback
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import inline

Bind = Callable[[ir.Var], ir.Var]

NOT_LINEAR = (
    "make the pullback linear in its cotangent: sums, and products with what does not depend on it",
    "or declare forward mode, too: @ad.differential_of(fn)",
)


_NOT_LINEAR_SURGERY = (
    "make the function linear in the cotangent: sums, and products with what does not depend on it",
    "or differentiate in reverse mode: ad.grad, ad.vjp",
)


def _not_linear(declared: ir.Declared, call: ir.Call) -> DifferentiationError:
    if isinstance(declared, ir.Surgery):
        label = "forward mode has no cotangents: the function is transposed here, and is not known to be linear"
        return error("AD0208", call.span, label, helps=_NOT_LINEAR_SURGERY, name=declared.name)
    label = f"the declared pullback of {declared.name!r} is transposed, and is not known to be linear"
    return error("AD0208", call.span, label, helps=NOT_LINEAR, name=declared.name)


def forward_declared(builder: Builder, call: ir.Call, rules: TangentRules, bind: Bind) -> None:
    """Emits a call and the tangents of its results."""
    declared: ir.Declared = call.callee
    builder.emit(without_pullback(call) if isinstance(declared, ir.Surgery) else call)
    active = [target for target in call.targets if rules.found.active(target)]
    args = declared.arguments_of(call)
    moved = [place for place, arg in enumerate(args) if rules.dot(arg) is not None]
    if active and is_shared_and_written(call) and not is_sole(declared):
        helps = HELPS_SHARED if isinstance(declared, ir.Surgery) else None
        raise error("AD0303", call.span, f"what {declared.name!r} returns is not its own, and is written", helps=helps)
    for name, arg in zip(declared.excluded, declared.excluded_of(call), strict=True):
        if rules.dot(arg) is not None and active:
            raise error("AD0204", call.span, excluded(declared, name), name=declared.name)
    if isinstance(declared, ir.Surgery) and moved and leaves_alone(declared):
        for arg, target in zip(args, call.targets, strict=True):
            if target in active:
                rules.dots[target] = rules.dot_or_zero(builder, arg, type_of_atom(arg))
        return
    if active and declared.differential is not None and any(map(_is_container, call.targets)):
        raise error("AD0303", call.span, f"{declared.name!r} returns a container, whose items are not told apart")
    made: Sequence[ir.Atom] = ()
    if active and moved:
        if declared.differential is not None:
            made = _by_differential(builder, call, rules)
        elif declared.pullback is not None:
            made = _by_pullback(builder, call, moved, rules, bind)
    dots = dict(zip([call.targets[place] for place in declared.seeds], made, strict=False))
    lent = not isinstance(declared, ir.Surgery) and any(ir.is_handle(type_of_atom(arg)) for arg in args)
    for target in active:
        dot = dots.get(target)
        if dot is None:
            rules.dots[target] = rules.fresh_shadow(builder, target)
        elif isinstance(target.type, ir.Array) and (lent or ir.is_handle(target.type)):
            copied = bind(target)
            builder.emit(ir.Call((copied,), np.copy, (dot,), (), call.span))  # it may be memory of another tangent
        else:
            rules.dots[target] = dot


def _is_container(target: ir.Var) -> bool:
    return ir.is_handle(target.type) and not isinstance(target.type, ir.Array)


def excluded(declared: ir.Declared, name: str) -> str:
    """What is wrong where an argument varies for which no derivative is declared."""
    return f"{name} varies, and the derivative that is declared for {declared.name!r} has none for it"


def _by_differential(builder: Builder, call: ir.Call, rules: TangentRules) -> tuple[ir.Atom, ...]:
    """The differential, written out."""
    declared: ir.Declared = call.callee
    assert declared.differential is not None
    dots = [rules.dot_or_zero(builder, arg, type_of_atom(arg)) for arg in declared.arguments_of(call)]
    return inline(builder, declared.differential, (*dots, *declared.of_differential(call)))


def _by_pullback(
    builder: Builder, call: ir.Call, moved: Sequence[int], rules: TangentRules, bind: Bind
) -> tuple[ir.Atom, ...]:
    """With ``x_bar = P y_bar`` the tangent is ``y_dot = P^T x_dot``.

    That is the reverse derivative of the pullback with respect to its seeds, on which it does not depend.
    """
    declared: ir.Declared = call.callee
    assert declared.pullback is not None
    args = declared.arguments_of(call)
    seeds = range(len(declared.seeds))
    if not is_linear(declared.pullback, seeds):
        raise _not_linear(declared, call)
    results = [call.targets[place] for place in declared.seeds]
    derived = ir.Derived(declared.pullback, tuple(seeds), tuple(moved))
    zeros = [rules.fresh_shadow(builder, target) for target in results]
    dots = [rules.dot_or_zero(builder, args[place], type_of_atom(args[place])) for place in moved]
    unused = tuple(ir.Var("unused", ir.fresh(type_of_atom(arg) or ir.OPAQUE)) for arg in args)
    made = tuple(
        bind(target) if rules.found.active(target) else ir.Var(f"{target.hint}_dot", rules.types.of(target.type))
        for target in results
    )
    operands = (*zeros, *declared.of_pullback(call), *dots)
    builder.emit(ir.Call((*unused, *made), derived, operands, (), call.span))
    return made
