"""Declared derivatives in forward mode: the pullback, which is linear in its cotangent, is transposed."""

from __future__ import annotations

from collections.abc import Callable

from adjoint.analysis.linearity import is_linear
from adjoint.diagnostics import DifferentiationError, error
from adjoint.ir.builder import Builder
from adjoint.ir.effects import is_shared_and_written
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Call, Declared, Derived, Surgery, Var
from adjoint.ir.types import OPAQUE, fresh
from adjoint.transform.surgery import HELPS_SHARED, is_sole, leaves_alone, without_pullback
from adjoint.transform.tangent_rules import TangentRules

Bind = Callable[[Var], Var]

_NOT_LINEAR = (
    "make the pullback linear in its cotangent: sums, and products with what does not depend on it",
    "or use adjoint.rules.general, which declares forward mode, too",
)


_NOT_LINEAR_SURGERY = (
    "make the function linear in the cotangent: sums, and products with what does not depend on it",
    "or differentiate in reverse mode: ad.grad, ad.vjp",
)


def _not_linear(declared: Declared, call: Call) -> DifferentiationError:
    if isinstance(declared, Surgery):
        label = "forward mode has no cotangents: the function is transposed here, and is not known to be linear"
        return error("AD0204", call.span, label, helps=_NOT_LINEAR_SURGERY, name=declared.name)
    label = f"the declared pullback of {declared.name!r} is transposed here, and is not known to be linear"
    return error("AD0204", call.span, label, helps=_NOT_LINEAR, name=declared.name)


def forward_declared(builder: Builder, call: Call, rules: TangentRules, bind: Bind) -> None:
    """Emits a call and the tangents of its results.

    With ``x_bar = P y_bar`` the tangent is ``y_dot = P^T x_dot``: the reverse derivative of the pullback with respect
    to its seeds, which does not depend on them.
    """
    declared: Declared = call.callee
    builder.emit(without_pullback(call) if isinstance(declared, Surgery) else call)
    active = [target for target in call.targets if rules.found.active(target)]
    args = call.args[: declared.arguments]
    moved = [place for place, arg in enumerate(args) if rules.dot(arg) is not None]
    if active and is_shared_and_written(call) and not is_sole(declared):
        helps = HELPS_SHARED if isinstance(declared, Surgery) else None
        raise error("AD0303", call.span, f"what {declared.name!r} returns is not its own, and is written", helps=helps)
    if not active or not moved:
        for target in active:
            rules.dots[target] = rules.fresh_shadow(builder, target)
        return
    if isinstance(declared, Surgery) and leaves_alone(declared):
        for arg, target in zip(args, call.targets, strict=True):
            if target in active:
                rules.dots[target] = rules.dot_or_zero(builder, arg, type_of_atom(arg))
        return
    seeds = range(len(declared.seeds))
    if not is_linear(declared.pullback, seeds):
        raise _not_linear(declared, call)
    results = [call.targets[place] for place in declared.seeds]
    derived = Derived(declared.pullback, tuple(seeds), tuple(moved))
    zeros = [rules.fresh_shadow(builder, target) for target in results]
    dots = [rules.dot_or_zero(builder, args[place], type_of_atom(args[place])) for place in moved]
    unused = tuple(Var("unused", fresh(type_of_atom(arg) or OPAQUE)) for arg in args)
    made = tuple(
        bind(target) if target in active else Var(f"{target.hint}_dot", rules.types.of(target.type))
        for target in results
    )
    operands = (*zeros, *declared.residuals_of(call), *dots)
    builder.emit(Call((*unused, *made), derived, operands, (), call.span))
    for target in active:
        if target not in results:
            rules.dots[target] = rules.fresh_shadow(builder, target)
