"""Indices that may name a place more than once."""

from __future__ import annotations

from typing import Literal

from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Call, Const, Function, Key, Load, Store, Subscript, Var
from adjoint.ir.types import Array, Scalar
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.runtime import display
from adjoint.transform.reverse.context import Context


def accumulation(context: Context, key: Key) -> Literal["add", "add_at"]:
    """How to add at an index: one that may repeat needs care."""
    if not isinstance(key, Subscript):
        return "add"
    several = [item for item in key.items if isinstance(item, (Var, Const)) and _may_repeat(item)]
    if not several or (len(several) == 1 and isinstance(several[0], Var) and _is_distinct(context, several[0])):
        return "add"
    return "add_at"


def _may_repeat(item: Var | Const) -> bool:
    type_ = type_of_atom(item)
    if isinstance(type_, Array):
        return type_.dtype is None or type_.dtype.kind != "b"
    return isinstance(item, Var) and not isinstance(type_, Scalar)


def _is_distinct(context: Context, item: Var) -> bool:
    """Whether an index is a list in the source of different numbers, which nobody changes."""
    binding = context.regions.bindings.get(item)
    match binding.statement if binding is not None else None:
        case Call(callee=display.make_list, args=args) if args and all(_is_place(arg) for arg in args):
            places = [arg.value for arg in args if isinstance(arg, Const)]
        case _:
            return False
    one_sign = all(place >= 0 for place in places) or all(place < 0 for place in places)
    return one_sign and len(set(places)) == len(places) and _only_indexes(context.function, item)


def _is_place(atom: object) -> bool:
    return isinstance(atom, Const) and type(atom.value) is int


def _only_indexes(function: Function, var: Var) -> bool:
    """Whether a list serves as an index and as nothing else."""
    for statement in statements_in(function.body):
        if var not in operands(statement):
            continue
        if not isinstance(statement, (Load, Store)) or statement.base is var:
            return False
        if isinstance(statement, Store) and statement.value is var:
            return False
    return not any(var in operands(terminator) for terminator in terminators_in(function.body))
