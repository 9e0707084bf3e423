"""Building IR by hand, with types guessed from the callee."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.ir.builder import Builder
from adjoint.ir.nodes import Atom, Attribute, Block, Const, Function, Slice, Subscript, Terminator, Var
from adjoint.ir.types import BOOL, FLOAT, INT, OPAQUE, Array, List, Storage, Type
from adjoint.runtime import display

VECTOR = Array(np.dtype("float64"), ("many",))
MATRIX = Array(np.dtype("float64"), ("many", "many"))
WRITTEN = Array(np.dtype("float64"), ("many",), Storage(written=True))
FLOATS = List(FLOAT)

_TESTS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, operator.not_, operator.is_)
_ARRAYS = (np.zeros, np.empty, np.zeros_like, np.ndarray.copy)


def type_of_call(callee: Any, args: Sequence[Atom], kwargs: Sequence[tuple[str, Atom]]) -> tuple[Type, ...]:
    if callee in _TESTS or callee is operator.contains:
        return (BOOL,)
    if callee in (len, int):
        return (INT,)
    if callee in _ARRAYS:
        return (WRITTEN,)
    if callee is display.make_list:
        return (FLOATS,)
    if any(isinstance(arg, Var) and isinstance(arg.type, Array) for arg in args) and callee not in (abs, np.sum):
        return (VECTOR,)
    if isinstance(callee, type) and issubclass(callee, BaseException):
        return (OPAQUE,)
    return (FLOAT,)


def builder() -> Builder:
    return Builder(type_of_call)


def named(hint: str, type_: Type = FLOAT) -> Var:
    """A variable that a person named."""
    return Var(hint, type_, True)


def at(*items: Any) -> Subscript:
    """An index; ints stand for themselves."""
    atoms = tuple(item if isinstance(item, (Var, Const, Slice)) else Const(item) for item in items)
    return Subscript(atoms, len(atoms) > 1)


def attribute(name: str) -> Attribute:
    return Attribute(name)


def end(terminator: Terminator) -> Block:
    """A block without statements."""
    return Block((), terminator)


def function(name: str, params: Sequence[Var], body: Block, doc: str = "") -> Function:
    return Function(name, tuple(params), body, doc)
