"""Calls that raise whatever the values are: such a call is never left out, as a ``raise`` is not.

A derivative leaves out what only the value of a function needs, and what that would have raised (the logarithm of a
negative number has a slope). An operation that no numbers could make right is no function, and has no derivative.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom

_ARITHMETIC = frozenset(
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "lt", "le", "gt", "ge"),
        *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"),
    )
)
_OF_NUMBERS = frozenset({abs, operator.abs, float, int, max, min, pow, divmod, np.dot, np.inner, np.outer, np.vdot})
_FORMATS = frozenset({operator.mod, operator.imod})
_MATRIX_PRODUCTS = frozenset({operator.matmul, operator.imatmul, np.matmul})
NEVER_OF_FLOATS = _MATRIX_PRODUCTS | {round}
"""Functions that some numbers are mistakes for."""


def always_raises(call: ir.Call) -> bool:
    """Whether a call raises TypeError for all values that its arguments may have."""
    callee, args = call.callee, call.args
    if callee in _MATRIX_PRODUCTS and any(isinstance(type_of_atom(arg), ir.Scalar) for arg in args[:2]):
        return True
    if callee is round and len(args) == 2 and _is_float(args[1]):
        return True
    if callee in _ARITHMETIC:
        return any(_is_none(arg) for arg in args) or (len(args) == 2 and _never_meet(callee, *args))
    if not any(map(_is_none, args)):
        return False
    if callee in _OF_NUMBERS or getattr(callee, "__module__", None) == math.__name__:
        return True
    return isinstance(callee, np.ufunc) and any(map(_is_none, args[: callee.nin]))


def _is_none(atom: ir.Atom) -> bool:
    return type(atom) is ir.Const and atom.value is None


def _never_meet(callee: Any, one: ir.Atom, other: ir.Atom) -> bool:
    """Whether one operand is a number of floating point, or an array of numbers, and the other text or a container."""
    for operand, number in ((one, other), (other, one)):
        is_text = type(operand) is ir.Const and isinstance(operand.value, (str, bytes))
        if is_text and (callee not in _FORMATS or operand is not one):
            type_ = type_of_atom(number)
            if _is_float(number) or (
                isinstance(type_, ir.Array) and type_.dtype is not None and type_.dtype.kind in "biufc"
            ):
                return True
        if _is_container(type_of_atom(operand)) and _is_float(number):
            return True
    return False


def _is_container(type_: ir.Type | None) -> bool:
    if isinstance(type_, ir.Opaque):
        return type_.cls in (set, frozenset)
    return isinstance(type_, (ir.Dict, ir.List, ir.Tuple))


def _is_float(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.kind in ("float", "complex") and type_.dtype is None
