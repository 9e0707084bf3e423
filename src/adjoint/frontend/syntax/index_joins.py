"""``np.r_`` and ``np.c_``: arrays that are joined by writing them in brackets."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import SliceValue, TupleValue, Value
from adjoint.frontend.library import array_definitions, python_functions
from adjoint.ir.nodes import Const


def join(lo: Lowerer, constant: Any, index: Value, node: ast.AST | None) -> Value | None:
    """The array; None for brackets with directives (``np.r_["0,2", a, b]``)."""
    items: Sequence[Value] = index.items if isinstance(index, TupleValue) else (index,)
    if not items or any(isinstance(item, Const) and isinstance(item.value, str) for item in items):
        return None
    maker = array_definitions.joined_rows if constant is np.r_ else array_definitions.joined_columns
    parts = [_numbers_of(lo, item, node) if isinstance(item, SliceValue) else item for item in items]
    return python_functions.call(lo, maker, [TupleValue(tuple(parts))], node)


def _numbers_of(lo: Lowerer, part: SliceValue, node: ast.AST | None) -> Value:
    """``a:b:s`` are numbers from ``a`` on, with steps of ``s``; ``a:b:nj`` are ``n`` of them, with both ends."""
    start = Const(0) if part.lower == Const(None) else part.lower
    step = Const(1) if part.step == Const(None) else part.step
    if isinstance(step, Const) and isinstance(step.value, complex):
        return lo.call(Const(np.linspace), [start, part.upper, Const(int(abs(step.value)))], {}, node)
    return lo.call(Const(np.arange), [start, part.upper, step], {}, node)
