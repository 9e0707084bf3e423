"""Indices of arrays: their form in the IR."""

from __future__ import annotations

import ast

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.calls.operands import array
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import RangeValue, SliceValue, TupleValue, Value


def array_key(lo: Lowerer, index: Value, node: ast.AST | None) -> ir.Subscript:
    """The subscript of an index expression."""
    match index:
        case TupleValue(items=items):
            return ir.Subscript(tuple(_item(lo, item, node) for item in items), tupled=True)
        case ir.Const(value=tuple() as constants):
            return ir.Subscript(tuple(ir.Const(constant) for constant in constants), tupled=True)
        case ir.Var(type=ir.List(is_tuple=True)):
            return ir.Subscript((lo.open.call(tuple, index),))
        case _:
            return ir.Subscript((_item(lo, index, node),))


def _item(lo: Lowerer, item: Value, node: ast.AST | None) -> ir.Atom | ir.Slice:
    match item:
        case SliceValue(lower=lower, upper=upper, step=step):
            return ir.Slice(lower, upper, step)
        case ir.Const(value=slice() as constant):
            return ir.Slice(ir.Const(constant.start), ir.Const(constant.stop), ir.Const(constant.step))
        case TupleValue(items=(ir.Var(type=ir.Array(dtype=np.dtype(kind="i" | "u"))) as places,)):
            return lo.open.call(np.expand_dims, places, ir.Const(0))  # as ``x[np.where(c), 0]`` has it
        case ir.Var(type=ir.Opaque(cls=None) | ir.Number()):
            look_where_it_comes_from(lo, item)  # whether it is a number or an array tells what is picked
        case RangeValue() | ir.Const(value=range()):
            return materialize(lo, array(lo, item, node), node)
    return materialize(lo, item, node)
