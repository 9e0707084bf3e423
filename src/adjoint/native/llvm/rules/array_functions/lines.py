"""What is done along an axis: running sums and products, and orders."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.native.helpers import order
from adjoint.native.llvm.rules import arrays, numbers
from adjoint.native.llvm.rules.array_functions.makers import flat
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Array, ArrayKind, Number, Unsupported, Value, is_complex
from adjoint.native.llvm.writer import constant
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.array_functions import arrays as runtime_arrays
from adjoint.runtime.array_functions import places

_Line = Callable[..., None]


def axis_of(axis: Value | None, rank: int) -> int:
    """The axis that is meant, counted from the first."""
    if not isinstance(axis, Number) or not axis.name.lstrip("-").isdigit() or not -rank <= int(axis.name) < rank:
        raise Unsupported("an axis at run time")
    return int(axis.name) % rank


def along(e: Emission, axis: Value | None, element: str, write: _Line, *given: Value) -> Array:
    """A new array, each line of which is written from lines of arrays of the same shape; without an axis, of all."""
    xs = [arrays.array(x) for x in given]
    if axis is None or arrays.is_none(axis):
        xs, axis = [flat(e, x) for x in xs], constant(0)
    first = xs[0]
    rank = first.kind.rank
    at = axis_of(axis, rank)
    if any(x.kind.rank != rank for x in xs):
        raise Unsupported("lines of arrays of several ranks")
    out = arrays.new(e, element, first.shape, checked=False)

    def one(index: Sequence[str]) -> None:
        write(*[_line(e, x, at, index) for x in (out, *xs)])

    arrays.nest(e, [*first.shape[:at], *first.shape[at + 1 :]], one)
    return out


def _line(e: Emission, x: Array, axis: int, index: Sequence[str]) -> Array:
    """The elements along an axis, at places of the others."""
    if x.kind.rank == 1:
        return x
    data = arrays.address(e, x, [*index[:axis], "0", *index[axis:]])
    kind = ArrayKind(x.kind.element, 1, x.kind.by_rows and axis == x.kind.rank - 1, x.kind.read_only)
    return Array(kind, x.base, data, (x.shape[axis],), (x.strides[axis],), x.owner)


# Running sums and products


def _running(e: Emission, x: Value, axis: Value | None, combine: Any = operator.add, backwards: bool = False) -> Array:
    kind = arrays.array(x).kind.element
    if kind[0] not in "fc":
        raise Unsupported("running sums of whole numbers")

    def write(out: Array, line: Array) -> None:
        slot, last = e.slots(2), e.writer.sub(line.shape[0], "1")
        arrays.write(e, kind, slot, constant(0.0 if combine is operator.add else 1.0))

        def one(counter: str) -> None:
            place = [e.writer.sub(last, counter) if backwards else counter]
            found = arrays.item(e, kind, arrays.address(e, line, place))
            found = RULES[combine](e, arrays.item(e, kind, slot), found)
            arrays.write(e, kind, slot, found)
            arrays.write(e, kind, arrays.address(e, out, place), found)

        e.each(line.shape[0], one)

    return along(e, axis, kind, write, x)


@rule(np.cumsum)
def _sums(e: Emission, a: Value, axis: Value | None = None) -> Array:
    return _running(e, a, axis)


@rule(np.cumprod)
def _products(e: Emission, a: Value, axis: Value | None = None) -> Array:
    return _running(e, a, axis, operator.mul)


@rule(runtime_arrays.reverse_cumsum)
def _sums_from_the_end(e: Emission, cotangent: Value, x: Value, axis: Value | None = None) -> Array:
    return _in_shape(e, _running(e, cotangent, axis, backwards=True), arrays.array(x))


def _in_shape(e: Emission, found: Array, like: Array) -> Array:
    """A new array in the shape of another one that has as many elements."""
    kind = ArrayKind(found.kind.element, like.kind.rank, True)
    strides = e.writer.strides_by_rows(kind.element, like.shape)
    return Array(kind, found.base, found.data, like.shape, strides, found.owner)


@rule(runtime_arrays.prod_others)
def _products_of_others(e: Emission, x: Value, axis: Value | None = None) -> Array:
    """For each element the product of the others, right also where some are zero: of those before and behind it."""
    given = arrays.array(x)
    kind = given.kind.element
    if kind not in ("f8", "f4"):
        raise Unsupported("products of whole numbers")

    def write(out: Array, line: Array) -> None:
        slot, last = e.slots(1), e.writer.sub(line.shape[0], "1")
        for backwards in (False, True):
            arrays.write(e, kind, slot, constant(1.0, kind))

            def one(counter: str, backwards: bool = backwards) -> None:
                place = [e.writer.sub(last, counter) if backwards else counter]
                so_far, target = arrays.read(e, kind, slot), arrays.address(e, out, place)
                found = numbers.arithmetic(e, "fmul", arrays.read(e, kind, target), so_far) if backwards else so_far
                arrays.write(e, kind, target, found)
                element = arrays.read(e, kind, arrays.address(e, line, place))
                arrays.write(e, kind, slot, numbers.arithmetic(e, "fmul", so_far, element))

            e.each(line.shape[0], one)

    return _in_shape(e, along(e, axis, kind, write, x), given)


# Orders: but for ``np.argsort``, whose order of equal elements is NumPy's own, so that it is NumPy that is called

_order_of_line, _origins_of_line = helper(order.order_of_line), helper(order.origins_of_line)


def _ordered(x: Value) -> Array:
    """An array whose elements have an order."""
    found = arrays.array(x)
    if is_complex(found.kind.element):
        raise Unsupported("orders of complex numbers")
    return found


def _put_order(e: Emission, of: Callable[..., Any]) -> _Line:
    """Puts what a helper finds of a line into another."""

    def write(out: Array, *lines: Array) -> None:
        found = arrays.array(of(e, *lines))
        arrays.nest(e, out.shape, lambda at: _move(e, out, at, found, at))

    return write


def _move(e: Emission, out: Array, at: Sequence[str], x: Array, place: Sequence[str]) -> None:
    arrays.write(
        e, out.kind.element, arrays.address(e, out, at), arrays.read(e, x.kind.element, arrays.address(e, x, place))
    )


@rule(runtime_arrays.order_of)
def _order_of(e: Emission, x: Value, axis: Value | None = None) -> Array:
    return along(e, constant(-1) if axis is None else axis, "i8", _put_order(e, _order_of_line), _ordered(x))


@rule(places.origins)
def _origins(e: Emission, y: Value, a: Value, axis: Value | None = None) -> Array:
    return along(
        e, constant(-1) if axis is None else axis, "i8", _put_order(e, _origins_of_line), _ordered(y), _ordered(a)
    )


@rule(np.sort)
def _in_order(e: Emission, x: Value, axis: Value | None = None) -> Array:
    given = _ordered(x)

    def write(out: Array, line: Array) -> None:
        found = arrays.array(_order_of_line(e, line))

        def one(at: Sequence[str]) -> None:
            place = arrays.read(e, "i8", arrays.address(e, found, at)).name
            _move(e, out, at, line, [place])

        arrays.nest(e, line.shape, one)

    return along(e, constant(-1) if axis is None else axis, given.kind.element, write, x)
