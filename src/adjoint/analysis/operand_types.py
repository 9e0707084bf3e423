"""Whether what a call is given are plain numbers, or objects of which Python may run methods instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom

_PLAIN = (
    *(bool, int, float, complex, str, bytes, type(None), type, tuple, list, dict, set, frozenset, range, slice),
    *(np.ndarray, np.generic, np.dtype),
)
_NUMBERS = (float, int, bool)


def are_numbers(args: Sequence[ir.Atom]) -> bool:
    """Whether all operands are floats, whole numbers or truth values."""
    for arg in args:
        if type(arg) is ir.Var:
            if type(arg.type) is not ir.Scalar:
                return False
        elif type(arg) is not ir.Const or type(arg.value) not in _NUMBERS:
            return False
    return True


def may_be_overloaded(args: Sequence[ir.Atom]) -> bool:
    """Whether Python may run methods of some class for a call of one of its own functions."""
    for arg in args:
        if type(arg) is ir.Var:
            if type(arg.type) is not ir.Scalar and _has_methods(arg.type):
                return True
        elif not (type(arg) is ir.Const and type(arg.value) in _NUMBERS) and _has_methods(type_of_atom(arg)):
            return True
    return False


def _has_methods(type_: ir.Type | None) -> bool:
    match type_:
        case ir.Opaque(cls=cls, signature=signature):
            return cls is None or not (issubclass(cls, _PLAIN) or signature is not None or hasattr(cls, ir.RESIDUAL))
        case ir.Instance():
            return True
        case ir.Array(dtype=dtype):
            return dtype is not None and dtype.kind == "O"
        case _:
            return False
