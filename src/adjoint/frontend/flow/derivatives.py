"""``ad.derivative(y, wrt=x)``: derivatives of values with respect to variables of the same function.

Variables of which somebody asks are bound by a statement of their own (:class:`adjoint.ir.nodes.Binding`), so that what
was computed from them is told from what was computed from another name of the same number. How a value was computed
is seen at the end of the function (:mod:`adjoint.frontend.flow.slices`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from adjoint import ir
from adjoint.declarations.flow_derivatives import derivative
from adjoint.diagnostics import diagnostic
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.differentiation.components import describe
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves, tangent_of
from adjoint.frontend.flow.slices import Unsettled, settled
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.renaming import renamed
from adjoint.frontend.interpreter.state.signals import Problem, Restart
from adjoint.frontend.interpreter.values import Value

_NAME_IT = ("give it a name where it is made, and compute with that: w = self.w",)
_CONTAINERS = (ir.List, ir.Dict, ir.Tuple, ir.Instance)


@handles(derivative)
def _derivative(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = {**dict(zip(("y", "wrt"), args, strict=False)), **kwargs}
    if not isinstance(node, ast.Call) or len(args) + len(kwargs) != 2 or set(given) != {"y", "wrt"}:
        raise lo.mistake(
            TypeError, node, "ad.derivative takes a value and the variable: ad.derivative(y, wrt=x)", code="AD0203"
        )
    place = next((keyword.value for keyword in node.keywords if keyword.arg == "wrt"), node.args[-1:])
    wrt = place[0] if isinstance(place, list) else place
    names = wrt.elts if isinstance(wrt, ast.Tuple) else [wrt]
    for name in names:
        _track(lo, name)
    lo.run_data.flow = True
    return _requested(lo, given["y"], given["wrt"], names, node)


def _track(lo: Lowerer, name: ast.expr) -> None:
    """Has a variable bound by statements of its own: lowering starts again, if it was not."""
    if not isinstance(name, ast.Name):
        raise lo.problem("AD0232", name, "this is no variable", helps=_NAME_IT)
    assert lo.frame is not None
    if name.id not in lo.frame.cells:
        label = f"{name.id!r} is a variable from outside of the function"
        raise lo.problem("AD0232", name, label, helps=("hand it over as an argument, and differentiate by that",))
    key = lo.frame.source.node, name.id
    if key not in lo.settings.tracked:
        lo.settings.tracked.add(key)
        raise Restart


def _requested(lo: Lowerer, value: Value, wrt: Value, names: list[ast.expr], node: ast.Call) -> Value:
    leaves = [_before_blocks(lo, leaf) for leaf in differentiable_leaves(lo, wrt) if isinstance(leaf, ir.Var)]
    said = " and ".join(name.id for name in names if isinstance(name, ast.Name))
    for leaf in leaves:
        if isinstance(leaf.type, _CONTAINERS):
            label = f"the items of {said!r} are told apart when the program runs"
            raise lo.problem("AD0232", node, label, helps=("differentiate by numbers and arrays",))
    if not leaves:
        label = f"{said!r} is {describe(joins.shape_of(wrt, lo.store))}, which does not vary"
        raise lo.problem("AD0232", node, label, helps=("let it be a float, or an array of floats",))
    if isinstance(value, ir.Const) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
        y: Any = value
    elif isinstance(value, ir.Var) and isinstance(value.type, (ir.Scalar, ir.Number)):
        y = value
    else:
        kind = describe(joins.shape_of(value, lo.store))
        raise lo.problem("AD0406", node, f"this is the derivative of {kind}, not of a number")
    targets = [ir.Var(f"{leaf.hint}_bar", ir.fresh(leaf.type)) for leaf in leaves]
    lo.at(node)
    lo.emit(ir.Call(tuple(targets), ir.Requested(said), (y, *leaves), (), lo.span(node)))
    return tangent_of(lo, wrt, iter(targets), {})


# -- variables ---------------------------------------------------------------------------------------------------------


def bound(lo: Lowerer, value: Value, name: str) -> Value:
    """What a variable holds, each number and array in it under a name that nothing else has."""

    def new(part: ir.Var | ir.Const) -> Value:
        type_ = part.type if isinstance(part, ir.Var) else ir.FLOAT
        if isinstance(type_, _CONTAINERS) or (isinstance(part, ir.Var) and _is_same(lo, part, name)):
            return part
        target = ir.Var(part.hint if isinstance(part, ir.Var) else name, type_, True)
        seed = ir.Var("ct", type_)
        identity = ir.Function(name, (seed,), ir.Block((), ir.Return((seed,))))
        lo.emit(ir.Call((target,), ir.Binding(name, 1, (0,), identity), (part, part), (), lo.open.span))
        return target

    return renamed(lo, value, new, lambda part: part)


def _is_same(lo: Lowerer, var: ir.Var, name: str) -> bool:
    """Whether a variable goes on behind a block of the reverse sweep."""
    return lo.run_data.behind_blocks.get(var, (var, None))[1] == name


def _before_blocks(lo: Lowerer, var: ir.Var) -> ir.Var:
    """What a variable was when it was assigned."""
    while var in lo.run_data.behind_blocks:
        var = lo.run_data.behind_blocks[var][0]
    return var


def bound_parameters(lo: Lowerer, node: ast.AST, given: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters of a function, those that are tracked under names of their own."""
    return {
        name: bound(lo, value, name) if (node, name) in lo.settings.tracked else value for name, value in given.items()
    }


def with_flow_settled(lo: Lowerer, block: ir.Block) -> ir.Block:
    """The body of a function with its derivatives of values written as what they are."""
    try:
        block, idle = settled(block)
    except Unsettled as unsettled:
        call, label, helps = unsettled.args
        raise Problem(diagnostic("AD0232", call.span, label, helps=helps)) from None
    for call in idle:
        name = call.callee.name
        warning = diagnostic("AD0501", call.span, f"nothing of {name!r} reaches the value", name=name)
        if warning not in lo.run_data.warnings:
            lo.run_data.warnings.append(warning)
    return block
