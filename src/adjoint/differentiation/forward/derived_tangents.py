"""The tangent of a reverse derivative that is kept by name, so that it can still be reversed.

For ``y, x_bar = D(x, v)`` with ``x_bar = J(x)^T v`` the tangent ``d/dx <v, J(x) x_dot> + J(x)^T v_dot`` is a cotangent
of the forward derivative of the same function, ``(x, x_dot) -> (y, y_dot)``, seeded with ``v_dot`` for ``y`` and with
``v`` for ``y_dot``; the cotangent of ``x_dot`` is ``x_bar`` itself. One call gives all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.draws import draws
from adjoint.analysis.effects import written_places
from adjoint.diagnostics import DifferentiationError, error
from adjoint.differentiation.reachability import Dependence
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in

if TYPE_CHECKING:
    from adjoint.differentiation.forward.tangent_rules import TangentRules

Derive = Callable[[ir.Function, tuple[int, ...], tuple[int, ...]], ir.Function]
Bind = Callable[[ir.Var], ir.Var]


def can_be_kept(call: ir.Call, found: Dependence) -> bool:
    """Whether the function draws nothing, changes no cotangent, and no memory through which a derivative flows."""
    from adjoint.differentiation.surgery import has_surgery  # lazy

    function = call.callee.function
    writes = any(found.active(call.args[place]) for place in written_places(function))
    return not (writes or has_surgery(function) or draws(function))


def unkept(call: ir.Call) -> DifferentiationError:
    """Why no tangent flows through a derivative that runs parts of its function again."""
    function = call.callee.function
    span = next((each.span for each in _calls(function) if _is_checkpointed(each)), call.span)
    names = [function.params[place].hint for place in written_places(function)]
    if names:
        label = f"a derivative of this is differentiated, and {names[0]!r} is written besides"
        return error("AD0309", span, label, helps=(f"write to a copy: {names[0]} = {names[0]}.copy()",))
    label = "a derivative of this is differentiated, and cotangents are changed besides"
    return error("AD0309", span, label, helps=("keep all of the loop: leave the checkpoints out",))


def runs_again(function: ir.Function) -> bool:
    """Whether the reverse sweep of a function runs parts of it again: no tangent flows through what that keeps."""
    return any(
        _is_checkpointed(call) or (isinstance(call.callee, ir.Derived) and runs_again(call.callee.function))
        for call in _calls(function)
    )


def _calls(function: ir.Function) -> list[ir.Call]:
    return [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]


def _is_checkpointed(call: ir.Call) -> bool:
    return isinstance(call.callee, ir.Definition) and call.callee.checkpoints is not None


def call_derived(builder: Builder, call: ir.Call, rules: TangentRules, bind: Bind, derive: Derive) -> None:
    """Emits a call of a reverse derivative together with its tangent."""
    derived = call.callee
    assert isinstance(derived, ir.Derived)
    inner, wrt, outputs = derived.function, derived.wrt, derived.outputs
    count = len(inner.params)
    args, seeds = call.args[:count], call.args[count:]
    results = len(call.targets) - len(wrt)
    values, bars = call.targets[:results], call.targets[results:]
    moving = [place for place, arg in enumerate(args) if rules.dot(arg) is not None]
    seed_dots = [rules.dot_or_zero(builder, seed, type_of_atom(seed)) for seed in seeds]
    if not moving:
        builder.emit(call)
        again = tuple(ir.Var("unused", value.type) for value in values)
        bar_dots = tuple(_target(bar, rules, bind) for bar in bars)
        builder.emit(ir.Call((*again, *bar_dots), derived, (*args, *seed_dots), (), call.span))
        for value in values:
            if rules.found.active(value):
                rules.dots[value] = rules.fresh_shadow(builder, value)
        return
    directions = tuple(sorted({*moving, *wrt}))
    wanted = tuple(sorted({*outputs, *(place for place, value in enumerate(values) if rules.found.active(value))}))
    tangent = derive(inner, directions, wanted)
    second = ir.Derived(
        tangent,
        (*wrt, *(count + directions.index(place) for place in wrt)),
        (*outputs, *(results + wanted.index(place) for place in outputs)),
    )
    dots = [rules.dot_or_zero(builder, args[place], type_of_atom(args[place])) for place in directions]
    targets: list[ir.Var] = [*values]
    targets += [_target(values[place], rules, bind) for place in wanted]
    targets += [_target(bar, rules, bind) for bar in bars]
    targets += bars
    operands: tuple[ir.Atom, ...] = (*args, *dots, *seed_dots, *seeds)
    builder.emit(ir.Call(tuple(targets), second, operands, (), call.span))


def _target(var: ir.Var, rules: TangentRules, bind: Bind) -> ir.Var:
    """The variable for the tangent of a result; what is not active gets one that nobody reads."""
    return bind(var) if rules.found.active(var) else ir.Var(f"{var.hint}_dot", rules.types.of(var.type))
