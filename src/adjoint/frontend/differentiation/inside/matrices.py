"""``jacobian`` and ``hessian`` in code that is lowered: Python that takes them column by column."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import written_places
from adjoint.frontend.differentiation.inner_functions import lower_inner
from adjoint.frontend.differentiation.refusals.arguments import check_differentiable
from adjoint.frontend.differentiation.wrt import parameter_names, positions, with_receiver
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.values import Operator, Partial, Record, Ref, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.keypaths.parts import PartOf, as_part
from adjoint.runtime.numerical_methods import jacobians
from adjoint.types.structure import CONTAINERS


def matrix(
    lo: Lowerer,
    operator: Operator,
    options: dict[str, Any],
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """A call of a Jacobian or a Hessian."""
    kind, has_aux = operator.kind, bool(options.get("has_aux", False))
    _check_options(lo, kind, options, node)
    function, wrt, args = with_receiver(lo, operator.function, options.get("wrt", 0), args, kwargs, node)
    function, args = _by_position(lo, function, args, kwargs, node)
    places = positions(lo, function, wrt, args, {}, node)
    for place in places:
        check_differentiable(lo, function, args[int(place)], place, node, args)
        refuse_objects(lo, kind, args[int(place)], node)
    _check_unwritten_containers(lo, function, args, places, node)
    given = [function, TupleValue(tuple(args))]
    if isinstance(wrt, (tuple, list)):
        several = {"jacobian": jacobians.jacobians_of, "hessian": jacobians.hessians_of}[kind]
        return python_functions.call(lo, several, [*given, ir.Const(tuple(places)), ir.Const(has_aux)], node)
    if kind == "hessian":
        return python_functions.call(lo, jacobians.hessian_of, [*given, ir.Const(places[0]), ir.Const(has_aux)], node)
    constants = [ir.Const(places[0]), ir.Const(has_aux), ir.Const(False)]
    return python_functions.call(lo, jacobians.jacobian_of, [*given, *constants], node)


def _check_options(lo: Lowerer, kind: str, options: dict[str, Any], node: ast.AST | None) -> None:
    if options.get("sparsity") is not None:
        helps = ("leave out sparsity: the matrix is dense then", "or take it where the function is called")
        raise lo.problem("AD0412", node, f"ad.{kind} inside other code has no sparsity", helps=helps)
    wrt = options.get("wrt", 0)
    if any(isinstance(as_part(each), PartOf) for each in (wrt if isinstance(wrt, (tuple, list)) else (wrt,))):
        way = "take the argument for that, and the part of the matrix"
        raise lo.problem("AD0301", node, f"ad.{kind} inside other code takes no key paths", helps=(way,))


def _by_position(
    lo: Lowerer, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[Value, list[Value]]:
    """The function with its last arguments bound, if they can be given by name only, and all the others by position."""
    if not kwargs:
        return function, args
    given, rest = list(args), dict(kwargs)
    for name in parameter_names(lo, function, node)[len(args) :]:
        if name not in rest:
            break
        given.append(rest.pop(name))
    return Partial(function, (), tuple(rest.items())) if rest else function, given


def refuse_objects(lo: Lowerer, what: str, value: Value, node: ast.AST | None) -> None:
    """Refuses structures that are not made of numbers, arrays, tuples, lists and dicts, or have complex numbers."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    parts: Sequence[Value] = ()
    if isinstance(record, Record):
        if record.cls not in CONTAINERS:
            label = f"ad.{what} inside other code takes numbers, arrays, tuples, lists and dicts"
            outside = ("or call it outside: what it returns may be called inside",) if what == "ravel" else ()
            raise lo.problem("AD0301", node, label, helps=("hand over the fields of the object", *outside))
        parts = [part for _, part in record.parts]
    elif isinstance(value, TupleValue):
        parts = value.items
    for part in parts:
        if _is_complex(part):
            label, way = "the argument holds complex numbers, and is a structure", "take real and imaginary parts"
            raise lo.problem("AD0404", node, label, helps=(f"{way} for arguments of their own",))
        refuse_objects(lo, what, part, node)


def _is_complex(value: Value) -> bool:
    match type_of(value):
        case ir.Scalar(kind=kind) | ir.Array(dtype=kind):
            return kind is not None and np.dtype(kind).kind == "c"
        case _:
            return False


def _check_unwritten_containers(
    lo: Lowerer, function: Value, args: list[Value], places: Sequence[int | str], node: ast.AST | None
) -> None:
    """Refuses a function that is called once a column and changes more than arrays, of which each call has copies."""
    if not any(map(_is_container, args)):
        return
    inner = lower_inner(lo, function, args, {}, places, node)
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
