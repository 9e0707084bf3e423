"""What functions tell of themselves: their parameters, which decorators of libraries ask for."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Closure, TupleValue, Value


@handles(inspect.getfullargspec)
def _parameters_of(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match args:
        case [Closure(function=FunctionType() as function)] | [ir.Const(value=FunctionType() as function)]:
            found = inspect.getfullargspec(function)
        case _:
            return NotImplemented
    names, named_only = (TupleValue(tuple(map(ir.Const, names))) for names in (found.args, found.kwonlyargs))
    others: list[Value] = [ir.Const(each) for each in (found.varargs, found.varkw, found.defaults)]
    items: tuple[Value, ...] = (names, *others, named_only, ir.Const(found.kwonlydefaults), ir.Const(found.annotations))
    return TupleValue(items, inspect.FullArgSpec)
