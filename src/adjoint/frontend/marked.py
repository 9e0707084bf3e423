"""What is stored in a field that carries no derivative by declaration: a constant."""

from __future__ import annotations

from typing import Any

from adjoint.declare import stop_gradient
from adjoint.frontend.core import Lowerer
from adjoint.frontend.values import TupleValue, Value
from adjoint.ir.nodes import Var
from adjoint.ir.types import Array, Number, Scalar, carries_derivative
from adjoint.types.marks import no_derivative_fields


def as_stored(lo: Lowerer, cls: type | None, name: Any, value: Value) -> Value:
    """The value as a field of an object of class ``cls`` holds it."""
    if cls is None or name not in no_derivative_fields(cls):
        return value
    return _constant(lo, value)


def _constant(lo: Lowerer, value: Value) -> Value:
    match value:
        case Var(type=Scalar() | Number() | Array() as type_) if carries_derivative(type_):
            return lo.open.call(stop_gradient, value)
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(_constant(lo, item) for item in items), cls)
        case _:
            return value
