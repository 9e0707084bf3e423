"""Types of arrays, as constants name them and lists of fields describe them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.data import making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import TupleValue, Value


def dtype_of(lo: Lowerer, given: Value) -> np.dtype[Any] | None:
    """The type that a constant names, or that a list of fields describes; None where that is not known."""
    items = making.list_items(lo, given)
    try:
        return np.dtype(_constant(given) if items is None else [_constant(item) for item in items])
    except (TypeError, ValueError):
        return None


def _constant(value: Value) -> Any:
    match value:
        case ir.Const(value=known):
            return known
        case TupleValue(items=items):
            return tuple(map(_constant, items))
    raise TypeError("not known")
