"""Building IR by hand, with types guessed from the callee."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.runtime import display

VECTOR = ir.Array(np.dtype("float64"), ("many",))
MATRIX = ir.Array(np.dtype("float64"), ("many", "many"))
WRITTEN = ir.Array(np.dtype("float64"), ("many",), ir.Storage(written=True))
FLOATS = ir.List(ir.FLOAT)

_TESTS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, operator.not_, operator.is_)
_ARRAYS = (np.zeros, np.empty, np.zeros_like, np.ndarray.copy)


def type_of_call(callee: Any, args: Sequence[ir.Atom], kwargs: Sequence[tuple[str, ir.Atom]]) -> tuple[ir.Type, ...]:
    if callee in _TESTS or callee is operator.contains:
        return (ir.BOOL,)
    if callee in (len, int):
        return (ir.INT,)
    if callee in _ARRAYS:
        return (WRITTEN,)
    if callee is display.make_list:
        return (FLOATS,)
    if any(isinstance(arg, ir.Var) and isinstance(arg.type, ir.Array) for arg in args) and callee not in (abs, np.sum):
        return (VECTOR,)
    if isinstance(callee, type) and issubclass(callee, BaseException):
        return (ir.OPAQUE,)
    return (ir.FLOAT,)


def builder() -> Builder:
    return Builder(type_of_call)


def named(hint: str, type_: ir.Type = ir.FLOAT) -> ir.Var:
    """A variable that a person named."""
    return ir.Var(hint, type_, True)


def at(*items: Any) -> ir.Subscript:
    """An index; ints stand for themselves."""
    atoms = tuple(item if isinstance(item, (ir.Var, ir.Const, ir.Slice)) else ir.Const(item) for item in items)
    return ir.Subscript(atoms, len(atoms) > 1)


def attribute(name: str) -> ir.Attribute:
    return ir.Attribute(name)


def end(terminator: ir.Terminator) -> ir.Block:
    """A block without statements."""
    return ir.Block((), terminator)


def function(name: str, params: Sequence[ir.Var], body: ir.Block, doc: str = "") -> ir.Function:
    return ir.Function(name, tuple(params), body, doc)
