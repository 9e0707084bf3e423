"""Python's operators, and the methods that objects implement them by."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}

UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}

COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}

_NAMES = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.matmul: "matmul",
    operator.lshift: "lshift",
    operator.rshift: "rshift",
    operator.or_: "or",
    operator.and_: "and",
    operator.xor: "xor",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
    operator.eq: "eq",
    operator.ne: "ne",
    operator.neg: "neg",
    operator.pos: "pos",
    operator.invert: "invert",
    abs: "abs",
}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}

SAFE_TO_FOLD = frozenset(_NAMES) | {operator.not_, operator.is_, operator.is_not, operator.contains, operator.getitem}


def method_name(op: Callable[..., Any]) -> str | None:
    """The special method of the left operand."""
    name = _NAMES.get(op)
    return None if name is None else f"__{name}__"


def reflected_name(op: Callable[..., Any]) -> str | None:
    """The special method of the right operand, tried second."""
    name = _NAMES.get(op)
    if name is None:
        return None
    return f"__{_MIRRORED[name]}__" if name in _MIRRORED else f"__r{name}__"


def compares(op: Callable[..., Any]) -> bool:
    """Whether an operator is a comparison that objects have methods for."""
    return _NAMES.get(op) in _MIRRORED


def inplace_operator(op: Callable[..., Any]) -> Callable[..., Any]:
    """The operator as a function that writes its first argument, if that can be written: ``operator.ior``."""
    found: Callable[..., Any] = getattr(operator, f"i{_NAMES[op]}")
    return found


def inplace_name(op: Callable[..., Any]) -> str | None:
    name = _NAMES.get(op)
    return None if name is None else f"__i{name}__"
