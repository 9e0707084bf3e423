"""New arrays: of a shape, like others, and copies."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.containers import lists
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import (
    Array,
    ArrayKind,
    Complex,
    List,
    Number,
    Steps,
    Tuple,
    Unsupported,
    Value,
    common_kind,
)
from adjoint.native.llvm.writer import constant, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import copies, display, objects
from adjoint.runtime.array_functions import arrays as runtime_arrays
from adjoint.runtime.array_functions import places, sequences
from adjoint.runtime.array_functions.arrays import unbroadcast


@rule(np.empty)
def _empty(e: Emission, shape: Value, dtype: Value | None = None) -> Array:
    return arrays.new(e, arrays.element_kind(dtype), arrays.extents_of(shape))


@rule(np.zeros)
def _zeros(e: Emission, shape: Value, dtype: Value | None = None) -> Array:
    return arrays.new(e, arrays.element_kind(dtype), arrays.extents_of(shape), zero=True)


@rule(np.ones)
def _ones(e: Emission, shape: Value, dtype: Value | None = None) -> Array:
    return arrays.full(e, arrays.new(e, arrays.element_kind(dtype), arrays.extents_of(shape)), constant(1))


@rule(np.full)
def _full(e: Emission, shape: Value, value: Value, dtype: Value | None = None) -> Array:
    return arrays.full(
        e, arrays.new(e, arrays.element_kind(dtype, numbers.scalar(value).kind), arrays.extents_of(shape)), value
    )


@rule(np.empty_like)
def _empty_like(e: Emission, x: Value, dtype: Value | None = None) -> Array:
    given = arrays.array(x)
    return arrays.like(e, given, arrays.element_kind(dtype, given.kind.element))


@rule(np.zeros_like)
def _zeros_in_shape(e: Emission, x: Value, dtype: Value | None = None) -> Value:
    if isinstance(x, Number):
        return constant(0, x.kind)
    given = arrays.array(x)
    return arrays.like(e, given, arrays.element_kind(dtype, given.kind.element), zero=True)


@rule(runtime_arrays.shape_only)
def _shape_only(e: Emission, x: Value) -> Value:
    return _of_one_element(e, x.kind.element, x.shape) if isinstance(x, Array) and x.kind.rank else x


@rule(runtime_arrays.without_elements)
def _without_elements(e: Emission, shape: Value, dtype: Value | None = None) -> Array:
    return _of_one_element(e, arrays.element_kind(dtype), arrays.extents_of(shape))


def _of_one_element(e: Emission, kind: str, shape: Sequence[str]) -> Array:
    """An array all of whose elements lie in one place."""
    one = arrays.new(e, kind, ("1",), zero=True)
    rank = len(shape)
    return Array(ArrayKind(kind, rank, False), one.base, one.data, tuple(shape), ("0",) * rank, one.owner)


@rule(np.ones_like)
def _ones_like(e: Emission, x: Value, dtype: Value | None = None) -> Value:
    if isinstance(x, Number):
        return constant(1, arrays.element_kind(dtype, x.kind))
    given = arrays.array(x)
    return arrays.full(e, arrays.like(e, given, arrays.element_kind(dtype, given.kind.element)), constant(1))


@rule(np.ndarray.copy, copies.owned)
def _copy(e: Emission, x: Value) -> Value:
    return arrays.copied(e, x) if isinstance(x, Array) else numbers.scalar(x)


@rule(np.copy)
def _copy_of_its_layout(e: Emission, x: Value) -> Value:
    return arrays.copied(e, x, as_it_lies=True) if isinstance(x, Array) else _copy(e, x)


@rule(copies.of_dtype)
def _of_dtype(e: Emission, x: Value, dtype: Value) -> Value:
    if isinstance(x, Array) and x.kind.element == arrays.element_kind(dtype):
        return x
    return _as_type(e, x, dtype)


@rule(np.ndarray.astype, np.generic.astype)
def _as_type(e: Emission, x: Value, dtype: Value) -> Value:
    kind = arrays.element_kind(dtype)
    if not isinstance(x, Array):
        return e.converted(numbers.scalar(x), kind)
    return arrays.copied(e, x, kind, as_it_lies=True)


@rule(places.diagonal)
def diagonal(e: Emission, x: Value, offset: Value | None = None) -> Array:
    """A diagonal of a matrix, as a view; ``offset`` is a known number: how far it lies above the main one."""
    given, writer = arrays.array(x), e.writer
    known = offset.name if isinstance(offset, Number) else "0"
    if given.kind.rank != 2 or not known.lstrip("-").isdigit() or isinstance(offset, (Array, Complex)):
        raise Unsupported("diagonals of these arrays")
    above, left, data = int(known), list(given.shape), given.data
    if above:
        axis = int(above > 0)
        left[axis] = writer.most(writer.sub(left[axis], str(abs(above))), "0")
        data = writer.place(data, writer.mul(str(abs(above)), given.strides[axis]))
    kind = ArrayKind(given.kind.element, 1, False, given.kind.read_only)
    return Array(kind, given.base, data, (writer.least(*left),), (writer.add(*given.strides),), given.owner)


@rule(places.from_diagonal)
def _from_diagonal(e: Emission, x: Value) -> Array:
    given = arrays.array(x)
    if given.kind.rank != 1:
        raise Unsupported("diagonals of these arrays")
    (count,) = given.shape
    out = arrays.new(e, given.kind.element, (count, count), zero=True, checked=False)
    arrays.assign(e, diagonal(e, out), given)
    return out


@rule(places.to_diagonal)
def _to_diagonal(e: Emission, x: Value) -> Array:
    return arrays.copied(e, diagonal(e, x))


@rule(np.eye, np.identity)
def _eye(e: Emission, count: Value, *, dtype: Value | None = None) -> Array:
    (extent,) = numbers.words(e, count)
    out = arrays.new(e, arrays.element_kind(dtype), (extent, extent), zero=True)
    arrays.assign(e, diagonal(e, out), constant(1))
    return out


@rule(display.make_tuple)
def _tuple(e: Emission, *items: Value) -> Tuple:
    return Tuple(items)


@rule(np.arange)
def _arange(e: Emission, *bounds: Value, dtype: Value | None = None) -> Array:
    if len(bounds) > 2 or not all(isinstance(bound, Number) and bound.kind == "i8" for bound in bounds):
        raise Unsupported("ranges of floats or with steps")
    first, stop = ("0", *numbers.words(e, *bounds)) if len(bounds) == 1 else numbers.words(e, *bounds)
    kind = arrays.element_kind(dtype, "i8")
    out = arrays.new(e, kind, (e.writer.most(e.writer.sub(stop, first), "0"),), checked=False)
    arrays.nest(
        e,
        out.shape,
        lambda index: arrays.write(e, kind, arrays.address(e, out, index), whole(e.writer.add(first, index[0]))),
    )
    return out


# Shapes


@rule(np.shape)
def _shape(e: Emission, x: Value) -> Tuple:
    return Tuple(()) if isinstance(x, (Number, Complex)) else Tuple(tuple(map(whole, arrays.array(x).shape)))


@rule(range)
def _range(e: Emission, *bounds: Value) -> Steps:
    start, stop, step = ("0", e.extent(bounds[0]), "1") if len(bounds) == 1 else [*map(e.extent, bounds), "1"][:3]
    if step == "0" or not step.lstrip("-").isdigit():
        raise Unsupported("a range whose step is known at run time")
    return Steps(start, stop, int(step))


def _count(e: Emission, given: Steps) -> str:
    """How many numbers a range has."""
    writer, step = e.writer, abs(given.step)
    first, last = (given.start, given.stop) if given.step > 0 else (given.stop, given.start)
    distance = writer.add(writer.sub(last, first), str(step - 1))
    return writer.most(writer.op(f"sdiv i64 {distance}, {step}"), "0")


@rule(len)
def length(e: Emission, x: Value) -> Number:
    if isinstance(x, Steps):
        return whole(_count(e, x))
    if isinstance(x, Tuple):
        return constant(len(x.items))
    if isinstance(x, List):
        return lists.length(e, x)
    return whole(arrays.array(x).shape[0])


@rule(np.size)
def _size(e: Emission, x: Value) -> Number:
    return constant(1) if isinstance(x, (Number, Complex)) else whole(arrays.size(e, arrays.array(x)))


@rule(np.ndim)
def _rank(e: Emission, x: Value) -> Number:
    return constant(0 if isinstance(x, (Number, Complex)) else arrays.array(x).kind.rank)


@rule(objects.check_length)
def _check_length(e: Emission, x: Value, count: Value) -> None:
    checks.check_size(e, length(e, x), count)


@rule(objects.check_least_length)
def _check_least_length(e: Emission, x: Value, count: Value) -> None:
    size = length(e, x)
    message = checks.counting("not enough values to unpack (expected at least {}, got {})")
    e.check(e.writer.compare("slt", size.name, e.extent(count)), ValueError, message, [count, size])


@rule(np.transpose, np.ndarray.transpose)
def _transpose(e: Emission, x: Value, axes: Value | None = None) -> Array:
    given = arrays.array(x)
    if axes is None or arrays.is_none(axes):
        return arrays.transposed(given)
    if not isinstance(axes, Tuple):
        raise Unsupported("axes at run time")
    order = [int(each) for each in numbers.words(e, *axes.items)]
    return arrays.transposed(given, [axis % given.kind.rank for axis in order])


@rule(np.ravel, np.ndarray.ravel)
def flat(e: Emission, x: Value) -> Array:
    """The elements one after the other, by rows."""
    given = arrays.array(x)
    return given if given.kind.rank == 1 else reshaped(e, given, constant(-1))


@rule(np.expand_dims)
def _expanded(e: Emission, a: Value, axis: Value) -> Array:
    """A view with an axis of one element more."""
    x, number = arrays.array(a), e.extent(axis)
    rank = x.kind.rank + 1
    if not number.lstrip("-").isdigit() or not -rank <= int(number) < rank:
        raise Unsupported("an axis that is chosen at run time")
    at = int(number) % rank
    shape = (*x.shape[:at], "1", *x.shape[at:])
    kind = ArrayKind(x.kind.element, rank, x.kind.by_rows, x.kind.read_only)
    if kind.by_rows:
        strides = tuple(e.writer.strides_by_rows(kind.element, shape))
    else:
        strides = (*x.strides[:at], "0", *x.strides[at:])
    return Array(kind, x.base, x.data, shape, strides, x.owner)


@rule(np.reshape, np.ndarray.reshape)
def reshaped(e: Emission, x: Value, shape: Value, *more: Value) -> Array:
    """The elements in the order of rows, in another shape: a view of what lies by rows, else a copy."""
    if more:
        shape = Tuple((shape, *more))
    given = arrays.in_rows(e, x)
    wanted = arrays.extents_of(shape)
    total = arrays.size(e, given)
    _infer_extent(e, wanted, total)
    for extent in wanted:
        if not extent.isdigit():
            e.check(e.writer.compare("slt", extent, "0"), ValueError, "cannot reshape array into this shape")
    found = "1"
    for extent in wanted:
        found = e.writer.mul(found, extent)
    if found != total:
        e.check(e.writer.compare("ne", found, total), ValueError, "cannot reshape array into this shape")
    kind = ArrayKind(given.kind.element, len(wanted), True, given.kind.read_only)
    return Array(
        kind, given.base, given.data, tuple(wanted), e.writer.strides_by_rows(kind.element, wanted), given.owner
    )


def _infer_extent(e: Emission, wanted: list[str], total: str) -> None:
    """Puts what is left of a size in the place of -1, which may turn up at run time."""
    open_ = [place for place, extent in enumerate(wanted) if extent == "-1"]
    open_ = open_ or [place for place, extent in enumerate(wanted) if not extent.isdigit()]
    if not open_:
        return
    is_open = {place: e.writer.compare("eq", wanted[place], "-1") for place in open_ if wanted[place] != "-1"}
    known = "1"
    for place, extent in enumerate(wanted):
        if extent != "-1":
            known = e.writer.mul(
                known, e.writer.select(is_open[place], "i64", "1", extent) if place in is_open else extent
            )
    is_any = "true"
    if is_open:
        is_any = functools.reduce(lambda one, other: e.writer.op(f"or i1 {one}, {other}"), is_open.values())
    is_empty = e.writer.compare("eq", known, "0")
    wrong = is_empty if is_any == "true" else e.writer.op(f"and i1 {is_any}, {is_empty}")
    e.check(wrong, ValueError, "cannot reshape array of size 0 into this shape")
    divisor = known if is_any == "true" else e.writer.select(is_empty, "i64", "1", known)
    left = total if divisor == "1" else e.writer.op(f"sdiv i64 {total}, {divisor}")
    for place in open_:
        wanted[place] = e.writer.select(is_open[place], "i64", left, wanted[place]) if place in is_open else left


# Arrays made of numbers: of lists, and of nested lists whose shape is known


@rule(np.asarray, np.asanyarray)
def _as_array(e: Emission, x: Value, dtype: Value | None = None) -> Array:
    if isinstance(x, Array) and arrays.element_kind(dtype, x.kind.element) == x.kind.element:
        return x
    return _array(e, x, dtype)


@rule(np.array)
def _array(e: Emission, x: Value, dtype: Value | None = None) -> Array:
    if isinstance(x, Array):
        return arrays.copied(e, x, arrays.element_kind(dtype, x.kind.element))
    if not isinstance(x, List) or not isinstance(x.kind.element, str):
        raise Unsupported("an array of what are no numbers")
    kind = arrays.element_kind(dtype, x.kind.element)
    out = arrays.new(e, kind, (lists.length(e, x).name,), checked=False)

    def one(place: str) -> None:
        arrays.write(e, kind, arrays.address(e, out, [place]), lists.item(e, x, place))

    e.each(out.shape[0], one)
    return out


@rule(np.ascontiguousarray)
def _in_rows(e: Emission, x: Value) -> Array:
    return arrays.in_rows(e, x) if isinstance(x, Array) else _array(e, x)


def _template(value: Value) -> Any:
    """A tree of places, as the compiler knows it."""
    if isinstance(value, Number):
        return int(value.name)
    if not isinstance(value, Tuple):
        raise Unsupported("nested lists of an unknown shape")
    return tuple(map(_template, value.items))


@rule(sequences.array_of)
def _array_of(e: Emission, template: Value, *leaves: Value) -> Array:
    given = [numbers.scalar(leaf) for leaf in leaves]
    kind = common_kind([leaf.kind for leaf in given])
    paths = sequences.leaves_at(_template(template))
    shape = [str(1 + max(path[axis] for path, _ in paths)) for axis in range(len(paths[0][0]))]
    out = arrays.new(e, kind, shape, checked=False)
    for path, leaf in paths:
        arrays.write(e, kind, arrays.address(e, out, list(map(str, path))), given[leaf])
    return out


@rule(sequences.array_leaf)
def _array_leaf(e: Emission, cotangent: Value, template: Value, place: Value, leaf: Value) -> Value:
    given = arrays.array(cotangent)
    total: Value = constant(0.0)
    for path, found in sequences.leaves_at(_template(template)):
        if len(path) != given.kind.rank:
            raise Unsupported("rows of an array as arrays")
        if found == int(numbers.number(place).name):
            one = arrays.item(e, given.kind.element, arrays.address(e, given, list(map(str, path))))
            total = RULES[operator.add](e, total, one)
    return RULES[unbroadcast](e, total, leaf)  # type: ignore[no-any-return]
