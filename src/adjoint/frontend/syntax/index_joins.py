"""What is made by writing in brackets: arrays joined by ``np.r_`` and ``np.c_``, grids, indices of ``np.index_exp``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.data.containers import subscript, tuple_items
from adjoint.frontend.data.making import is_tuple
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.values import SliceValue, TupleValue, Union, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.arrays import definitions as array_definitions


def made_of(lo: Lowerer, base: ir.Const, index: Value, node: ast.AST | None) -> Value | None:
    """What one of ``INDEX_TRICKS`` makes of what stands in its brackets; None where that is not known here.

    A tuple in them is as if its items were written there, wherever it comes from.
    """
    if base.value is np.s_:
        return index
    if isinstance(index, Union):
        return on_each_option(lo, index, lambda option: subscript(lo, base, option, node), node)
    if isinstance(index, ir.Var) and isinstance(index.type, ir.Tuple):
        index = TupleValue(tuple(tuple_items(lo, index, node)))
    if _may_be_a_tuple(index):
        return None
    if base.value is np.index_exp:
        return index if isinstance(index, TupleValue) or is_tuple(index) else TupleValue((index,))
    return (_join if base.value is np.r_ or base.value is np.c_ else _grid)(lo, base.value, index, node)


def _may_be_a_tuple(index: Value) -> bool:
    """Whether nobody looked into what stands in brackets: only NumPy tells whether that is one item or several."""
    kind = index.type if isinstance(index, ir.Var) else None
    return isinstance(kind, ir.Opaque) and (kind.cls is None or issubclass(kind.cls, tuple) or kind.cls is object)


def _join(lo: Lowerer, constant: Any, index: Value, node: ast.AST | None) -> Value | None:
    """The array; None for brackets with directives that are not followed (``np.r_["r", a, b]``)."""
    maker = array_definitions.joined_rows if constant is np.r_ else array_definitions.joined_columns
    if is_tuple(index):
        return python_functions.call(lo, maker, [index], node)
    items: Sequence[Value] = index.items if isinstance(index, TupleValue) else (index,)
    directive = _directive(items[0]) if constant is np.r_ and len(items) > 1 else None
    items = items if directive is None else items[1:]
    if not items or any(isinstance(item, ir.Const) and isinstance(item.value, str) for item in items):
        return None
    parts = [_numbers_of(lo, item, node) if isinstance(item, SliceValue) else item for item in items]
    if directive is not None:
        axis, rank = map(ir.Const, directive)
        arrays = [lo.call(ir.Const(np.array), [part], {"ndmin": rank}, node) for part in parts]
        return lo.call(ir.Const(np.concatenate), [TupleValue(tuple(arrays)), axis], {}, node)
    return python_functions.call(lo, maker, [TupleValue(tuple(parts))], node)


def _directive(item: Value) -> tuple[int, int] | None:
    """The axis along which ``np.r_["0,2", a, b]`` joins, and the least number of axes; None for other directives."""
    said = item.value if isinstance(item, ir.Const) else None
    numbers = said.split(",") if isinstance(said, str) else []
    if len(numbers) not in (1, 2) or not all(number.strip().lstrip("-").isdigit() for number in numbers):
        return None
    return int(numbers[0]), int(numbers[1]) if len(numbers) == 2 else 1


def _grid(lo: Lowerer, constant: Any, index: Value, node: ast.AST | None) -> Value | None:
    """The grid of ``np.mgrid[a:b, c:d]``, or of ``np.ogrid``; None where there is more than slices in the brackets."""
    parts: Sequence[Value] = index.items if isinstance(index, TupleValue) else (index,)
    if not parts or not all(isinstance(part, SliceValue) and part.upper != ir.Const(None) for part in parts):
        return None
    if isinstance(index, SliceValue):
        return _numbers_of(lo, index, node)
    dense = constant is np.mgrid
    axes = [_axis_of(lo, part, dense, node) for part in parts if isinstance(part, SliceValue)]
    if any(map(_has_floats, axes)):
        axes = [
            axis if _has_floats(axis) else lo.call(ir.Const(operator.mul), [axis, ir.Const(1.0)], {}, node)
            for axis in axes
        ]
    maker = array_definitions.dense_grid if dense else array_definitions.open_grid
    return python_functions.call(lo, maker, [TupleValue(tuple(axes))], node)


def _has_floats(axis: Value) -> bool:
    return isinstance(axis, ir.Var) and isinstance(axis.type, ir.Array) and ir.is_float_dtype(axis.type.dtype)


def _axis_of(lo: Lowerer, part: SliceValue, dense: bool, node: ast.AST | None) -> Value:
    """The numbers of one of several slices, as NumPy computes them for grids."""
    start = ir.Const(0) if part.lower == ir.Const(None) else part.lower
    step = ir.Const(1) if part.step == ir.Const(None) else part.step
    if isinstance(step, ir.Const) and isinstance(step.value, complex):
        count = ir.Const(int(abs(step.value)))
        return python_functions.call(lo, array_definitions.numbers_to, [start, part.upper, count], node)
    return python_functions.call(lo, array_definitions.numbers_up_to, [start, part.upper, step, ir.Const(dense)], node)


def _numbers_of(lo: Lowerer, part: SliceValue, node: ast.AST | None) -> Value:
    """``a:b:s`` are numbers from ``a`` on, with steps of ``s``; ``a:b:nj`` are ``n`` of them, with both ends."""
    start = ir.Const(0) if part.lower == ir.Const(None) else part.lower
    step = ir.Const(1) if part.step == ir.Const(None) else part.step
    if isinstance(step, ir.Const) and isinstance(step.value, complex):
        return lo.call(ir.Const(np.linspace), [start, part.upper, ir.Const(int(abs(step.value)))], {}, node)
    return lo.call(ir.Const(np.arange), [start, part.upper, step], {}, node)
