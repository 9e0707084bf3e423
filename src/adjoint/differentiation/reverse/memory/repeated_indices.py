"""Indices that may name a place more than once."""

from __future__ import annotations

import operator
from typing import Literal

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.context import Context
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.rules.registry import rule_for
from adjoint.runtime import display


def accumulation(context: Context, key: ir.Key) -> Literal["add", "add_at"]:
    """How to add at an index: one that may repeat needs care."""
    if not isinstance(key, ir.Subscript):
        return "add"
    several = [item for item in key.items if isinstance(item, (ir.Var, ir.Const)) and _may_repeat(item)]
    if not several or (len(several) == 1 and isinstance(several[0], ir.Var) and _is_distinct(context, several[0])):
        return "add"
    return "add_at"


def leaves_out(context: Context, base: ir.Atom, key: ir.Key | None) -> bool:
    """Whether reading or storing a part leaves out elements that may not be numbers, or whose slopes may not be."""
    if not isinstance(key, ir.Subscript) or not isinstance(base, ir.Var):
        return False
    if any(_is_mask(item) for item in key.items):
        return True
    if all(isinstance(item, ir.Var | ir.Const) and isinstance(type_of_atom(item), ir.Scalar) for item in key.items):
        return False  # a loop comes to the others
    return may_be_singular(context, base)


def _is_mask(item: object) -> bool:
    type_ = type_of_atom(item) if isinstance(item, ir.Var) else None
    return isinstance(type_, ir.Array) and (type_.dtype is None or type_.dtype.kind == "b")


_DEPTH = 8


def may_be_singular(context: Context, var: ir.Var, depth: int = _DEPTH) -> bool:
    """Whether a value comes from a function that is not defined, or not smooth, everywhere."""
    binding = context.regions.bindings.get(var)
    statement = binding.statement if binding is not None else None
    if depth and isinstance(statement, ir.Load) and isinstance(statement.base, ir.Var):
        return may_be_singular(context, statement.base, depth - 1)
    if depth == 0 or not isinstance(statement, ir.Call):
        return False
    if statement.callee in _GROWING or _is_singular(statement):
        return True
    return any(isinstance(arg, ir.Var) and may_be_singular(context, arg, depth - 1) for arg in statement.args)


_GROWING = frozenset({np.exp, np.exp2, np.expm1, np.sinh, np.cosh})


def _is_singular(call: ir.Call) -> bool:
    rule = rule_for(call.callee)
    if rule is None or not rule.singular:
        return False
    other = call.args[1] if len(call.args) == 2 else None
    if not isinstance(other, ir.Const):
        return True
    if call.callee in (operator.pow, np.power):
        return not isinstance(other.value, (int, float)) or other.value < 0 or other.value != int(other.value)
    return False  # a quotient by a literal


def _may_repeat(item: ir.Var | ir.Const) -> bool:
    type_ = type_of_atom(item)
    if isinstance(type_, ir.Array):
        return type_.dtype is None or type_.dtype.kind != "b"
    return isinstance(item, ir.Var) and not isinstance(type_, ir.Scalar)


def _is_distinct(context: Context, item: ir.Var) -> bool:
    """Whether an index is a list in the source of different numbers, which nobody changes."""
    binding = context.regions.bindings.get(item)
    match binding.statement if binding is not None else None:
        case ir.Call(callee=display.make_list, args=args) if args and all(_is_place(arg) for arg in args):
            places = [arg.value for arg in args if isinstance(arg, ir.Const)]
        case _:
            return False
    one_sign = all(place >= 0 for place in places) or all(place < 0 for place in places)
    return one_sign and len(set(places)) == len(places) and _only_indexes(context.function, item)


def _is_place(atom: object) -> bool:
    return isinstance(atom, ir.Const) and type(atom.value) is int


def _only_indexes(function: ir.Function, var: ir.Var) -> bool:
    """Whether a list serves as an index and as nothing else."""
    for statement in statements_in(function.body):
        if var not in operands(statement):
            continue
        if not isinstance(statement, (ir.Load, ir.Store)) or statement.base is var:
            return False
        if isinstance(statement, ir.Store) and statement.value is var:
            return False
    return not any(var in operands(terminator) for terminator in terminators_in(function.body))
