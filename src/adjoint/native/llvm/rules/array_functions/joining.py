"""Arrays made of several; diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.native.llvm.rules import arrays, numbers
from adjoint.native.llvm.rules.array_functions.lines import axis_of
from adjoint.native.llvm.rules.array_functions.makers import diagonal, flat
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Array, Number, Tuple, Unsupported, Value, is_complex
from adjoint.native.llvm.writer import constant, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.records import replace
from adjoint.runtime.array_functions import arrays as runtime_arrays
from adjoint.runtime.array_functions import linalg, sequences


def _alike(e: Emission, parts: Sequence[Value], but: int | None, said: str) -> list[Array]:
    """Arrays of one kind of numbers, whose extents agree, but for one axis."""
    found = [arrays.array(part) for part in parts]
    first = found[0]
    if any((x.kind.element, x.kind.rank) != (first.kind.element, first.kind.rank) for x in found):
        raise Unsupported("arrays of several kinds beside each other")
    for x in found[1:]:
        for axis, (one, other) in enumerate(zip(first.shape, x.shape, strict=True)):
            if axis != but and one != other:
                e.check(e.writer.compare("ne", one, other), ValueError, said)
    return found


@rule(sequences.concatenate_of)
def _joined(e: Emission, *parts: Value, axis: Value | None = None) -> Array:
    axis = constant(0) if axis is None else axis
    given: Sequence[Value] = parts
    if arrays.is_none(axis):
        given, axis = [flat(e, arrays.array(part)) for part in parts], constant(0)
    rank = arrays.array(given[0]).kind.rank
    at = axis_of(axis, rank)
    found = _alike(e, given, at, "all the input array dimensions except for the concatenation axis must match exactly")
    total = "0"
    for x in found:
        total = e.writer.add(total, x.shape[at])
    first = found[0]
    out = arrays.new(e, first.kind.element, [*first.shape[:at], total, *first.shape[at + 1 :]], checked=False)
    start = "0"
    for x in found:

        def one(index: Sequence[str], x: Array = x, start: str = start) -> None:
            target = [*index[:at], e.writer.add(start, index[at]), *index[at + 1 :]]
            value = arrays.item(e, x.kind.element, arrays.address(e, x, index))
            arrays.write(e, x.kind.element, arrays.address(e, out, target), value)

        arrays.nest(e, x.shape, one)
        start = e.writer.add(start, x.shape[at])
    return out


@rule(sequences.stack_of)
def _stacked(e: Emission, *parts: Value, axis: Value | None = None) -> Array:
    axis = constant(0) if axis is None else axis
    found = _alike(e, parts, None, "all input arrays must have the same shape")
    first = found[0]
    at = axis_of(axis, first.kind.rank + 1)
    out = arrays.new(e, first.kind.element, [*first.shape[:at], str(len(found)), *first.shape[at:]], checked=False)
    for place, x in enumerate(found):

        def one(index: Sequence[str], x: Array = x, place: int = place) -> None:
            value = arrays.item(e, x.kind.element, arrays.address(e, x, index))
            arrays.write(e, x.kind.element, arrays.address(e, out, [*index[:at], str(place), *index[at:]]), value)

        arrays.nest(e, x.shape, one)
    return out


def _rank(parts: Sequence[Value]) -> int:
    """The rank of arrays beside each other."""
    ranks = {arrays.array(part).kind.rank for part in parts}
    if len(ranks) != 1 or ranks == {0}:
        raise Unsupported("arrays of several ranks beside each other")
    return ranks.pop()


@rule(sequences.hstack_of)
def _side_by_side(e: Emission, *parts: Value) -> Array:
    return _joined(e, *parts, axis=constant(0 if _rank(parts) == 1 else 1))


@rule(sequences.vstack_of)
def _below_each_other(e: Emission, *parts: Value) -> Array:
    return (_stacked if _rank(parts) == 1 else _joined)(e, *parts)


@rule(sequences.column_stack_of)
def _as_columns(e: Emission, *parts: Value) -> Array:
    return (_stacked if _rank(parts) == 1 else _joined)(e, *parts, axis=constant(1))


# Diagonals


def _require_axes_of_a_matrix(axis1: Value | None, axis2: Value | None) -> None:
    """Refuses diagonals along other axes than both of a matrix, counted from one end or the other."""
    given = [axis.name if isinstance(axis, Number) else axis for axis in (axis1, axis2)]
    if given != ["-2", "-1"] and not (given[0] in (None, "0") and given[1] in (None, "1")):
        raise Unsupported("diagonals along other axes")


@rule(np.diagonal)
def _diagonal(
    e: Emission, a: Value, offset: Value | None = None, axis1: Value | None = None, axis2: Value | None = None
) -> Array:
    _require_axes_of_a_matrix(axis1, axis2)
    found = diagonal(e, a, offset)
    return replace(found, kind=replace(found.kind, read_only=True))


def _zeros_with(e: Emission, like: Value, ct: Value) -> Array:
    """Zeros in the shape of a matrix, with a vector, or a number, on the diagonal."""
    x = arrays.array(like)
    if x.kind.rank != 2 or x.kind.element[0] != "f":
        raise Unsupported("diagonals of these arrays")
    out = arrays.new(e, x.kind.element, x.shape, zero=True, checked=False)
    target = diagonal(e, out)

    def one(index: Sequence[str]) -> None:
        arrays.write(e, x.kind.element, arrays.address(e, target, index), arrays.element(e, ct, index, 1))

    arrays.nest(e, target.shape, one)
    return out


@rule(runtime_arrays.place_diagonal, runtime_arrays.place_trace)
def _place_diagonal(
    e: Emission,
    ct: Value,
    x: Value,
    offset: Value | None = None,
    axis1: Value | None = None,
    axis2: Value | None = None,
) -> Array:
    if offset is not None and not (isinstance(offset, Number) and offset.name == "0"):
        raise Unsupported("other diagonals")
    _require_axes_of_a_matrix(axis1, axis2)
    return _zeros_with(e, x, ct)


@rule(linalg.diagonal_of)
def _diagonal_of(e: Emission, m: Value) -> Array:
    return arrays.copied(e, diagonal(e, m))


@rule(linalg.diagonal_matrix)
def _diagonal_matrix(e: Emission, d: Value) -> Array:
    given = arrays.array(d)
    if given.kind.rank != 1:
        raise Unsupported("stacks of diagonals")
    out = arrays.new(e, given.kind.element, (*given.shape, *given.shape), zero=True, checked=False)
    arrays.assign(e, diagonal(e, out), given)
    return out


# Triangles


def _of_triangle(callee: Any, order: str) -> None:
    @rule(callee)
    def write(e: Emission, m: Value, k: Value | None = None) -> Array:
        given = arrays.array(m)
        if given.kind.rank != 2 or is_complex(given.kind.element):
            raise Unsupported("triangles of these arrays")
        out = arrays.new(e, given.kind.element, given.shape, checked=False)
        offset = constant(0) if k is None else numbers.number(k)

        def one(place: Sequence[str]) -> None:
            row, column = map(whole, place)
            entry = arrays.read(e, given.kind.element, arrays.address(e, given, place))
            counts = numbers.compare(e, order, numbers.arithmetic(e, "fsub", column, row), offset)
            found = numbers.choice(e, counts, entry, constant(0, given.kind.element))
            arrays.write(e, given.kind.element, arrays.address(e, out, place), found)

        arrays.nest(e, given.shape, one)
        return out


_of_triangle(np.tril, "le")
_of_triangle(np.triu, "ge")


# Shapes


@rule(np.moveaxis)
def _moveaxis(e: Emission, a: Value, source: Value, destination: Value) -> Array:
    given = arrays.array(a)
    rank = given.kind.rank
    start, stop = axis_of(source, rank), axis_of(destination, rank)
    order = [axis for axis in range(rank) if axis != start]
    order.insert(stop, start)
    return given if start == stop else arrays.transposed(given, order)


@rule(np.swapaxes)
def _swapped(e: Emission, a: Value, axis1: Value, axis2: Value) -> Array:
    given = arrays.array(a)
    order = list(range(given.kind.rank))
    one, other = axis_of(axis1, given.kind.rank), axis_of(axis2, given.kind.rank)
    order[one], order[other] = other, one
    return given if one == other else arrays.transposed(given, order)


@rule(np.flip)
def _flipped(e: Emission, m: Value, axis: Value | None = None) -> Array:
    """A view whose elements lie the other way along some axes; along all if none is told."""
    given = arrays.array(m)
    rank = given.kind.rank
    told = axis.items if isinstance(axis, Tuple) else (axis,)
    is_told = axis is not None and not arrays.is_none(axis)
    turned = {axis_of(each, rank) for each in told} if is_told else set(range(rank))
    steps = [ir.Const(-1 if each in turned else None) for each in range(rank)]
    key = ir.Subscript(tuple([ir.Slice(ir.Const(None), ir.Const(None), step) for step in steps]), tupled=True)
    return RULES["load"](e, given, key)  # type: ignore[no-any-return]
