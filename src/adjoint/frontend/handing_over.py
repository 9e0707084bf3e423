"""What is handed to functions whose bodies are not visible: whether it may vary, and what must exist for that."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable

from adjoint.frontend import objects
from adjoint.frontend.core import Lowerer
from adjoint.frontend.shapes import NeedsRuntime, original_sites
from adjoint.frontend.values import (
    Closure,
    GeneratorValue,
    IteratorValue,
    Method,
    Operator,
    Partial,
    Record,
    Ref,
    TupleValue,
    Union,
    Value,
)
from adjoint.ir.nodes import Const, Var
from adjoint.ir.types import carries_derivative
from adjoint.rules.declare import Rule


def may_carry(lo: Lowerer, value: Value) -> bool:
    """Whether a derivative may flow through ``value``."""
    match value:
        case Var(type=type_):
            return carries_derivative(type_)
        case Const(value=constant):
            return isinstance(constant, types.FunctionType)
        case Ref():
            record = lo.store[value]
            return isinstance(record, Record) and any(may_carry(lo, item) for item in record.items)
        case TupleValue(items=items):
            return any(may_carry(lo, item) for item in items)
        case Method():
            return may_carry(lo, value.receiver) or may_carry(lo, value.function)
        case Union(options=options):
            return any(may_carry(lo, option) for option in options)
        case IteratorValue(parts=parts):
            return any(may_carry(lo, part) for part in parts)
        case Closure() | Partial() | GeneratorValue() | Operator():
            return True
        case _:
            return False


def refuse_objects(lo: Lowerer, rule: Rule, values: Iterable[Value], node: ast.AST | None) -> None:
    """Rules tell derivatives for numbers and arrays; what NumPy makes of an object, its class knows."""
    for value in values:
        cls = objects.class_of(lo, value) if objects.is_object(lo, value) and may_carry(lo, value) else None
        if cls is not None:
            label = f"{rule.name!r} is handed an object of class {cls.__name__!r}"
            raise lo.problem("AD0204", node, label, helps=("hand over its fields",))


def keep_identity(lo: Lowerer, value: Value) -> None:
    """A list or dict that is handed to who knows whom must be the one that others see, not a copy."""
    if isinstance(value, Ref) and value.origin is None:
        record = lo.store[value]
        if isinstance(record, Record) and record.cls in (list, dict) and record.parts:
            raise NeedsRuntime(tuple(original_sites((value.site,))))


def keep_track(lo: Lowerer, value: Value) -> None:
    """Of an object from outside only the parts are known to vary: what it is handed to takes it as a whole."""
    if isinstance(value, Ref) and value.origin is not None and may_carry(lo, value):
        record = lo.store[value]
        if isinstance(record, Record) and record.cls not in (list, dict):
            raise NeedsRuntime(tuple(original_sites((value.site,))))
