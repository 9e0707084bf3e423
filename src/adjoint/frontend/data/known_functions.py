"""Functions in containers whose length is known at run time only: one of several that are known.

Such a container holds the functions themselves. Its type says which they may be, so that what is read from it is one
of several values, and a call becomes a choice between calls.
"""

from __future__ import annotations

import ast
import types
from typing import Any, TypeGuard

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Union, Value
from adjoint.runtime.objects import itself, place_of_function

_METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)
"""Classes of functions that are equal where they are bound to one object."""


def is_known_function(value: Value) -> TypeGuard[ir.Const]:
    """Whether a value is a function, and is told from others by its identity."""
    if not isinstance(value, ir.Const) or not callable(value.value):
        return False
    cls: Any = type(value.value)
    by_identity = cls.__eq__ is object.__eq__ and cls.__hash__ is object.__hash__
    return by_identity or cls is type or issubclass(cls, _METHODS)


def held_function(lo: Lowerer, function: ir.Const, node: ast.AST | None) -> ir.Var:
    """What a container at run time holds for a function."""
    target = ir.Var("f", ir.one_of(function.value))
    lo.emit(ir.Call((target,), itself, (function,), (), lo.span(node)))
    return target


def which_function(lo: Lowerer, item: ir.Var, node: ast.AST | None) -> Value:
    """A function that was read from a container, as one of those that it may be."""
    assert isinstance(item.type, ir.OneOf)
    options: tuple[Any, ...] = tuple(map(ir.Const, item.type.order))
    if len(options) == 1:
        return options[0]  # type: ignore[no-any-return]
    tag = ir.Var("case", ir.INT)
    lo.emit(ir.Call((tag,), place_of_function, (item, *options), (), lo.span(node)))
    return Union(tag, options)
