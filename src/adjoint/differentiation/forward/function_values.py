"""Function values that are known only at run time, in forward mode: their own forward derivative is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint import ir
from adjoint.differentiation.forward.tangent_rules import TangentRules
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in

Bind = Callable[[ir.Var], ir.Var]


def applies(function: ir.Function, seen: frozenset[ir.Definition] = frozenset()) -> bool:
    """Whether a function, or one that it calls by name, calls such function values.

    Their pullbacks are not looked into: a reverse derivative that calls them cannot be differentiated as it is
    written out.
    """
    return any(_applies(call.callee, seen) for call in statements_in(function.body) if isinstance(call, ir.Call))


def _applies(callee: Any, seen: frozenset[ir.Definition]) -> bool:
    match callee:
        case ir.Applied():
            return True
        case ir.Derived(function=function):
            return applies(function, seen)
        case ir.Definition(function=ir.Function() as function) if callee not in seen:
            return applies(function, seen | {callee})
        case _:
            return False


def forward_applied(builder: Builder, call: ir.Call, rules: TangentRules, bind: Bind) -> None:
    """Emits one call for the values and their tangents.

    The forward derivative of a function value is a function value, so that the result can be differentiated again.
    """
    applied: ir.Applied = call.callee
    *values, pullback = call.targets
    function, args = call.args[0], call.args[1:]
    moving = [place for place in applied.places if rules.dot(call.args[place]) is not None]
    active = [value for value in values if rules.found.active(value)]
    if not active or not moving:
        builder.emit(call)
        for value in active:
            rules.dots[value] = rules.fresh_shadow(builder, value)
        return
    type_ = type_of_atom(function)
    assert isinstance(type_, ir.Opaque)
    places = tuple([place - 1 for place in moving])
    from adjoint.runtime.functions import forward_of  # lazy

    derivative = ir.Var("forward", ir.Opaque(type_.cls, type_.signature.forward(places)))
    builder.emit(ir.Call((derivative,), forward_of, (function, ir.Const(places)), (), call.span))
    dots = [rules.dot_or_zero(builder, call.args[place], type_of_atom(call.args[place])) for place in moving]
    made = [
        bind(value) if value in active else ir.Var(f"{value.hint}_dot", rules.types.of(value.type)) for value in values
    ]
    again = ir.Applied((*applied.places, *range(len(call.args), len(call.args) + len(dots))))
    targets = (*values, *made, ir.Var(pullback.hint, pullback.type))
    builder.emit(ir.Call(targets, again, (derivative, *args, *dots), (), call.span))
