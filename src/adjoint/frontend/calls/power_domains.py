"""The domain of real powers: where a power of Python's floats may be complex, of a negative number by a fraction."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom

_DEEPEST = 8
_NEVER_NEGATIVE = (
    abs,
    np.abs,
    np.square,
    math.sqrt,
    np.sqrt,
    math.exp,
    np.exp,
    math.hypot,
    np.hypot,
    math.cosh,
    math.fabs,
)
_AS_ITS_OPERANDS = (operator.add, operator.truediv, operator.mul, float, min)


def may_be_complex(base: ir.Atom, exponent: ir.Atom, before: Sequence[ir.Statement]) -> bool:
    """Whether a power of two numbers of Python may be complex, as far as the statements before it tell."""
    if not all(map(_is_of_python, (base, exponent))):
        return False
    by = exponent.value if isinstance(exponent, ir.Const) else None
    if by is None and type_of_atom(exponent).kind != "float":  # type: ignore[union-attr]
        return False
    if by is not None and not (math.isfinite(by) and by % 1):
        return False
    return not _Signs(before).is_not_negative(base, 0)


def _is_of_python(atom: ir.Atom) -> bool:
    """Whether it is a whole number or a float of Python."""
    if isinstance(atom, ir.Const):
        return type(atom.value) in (bool, int, float)
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.dtype is None and type_.kind in ("bool", "int", "float")


class _Signs:
    def __init__(self, before: Sequence[ir.Statement]) -> None:
        self.before = before

    def is_not_negative(self, atom: ir.Atom, depth: int) -> bool:
        """Whether a number is surely zero or more, or no number at all."""
        if isinstance(atom, ir.Const):
            return bool(atom.value >= 0)
        made = self.made(atom)
        if made is None or depth > _DEEPEST or made.kwargs:
            return False
        args = made.args

        def inside(each: ir.Atom) -> bool:
            return self.is_not_negative(each, depth + 1)

        if made.callee in _NEVER_NEGATIVE:
            return True
        if made.callee is operator.mul and args[0] is args[1]:
            return True
        if made.callee is operator.pow:
            return self.is_even(args[1]) or inside(args[0])
        if made.callee is max:
            return any(map(inside, args))
        return made.callee in _AS_ITS_OPERANDS and all(map(inside, args))

    def is_even(self, atom: ir.Atom) -> bool:
        return isinstance(atom, ir.Const) and isinstance(atom.value, (int, float)) and atom.value % 2 == 0

    def made(self, atom: ir.Atom) -> ir.Call | None:
        for statement in reversed(self.before):
            if isinstance(statement, ir.Call) and atom in statement.targets:
                return statement
        return None
