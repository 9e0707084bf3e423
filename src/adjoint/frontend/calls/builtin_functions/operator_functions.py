"""Functions of the module ``operator``: what their operators mean."""

from __future__ import annotations

import ast
import functools
import operator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Partial, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import in_place_operators
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.frontend.syntax.operators import BINARY, COMPARE, UNARY


def _handler(op: Any, operands: int) -> Handler:
    def apply(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if kwargs or len(args) != operands:
            return NotImplemented
        return apply_operator(lo, op, args, node)

    return apply


for _table, _operands in ((UNARY, 1), (BINARY, 2), (COMPARE, 2)):
    for _operator in set(_table.values()) - {operator.not_}:
        handles(_operator)(_handler(_operator, _operands))
HANDLERS[operator.concat] = _handler(operator.add, 2)


def _in_place(means: Any) -> Handler:
    def apply(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return NotImplemented if kwargs or len(args) != 2 else python_functions.call(lo, means, args, node)

    return apply


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "or", "and", "xor"):
    HANDLERS[getattr(operator, f"i{_name}")] = _in_place(getattr(in_place_operators, f"i{_name}"))
HANDLERS[operator.iconcat] = _in_place(in_place_operators.iadd)


@handles(operator.getitem, np.ndarray.__getitem__)
def _getitem(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if kwargs or len(args) != 2:
        return NotImplemented
    return python_functions.call(lo, python_functions.item_at, args[::-1], node)


@handles(operator.itemgetter)
def _itemgetter(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) == 1:
        return Partial(ir.Const(python_functions.item_at), (args[0],), ())
    return Partial(ir.Const(python_functions.items_at), (TupleValue(tuple(args)),), ())


@handles(operator.attrgetter)
def _attrgetter(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    paths = [_names(arg.value) for arg in args if isinstance(arg, ir.Const) and isinstance(arg.value, str)]
    if not paths or len(paths) < len(args):
        return NotImplemented
    if len(paths) == 1:
        return Partial(ir.Const(python_functions.attribute_at), (paths[0],), ())
    return Partial(ir.Const(python_functions.attributes_at), (TupleValue(tuple(paths)),), ())


def _names(path: str) -> TupleValue:
    return TupleValue(tuple(map(ir.Const, path.split("."))))


@handles(operator.methodcaller)
def _methodcaller(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = (args[0], TupleValue(tuple(args[1:])))
    return Partial(ir.Const(python_functions.method_called), given, tuple(kwargs.items()))


def function_of(lo: Lowerer, getter: Any, node: ast.AST | None) -> Value:
    """The function that an ``itemgetter``, an ``attrgetter`` or a ``methodcaller`` made outside stands for."""
    made, args, *_ = getter.__reduce__()
    named: dict[str, Value] = {}
    if isinstance(made, functools.partial):
        args, named = (*made.args, *args), {name: ir.Const(value) for name, value in made.keywords.items()}
    return HANDLERS[type(getter)](lo, list(map(ir.Const, args)), named, node)  # type: ignore[no-any-return]
