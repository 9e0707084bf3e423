"""``is`` and ``is not``: whether two values are one object, where that can be known."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Closure, Method, Partial, Record, Ref, TupleValue, Union, Value, is_atom
from adjoint.frontend.objects.classes import note_owner
from adjoint.runtime.array_functions.sparse import is_sparse


def is_number(value: Value) -> TypeGuard[ir.Atom]:
    if type(value) is ir.Var:
        return type(value.type) is ir.Scalar
    return type(value) is ir.Const and type(value.value) in (float, int, bool, complex)


def identity_of(lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None) -> Value:
    """``is`` and ``is not``"""
    left, right = operands
    if left is right and isinstance(left, ir.Var) and isinstance(left.type, ir.Opaque):
        return ir.Const(op is operator.is_)
    if isinstance(left, ir.Const) and isinstance(right, ir.Const) and left.value is right.value:
        return ir.Const(op is operator.is_)
    tuples = [_length_and_class(side) for side in operands]
    if tuples == [(0, tuple), (0, tuple)]:
        return ir.Const(op is operator.is_)  # there is one
    if left is not right and None not in tuples and _may_be_alike(*tuples) and not all(map(_is_itself, operands)):
        label = "whether two tuples are one object is not known: where one is kept, another one is made of its items"
        raise lo.problem("AD0301", node, label, helps=("compare what they hold: ==",))
    if any(isinstance(side, ir.Const) and isinstance(side.value, bool) for side in operands) and any(
        isinstance(side, ir.Var) for side in operands
    ):
        for side in operands:
            note_owner(lo, side, lambda number: number in (bool, np.bool_))
        return call(lo, op, [materialize(lo, side, node) for side in operands], node)
    if is_atom(left) and is_atom(right) and not (isinstance(left, ir.Const) and isinstance(right, ir.Const)):
        if any(isinstance(side, ir.Const) for side in (left, right)) and any(
            isinstance(side, ir.Var) and _is_never_constant(joins.type_of(side)) for side in (left, right)
        ):
            return _is_the_number(lo, op, operands, node)
        return call(lo, op, [left, right], node)  # type: ignore[list-item]
    if left is not right:
        _refuse_unknown_identity(lo, left, right, node)
    same = left is right or (isinstance(left, ir.Const) and isinstance(right, ir.Const) and left == right)
    if isinstance(left, Union) or isinstance(right, Union):
        raise lo.problem("AD0301", node, "the identity of a value that has several structures is not known")
    return ir.Const(same == (op is operator.is_))


def _length_and_class(value: Value) -> tuple[int | None, type] | None:
    """How many items a tuple has, None where that is not known, and its class; None for what is no tuple."""
    match value:
        case TupleValue(items=items, cls=cls):
            return len(items), cls
        case ir.Const(value=tuple() as items):
            return len(items), type(items)
        case ir.Var(type=ir.List(is_tuple=True)):
            return None, tuple
        case ir.Var(type=ir.Tuple(items=types_, cls=cls)) if not issubclass(cls, ir.MadeFunction):
            return len(types_), cls
    return None


def _may_be_alike(one: Any, other: Any) -> bool:
    """Whether two tuples may be one."""
    return one[1] is other[1] and len({one[0], other[0]} - {None}) <= 1


def _is_itself(value: Value) -> bool:
    """Whether a value is the tuple that the program made."""
    return isinstance(value, ir.Const) or (isinstance(value, TupleValue) and value.is_itself)


def _is_the_number(lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None) -> Value:
    """Whether what is computed is an object that is known: only a number may be, one of the same class and value.

    Numbers have no identity here: one that was put into an object and is read from it again is the one that it was.
    """
    kinds = {joins.type_of(operand) for operand in operands}
    if len(kinds) > 1 or not all(map(is_number, operands)):
        return ir.Const(op is operator.is_not)
    (kind,) = {type(operand.value) for operand in operands if isinstance(operand, ir.Const)}
    if any(map(is_nan, operands)):
        label = "whether a number is this very object is known to Python only: no number is equal to nan"
        raise lo.problem("AD0301", node, label, helps=("ask whether it is one: math.isnan(x)",))
    for operand in operands:
        note_owner(lo, operand, lambda number: number is kind)
    return call(lo, operator.eq if op is operator.is_ else operator.ne, operands, node)  # type: ignore[arg-type]


def is_nan(value: Value) -> bool:
    """Whether a value is a NaN that is known, which is equal to nothing, but one object with itself."""
    return isinstance(value, ir.Const) and isinstance(value.value, (float, complex)) and value.value != value.value


def may_be_nan(value: Value) -> bool:
    """Whether a value is a number, or an array, that may not be equal to itself."""
    if isinstance(value, ir.Var):
        type_ = value.type
        return isinstance(type_, (ir.Number, ir.Array)) or (isinstance(type_, ir.Scalar) and ir.may_vary(type_))
    return is_nan(value)


def _is_never_constant(type_: ir.Type) -> bool:
    """Whether nothing of a type is an object such as None."""
    if isinstance(type_, ir.Opaque):
        return is_sparse(type_.cls)
    return isinstance(type_, (ir.Scalar, ir.Array, ir.List, ir.Dict, ir.Tuple, ir.Instance, ir.Number))


def _refuse_unknown_identity(lo: Lowerer, left: Value, right: Value, node: ast.AST | None) -> None:
    """Where an object is one of several, or another one in each call, its copy at compile time does not tell which."""
    if lo.settings.made_functions and any(map(_may_be_read_again, (left, right))) and all(map(_is_made, (left, right))):
        label = "whether two functions that are made here are one is known at run time only"
        raise lo.problem("AD0301", node, label)
    if not isinstance(left, Ref) or not isinstance(right, Ref):
        if lo.run_data.lookups and type(left) is type(right) and isinstance(left, (TupleValue, Method, Partial)):
            raise lo.problem("AD0301", node, _OTHER_IN_EACH_CALL)
        return
    mine, theirs = (set(joins.original_sites((ref.site,))) for ref in (left, right))
    if mine & theirs and any(ref.site.place[0] == "joined" for ref in (left, right)):
        raise joins.NeedsRuntime(tuple(mine | theirs))
    if _may_be_one(lo, left, right) or _may_be_one(lo, right, left):
        if mine and theirs:
            raise joins.NeedsRuntime(tuple(mine | theirs))
        raise lo.problem("AD0301", node, _OTHER_IN_EACH_CALL)


_OTHER_IN_EACH_CALL = "whether these are one object is not the same in all calls of this function"


def _may_be_read_again(value: Value) -> bool:
    """Whether another function may be the same one, read from a container at run time."""
    return isinstance(value, (Method, Partial)) or (isinstance(value, Closure) and value.is_read)


def _is_made(value: Value) -> bool:
    return isinstance(value, (Closure, Method, Partial))


def _may_be_one(lo: Lowerer, received: Ref, other: Ref) -> bool:
    """Whether what a function that stays one was handed may be an object that there was before, in some call."""
    before, records = lo.run_data.received.get(received), [lo.store.get(ref) for ref in (received, other)]
    if before is None or len({record.cls for record in records if isinstance(record, Record)}) > 1:
        return False
    return other in before or other in lo.run_data.received or other.site.place[0] in ("joined", "input")
