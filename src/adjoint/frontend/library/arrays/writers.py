"""NumPy's functions and methods that write the array that they are given."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.operands import array_operand
from adjoint.frontend.data import containers
from adjoint.frontend.data.element_types import mark_array_written
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import NONE, IteratorValue, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.arrays import definitions as array_definitions
from adjoint.frontend.syntax.indexing import array_key

MAX_FLAT_RANK = 3


@handles(np.ndarray.fill)
def _fill(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    value = array_operand(lo, args[1], node)
    assert isinstance(args[0], ir.Var)
    mark_array_written(lo, args[0], node)
    lo.emit(ir.Store(args[0], None, value, "set", lo.span(node)))
    return NONE


@handles(np.copyto)
def _copyto(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    rest = dict(kwargs)
    rest.pop("casting", None)
    where = rest.pop("where", ir.Const(True))
    if rest or len(args) != 2 or not _is_array(args[0]):
        return NotImplemented
    if where == ir.Const(True):
        return _fill(lo, args, {}, node)
    return python_functions.call(lo, array_definitions.copy_where, [*args, where], node)


def _adds_at(sign: int) -> Handler:
    def handle(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if len(args) != 3 or not _is_array(args[0]):
            return NotImplemented
        base, value = args[0], array_operand(lo, args[2], node)
        if sign < 0:
            value = call(lo, np.negative, [value], node)
        assert isinstance(base, ir.Var)
        mark_array_written(lo, base, node)
        lo.emit(ir.Store(base, array_key(lo, args[1], node), value, "add_at", lo.span(node)))
        return NONE

    return handle


HANDLERS[np.add.at] = _adds_at(1)
HANDLERS[np.subtract.at] = _adds_at(-1)


def _computes_at(function: np.ufunc) -> Handler:
    """One element after the other, so that places that repeat are computed with as often as they are named."""

    def handle(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if len(args) != 3 or not any(_is_array(args[0], rank) for rank in range(1, MAX_FLAT_RANK + 1)):
            return NotImplemented
        value = materialize(lo, args[2], node)
        if not isinstance(type_of(value), ir.Scalar) and not _is_array(value):
            value = array_operand(lo, args[2], node)
        meaning: Callable[..., None] = array_definitions.compute_at_each
        if _are_whole_numbers(args[1]) and isinstance(type_of(value), ir.Scalar):
            meaning = array_definitions.compute_at_same
        elif _are_whole_numbers(args[1]) and _has_an_item_each(value, type_of(args[0])):
            meaning = array_definitions.compute_at
        return python_functions.call(lo, meaning, [ir.Const(function), args[0], args[1], value], node)

    return handle


for _function in (np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin):
    HANDLERS[_function.at] = _computes_at(_function)


def _means(function: Callable[..., Any], *names: str) -> Handler:
    """A call that means a call of a Python function with the arguments of these names."""

    def handle(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        named = {**dict(zip(names, args, strict=False)), **kwargs}
        if len(args) > len(names) or not set(named) <= set(names) or not _is_array(named.get(names[0])):
            return NotImplemented
        given = [named[name] for name in names if name in named]
        return python_functions.call(lo, function, given, node) if len(given) == len(names) else NotImplemented

    return handle


HANDLERS[np.fill_diagonal] = _means(array_definitions.fill_diagonal, "a", "val")
HANDLERS[np.put] = _means(array_definitions.put, "a", "ind", "v")
HANDLERS[np.ndarray.put] = _means(array_definitions.put, "a", "indices", "values")
HANDLERS[np.place] = _means(array_definitions.place, "arr", "mask", "vals")
HANDLERS[np.putmask] = _means(array_definitions.putmask, "a", "mask", "values")
HANDLERS[np.put_along_axis] = _means(array_definitions.put_along_axis, "arr", "indices", "values", "axis")


@handles(np.ndarray.sort)
def _sort(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    rest = {name: value for name, value in kwargs.items() if name not in ("axis", "kind", "stable")}
    if rest or len(args) > 3:
        return NotImplemented
    axis = kwargs.get("axis", args[1] if len(args) > 1 else ir.Const(-1))
    return python_functions.call(lo, array_definitions.sort, [args[0], axis], node)


@handles(np.ndarray.partition)
def _partition(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if set(kwargs) - {"kth", "axis"} or not 1 < len(args) + ("kth" in kwargs) < 4:
        return NotImplemented
    kth = kwargs.get("kth", args[1] if len(args) > 1 else NONE)
    axis = kwargs.get("axis", args[2] if len(args) > 2 else ir.Const(-1))
    return python_functions.call(lo, array_definitions.partition, [args[0], kth, axis], node)


def into(
    lo: Lowerer,
    compute: Callable[[], Value],
    callee: Any,
    args: list[Value],
    out: Value,
    where: Value,
    node: ast.AST | None,
) -> Value:
    """A call that writes its result into an array that it is given."""
    if isinstance(out, TupleValue) and len(out.items) == 1:
        out = out.items[0]
    if not isinstance(out, ir.Var) or not isinstance(out.type, ir.Array):
        raise lo.problem("AD0303", node, "'out' must be an array")
    if where != ir.Const(True):
        python_functions.call(lo, array_definitions.compute_where, [ir.Const(callee), out, where, *args], node)
        return out
    atom = materialize(lo, compute(), node)
    mark_array_written(lo, out, node)
    lo.emit(ir.Store(out, None, atom, "set", lo.span(node)))
    return out


def computed_somewhere(lo: Lowerer, callee: Any, args: list[Value], where: Value, node: ast.AST | None) -> Value:
    """A call that computes some elements of a new array."""
    return python_functions.call(lo, array_definitions.compute_some, [ir.Const(callee), where, *args], node)


# a.flat


def flat(lo: Lowerer, array: ir.Var, node: ast.AST | None) -> Value:
    """``array.flat``"""
    assert isinstance(array.type, ir.Array)
    return IteratorValue("flat", (array,))


def _has_low_rank(array: Value) -> bool:
    return any(_is_array(array, rank) for rank in range(1, MAX_FLAT_RANK + 1))


def entry(lo: Lowerer, array: Value, place: Value, node: ast.AST | None) -> Value:
    """What ``np.ndenumerate(array)`` gives in this place: an index and an element."""
    index = python_functions.call(lo, array_definitions.unravelled, [call(lo, np.shape, [array], node), place], node)  # type: ignore[list-item]
    return TupleValue((index, containers.subscript(lo, array, index, node)))


@handles(np.ndenumerate)
def _ndenumerate(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    array = args[0]
    if not _has_low_rank(array):
        return NotImplemented
    return IteratorValue("ndenumerate", (array,))


def flat_item(lo: Lowerer, array: Value, index: Value, node: ast.AST | None) -> Value:
    """``array.flat[index]``"""
    get = array_definitions.get_flat if _has_low_rank(array) else array_definitions.get_flat_of_any_rank
    return python_functions.call(lo, get, [array, _flat_places(lo, array, index, node)], node)


def set_flat_item(lo: Lowerer, array: Value, index: Value, value: Value, node: ast.AST | None) -> None:
    """``array.flat[index] = value``"""
    put = array_definitions.set_flat if _has_low_rank(array) else array_definitions.set_flat_of_any_rank
    python_functions.call(lo, put, [array, _flat_places(lo, array, index, node), value], node)


def _flat_places(lo: Lowerer, array: Value, index: Value, node: ast.AST | None) -> Value:
    """The places that an index of ``array.flat`` names, as one number or an array of them."""
    type_ = type_of(index) if isinstance(index, (ir.Var, ir.Const)) else None
    if isinstance(type_, ir.Scalar) and type_.kind == "bool":  # Python's True is the first place; NumPy's is refused
        helps = ("give a place, array.flat[0], or ask: if condition: array.flat[0]",)
        raise lo.problem("AD0301", node, "a truth value as an index of 'flat'", helps=helps)
    if isinstance(type_, ir.Scalar):
        return index
    size = call(lo, np.size, [materialize(lo, array, node)], node)
    return containers.subscript(lo, call(lo, np.arange, [size], node), index, node)


def _is_array(value: Value | None, rank: int | None = None) -> bool:
    if not isinstance(value, ir.Var) or not isinstance(value.type, ir.Array):
        return False
    return rank is None or (value.type.dims is not None and len(value.type.dims) == rank)


def _are_whole_numbers(index: Value) -> bool:
    """Whether an index is an array of whole numbers of one axis: it names rows, one behind the other."""
    return (
        isinstance(index, ir.Var)
        and isinstance(index.type, ir.Array)
        and index.type.dims is not None
        and len(index.type.dims) == 1
        and index.type.dtype is not None
        and index.type.dtype.kind in "iu"
    )


def _has_an_item_each(value: ir.Atom, of: ir.Type) -> bool:
    """Whether values have an item for each row that is named, and are not broadcast to that."""
    type_ = type_of(value)
    return (
        isinstance(type_, ir.Array)
        and isinstance(of, ir.Array)
        and type_.dims is not None
        and of.dims is not None
        and len(type_.dims) == len(of.dims)
        and type_.dims[0] == "many"
    )
