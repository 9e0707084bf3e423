"""Differential operators inside the code that is lowered.

A derivative is a call like any other: the function is lowered with fresh parameters for what it is differentiated
with respect to; whatever else it uses becomes further parameters, so that captured variables are differentiated by
the operators around.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import written_places
from adjoint.frontend.differentiation.changed_parts import settle_changes
from adjoint.frontend.differentiation.inner_functions import lower_inner
from adjoint.frontend.differentiation.inside.gradients import gradient
from adjoint.frontend.differentiation.wrt import positions
from adjoint.frontend.entry.inputs import captured
from adjoint.frontend.entry.operator_marks import MARK
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Operator, Ref, TupleValue, Value
from adjoint.frontend.iterators.items import known_items
from adjoint.frontend.library import python_functions
from adjoint.types.classes.safe_lookups import asked


def operator_of(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What a call of ``constant`` means where it is a differential operator, or a derivative made by one."""
    kind = asked(constant, MARK)
    if kind is None:
        return None
    if not isinstance(kind, str):
        kind, function, options = kind
        path = ("root",) if function is lo.run_data.root else ("object", function)
        inner = captured(lo, function, path, "f", node)
        return call_operator(lo, Operator(kind, inner, options), args, kwargs, node)
    if kind in ("vjp", "jvp", "hvp"):
        return _immediate(lo, kind, args, kwargs, node)
    if kind in ("linearize", "transpose", "jet"):
        helps = ("in code that is differentiated, take ad.jvp, ad.vjp or ad.grad",)
        raise lo.problem("AD0301", node, f"ad.{kind} inside other code is not covered", helps=helps)
    if kind == "checkpoint" and len(args) + len(kwargs) != 1:
        raise lo.mistake(TypeError, node, "ad.checkpoint takes one function", code="AD0203")
    function_value, options = args[0] if args else kwargs["f"], _options(lo, args[1:], kwargs, node)
    return Operator(kind, function_value, options)


def _options(
    lo: Lowerer, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[tuple[str, Any], ...]:
    options: dict[str, Any] = {}
    named = {**({"wrt": args[0]} if args else {}), **kwargs}
    for name, value in named.items():
        if name == "f":
            continue
        atom = materialize(lo, value, node)
        if not isinstance(atom, ir.Const):
            raise lo.problem("AD0301", node, f"the option {name!r} of a differential operator is not known here")
        options[name] = atom.value
    return tuple(sorted(options.items()))


def call_operator(
    lo: Lowerer, operator: Operator, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a derivative."""
    result = _called(lo, operator, args, kwargs, node)
    settle_changes(lo)
    return result


def _called(
    lo: Lowerer, operator: Operator, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    options = dict(operator.options)
    if operator.kind in ("grad", "value_and_grad"):
        return gradient(lo, operator, options, args, kwargs, node)
    from adjoint.runtime.numerical_methods import jacobians  # lazy

    if operator.kind == "checkpoint":
        from adjoint.frontend.surgery.checkpointed_loops import call_checkpointed  # lazy

        return call_checkpointed(lo, operator.function, args, kwargs, node)
    if operator.kind in ("call", "compile"):
        return lo.call(operator.function, args, kwargs, node)
    if operator.kind not in ("jacobian", "hessian"):
        helps = ("take the derivative: ad.grad(f)",)
        raise lo.problem(
            "AD0301", node, f"{operator.kind!r} of a derivative is not for other code to call", helps=helps
        )
    wrt = options.get("wrt", 0)
    names = positions(lo, operator.function, wrt, args, kwargs, node)
    if len(names) != 1 or isinstance(wrt, (tuple, list)) or isinstance(names[0], str):
        raise lo.problem("AD0301", node, f"{operator.kind!r} inside other code takes one positional argument")
    _check_unwritten_containers(lo, operator.function, args, kwargs, names, node)
    body = {"jacobian": jacobians.jacobian_of, "hessian": jacobians.hessian_of}[operator.kind]
    return python_functions.call(lo, body, [operator.function, TupleValue(tuple(args)), ir.Const(names[0])], node)


def _check_unwritten_containers(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    places: Sequence[int | str],
    node: ast.AST | None,
) -> None:
    """Refuses a function that is called once a column and changes more than arrays, of which each call has copies."""
    if not any(_is_container(value) for value in (*args, *kwargs.values())):
        return
    inner = lower_inner(lo, function, args, kwargs, places, node)
    if any(_is_container(inner.atoms[place]) for place in written_places(inner.function)):
        raise lo.problem("AD0303", node, "the function changes a list, dict or object that it is given")


def _is_container(value: Value) -> bool:
    match value:
        case ir.Var(type=type_):
            return ir.is_handle(type_) and not isinstance(type_, ir.Array)
        case TupleValue(items=items):
            return any(map(_is_container, items))
        case _:
            return isinstance(value, Ref)


def _immediate(lo: Lowerer, kind: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    from adjoint.frontend.differentiation.inside.pullbacks import vjp  # lazy
    from adjoint.frontend.differentiation.inside.pushforwards import jvp  # lazy

    kwargs = dict(kwargs)
    has_aux = kwargs.pop("has_aux", ir.Const(False))
    if has_aux != ir.Const(False) and (kind != "jvp" or has_aux != ir.Const(True)):
        helps = ("take the pair as it is: the cotangent of aux is None",)
        raise lo.problem("AD0204", node, f"has_aux= of ad.{kind} is not for code that is differentiated", helps=helps)
    if kind in ("jvp", "hvp"):
        given = [*args, *(kwargs[name] for name in ("f", "primals", "tangents") if name in kwargs)]
        if len(given) != 3:
            raise lo.problem("AD0203", node, f"ad.{kind} takes a function, primals and tangents")
        function, primals, tangents = given
        for name, each in (("primals", primals), ("tangents", tangents)):
            if isinstance(joins.type_of(each), (ir.Scalar, ir.Array, ir.Number)):
                label = f"the {name} are a tuple with one entry per argument"
                raise lo.problem("AD0409", node, label, helps=(f"write tuples: ad.{kind}(f, (x,), (x_dot,))",))
        if kind == "hvp":
            from adjoint.api import gradients, jvp_vjp  # lazy

            return python_functions.call(
                lo, python_functions.hvp, [ir.Const(gradients.grad), ir.Const(jvp_vjp.jvp), *given], node
            )
        items = known_items(lo, primals, node)
        directions = known_items(lo, tangents, node)
        return jvp(lo, function, items, directions, node, has_aux == ir.Const(True))
    return vjp(lo, args[0], args[1:], kwargs, node)
