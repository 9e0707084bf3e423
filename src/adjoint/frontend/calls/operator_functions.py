"""Functions of the module ``operator``, given objects, lists or dicts: what their operators mean for these."""

from __future__ import annotations

import ast
import operator
from typing import Any

from adjoint.frontend.calls.handlers import Handler, handles
from adjoint.frontend.data import making, objects
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Ref, TupleValue, Union, Value
from adjoint.frontend.syntax.expressions import apply_operator
from adjoint.frontend.syntax.operators import BINARY, COMPARE, UNARY


def _handler(op: Any, operands: int) -> Handler:
    def apply(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if kwargs or len(args) != operands or not any(_has_structure(lo, arg) for arg in args):
            return NotImplemented
        return apply_operator(lo, op, args, node)

    return apply


def _has_structure(lo: Lowerer, value: Value) -> bool:
    return isinstance(value, (Ref, TupleValue, Union)) or making.is_dict(lo, value) or objects.is_object(lo, value)


for _table, _operands in ((UNARY, 1), (BINARY, 2), (COMPARE, 2)):
    for _operator in set(_table.values()) - {operator.not_, operator.is_, operator.is_not}:
        handles(_operator)(_handler(_operator, _operands))
