"""Statements on scalars, as fused loops are made of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.residuals.tapes import dtype_of
from adjoint.runtime.arithmetic import numbers

DTYPES = frozenset(map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128)))
"""Of what the arrays may be."""
_KINDS: dict[str, Any] = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}
_PLAIN: dict[Any, Any] = {np.dtype(plain): plain for plain in (float, int, bool, complex)}


def element_type(dtype: np.dtype) -> ir.Scalar:
    """The type of an element of an array."""
    return ir.Scalar(_KINDS[dtype.kind], dtype)


def rank_of(target: ir.Var) -> int:
    """The rank of an array; 0 for a number, -1 where it is not known."""
    if not isinstance(target.type, ir.Array):
        return 0
    return -1 if target.type.dims is None else len(target.type.dims)


def dtype_of_target(target: ir.Var) -> np.dtype:
    """The dtype of an array or number."""
    type_ = target.type
    assert isinstance(type_, (ir.Array, ir.Scalar))
    if isinstance(type_, ir.Scalar):
        return dtype_of(type_)
    assert type_.dtype is not None
    return type_.dtype


def is_supported(type_: ir.Type) -> bool:
    """Whether loops compute values of a type: arrays of a known rank above 0, and numbers."""
    match type_:
        case ir.Array(dtype=dtype, dims=dims):
            return bool(dims) and dtype is not None and dtype in DTYPES
        case ir.Scalar(dtype=dtype):
            return dtype is None or dtype in DTYPES
        case _:
            return False


class Scalars:
    """Writes statements, one after the other."""

    def __init__(self) -> None:
        self.statements: list[ir.Statement] = []

    def call(self, callee: Callable[..., Any], *args: ir.Atom, type: ir.Type, hint: str = "t") -> ir.Var:
        target = ir.Var(hint, type)
        self.statements.append(ir.Call((target,), callee, args))
        return target

    def of_dtype(self, callee: Callable[..., Any], *args: ir.Atom, dtype: np.dtype) -> ir.Atom:
        """A call whose result must have a dtype: compilers widen what is narrower than theirs."""
        result = self.call(callee, *args, type=element_type(dtype))
        if dtype in _PLAIN:
            return result
        return self.call(dtype.type, result, type=element_type(dtype))

    def cast(self, atom: ir.Atom, dtype: np.dtype) -> ir.Atom:
        """A number in a dtype."""
        plain = _PLAIN.get(dtype)
        if isinstance(atom, ir.Const):
            if plain is not None:
                return ir.Const(plain(atom.value))
            return self.call(dtype.type, ir.Const(np.asarray(atom.value, dtype).item()), type=element_type(dtype))
        assert isinstance(atom, ir.Var) and isinstance(atom.type, ir.Scalar)
        if atom.type.dtype == dtype and atom.type.dtype is not None:
            return atom
        if atom.type.dtype is None and plain is not None and atom.type.kind == _KINDS[dtype.kind]:
            return atom
        if atom.type.kind == "bool" and dtype.kind in "fc":
            return self.choose(atom, self.cast(ir.Const(1.0), dtype), self.cast(ir.Const(0.0), dtype), dtype)
        return self.call(plain or dtype.type, atom, type=element_type(dtype))

    def add_whole(self, a: ir.Atom, b: ir.Atom) -> ir.Atom:
        return self.call(operator.add, a, b, type=ir.INT, hint="n")

    def choose(self, condition: ir.Atom, a: ir.Atom, b: ir.Atom, dtype: np.dtype) -> ir.Atom:
        return self.call(numbers.choose, condition, a, b, type=element_type(dtype))

    def compare(self, callee: Callable[..., Any], a: ir.Atom, b: ir.Atom) -> ir.Atom:
        return self.call(callee, a, b, type=ir.BOOL)
