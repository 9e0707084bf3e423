"""Statements on scalars, as fused loops are made of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.ir.nodes import Atom, Call, Const, Statement, Var
from adjoint.ir.types import BOOL, INT, Array, Scalar, Type
from adjoint.runtime.arithmetic import numbers

DTYPES = frozenset(map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.bool_)))
"""Of what the arrays may be."""
_KINDS: dict[str, Any] = {"f": "float", "i": "int", "u": "int", "b": "bool"}
_PLAIN: dict[Any, Any] = {np.dtype(np.float64): float, np.dtype(np.int64): int, np.dtype(np.bool_): bool}


def element_type(dtype: np.dtype) -> Scalar:
    """The type of an element of an array."""
    return Scalar(_KINDS[dtype.kind], dtype)


def rank_of(target: Var) -> int:
    """The rank of an array; 0 for a number, -1 where it is not known."""
    if not isinstance(target.type, Array):
        return 0
    return -1 if target.type.dims is None else len(target.type.dims)


_PYTHONS: dict[str, Any] = {"float": np.float64, "int": np.int64, "bool": np.bool_}


def dtype_of_target(target: Var) -> np.dtype:
    """The dtype of an array or number."""
    type_ = target.type
    assert isinstance(type_, (Array, Scalar))
    if type_.dtype is not None:
        return type_.dtype
    assert isinstance(type_, Scalar)
    dtype: np.dtype = np.dtype(_PYTHONS[type_.kind])
    return dtype


def is_supported(type_: Type) -> bool:
    """Whether loops compute values of a type: real arrays of a known rank above 0, and real numbers."""
    match type_:
        case Array(dtype=dtype, dims=dims):
            return bool(dims) and dtype is not None and dtype in DTYPES
        case Scalar(kind=kind, dtype=dtype):
            return kind != "complex" and (dtype is None or dtype in DTYPES)
        case _:
            return False


class Scalars:
    """Writes statements, one after the other."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []

    def call(self, callee: Callable[..., Any], *args: Atom, type: Type, hint: str = "t") -> Var:
        target = Var(hint, type)
        self.statements.append(Call((target,), callee, args))
        return target

    def of_dtype(self, callee: Callable[..., Any], *args: Atom, dtype: np.dtype) -> Atom:
        """A call whose result must have a dtype: compilers widen what is narrower than theirs."""
        result = self.call(callee, *args, type=element_type(dtype))
        if dtype in _PLAIN:
            return result
        return self.call(dtype.type, result, type=element_type(dtype))

    def cast(self, atom: Atom, dtype: np.dtype) -> Atom:
        """A number in a dtype."""
        plain = _PLAIN.get(dtype)
        if isinstance(atom, Const):
            if plain is not None:
                return Const(plain(atom.value))
            return self.call(dtype.type, Const(np.asarray(atom.value, dtype).item()), type=element_type(dtype))
        assert isinstance(atom, Var) and isinstance(atom.type, Scalar)
        if atom.type.dtype == dtype and atom.type.dtype is not None:
            return atom
        if atom.type.dtype is None and plain is not None and atom.type.kind == _KINDS[dtype.kind]:
            return atom
        if atom.type.kind == "bool" and dtype.kind == "f":
            return self.choose(atom, self.cast(Const(1.0), dtype), self.cast(Const(0.0), dtype), dtype)
        return self.call(plain or dtype.type, atom, type=element_type(dtype))

    def add_whole(self, a: Atom, b: Atom) -> Atom:
        return self.call(operator.add, a, b, type=INT, hint="n")

    def choose(self, condition: Atom, a: Atom, b: Atom, dtype: np.dtype) -> Atom:
        return self.call(numbers.choose, condition, a, b, type=element_type(dtype))

    def compare(self, callee: Callable[..., Any], a: Atom, b: Atom) -> Atom:
        return self.call(callee, a, b, type=BOOL)
