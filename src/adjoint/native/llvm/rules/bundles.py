"""Bundles: vectors of LLVM, several numbers that are computed with at once."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.native.llvm.rules import arrays, checks, functions, numbers
from adjoint.native.llvm.rules.arithmetic import powers, vectors
from adjoint.native.llvm.rules.numbers import choice, compare, number
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import (
    LLVM_TYPES,
    Array,
    ArrayKind,
    Number,
    Unsupported,
    Value,
    bundle_of,
    common_kind,
    size_of,
    width_of,
)
from adjoint.native.llvm.writer import as_kind, constant, literal
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.arithmetic import bundles, vector_math

_MOST_PRODUCTS = 8
"""The largest exponent of a power that is written as products."""


def width_told(size: Value) -> int:
    """How many numbers a bundle has, which is known."""
    given = number(size).name
    if not given.isdigit():
        raise Unsupported("bundles of a size at run time")
    return int(given)


# Functions


def _of_bundles(own: Any, usual: Any) -> None:
    """A function that has a form of its own for bundles."""
    written, plain = RULES[own], RULES[usual]

    def write(e: Emission, *values: Value) -> Any:
        kinds = [value.kind for value in values if isinstance(value, Number)]
        has_bundles = len(kinds) == len(values) and width_of(common_kind(kinds))
        return (written if has_bundles else plain)(e, *values)

    RULES[usual] = write


for _own, *_usual in (
    (vector_math.vector_exp, math.exp, np.exp),
    (vector_math.vector_log, math.log, np.log),
    (vector_math.vector_tanh, math.tanh, np.tanh),
    (vector_math.vector_sin, math.sin, np.sin),
    (vector_math.vector_cos, math.cos, np.cos),
    (vector_math.vector_power, math.pow),
):
    for _each in _usual:
        _of_bundles(_own, _each)


@rule(operator.pow, operator.ipow)
def _power(e: Emission, a: Value, b: Value) -> Number:
    base, exponent = number(a), number(b)
    if not width_of(common_kind([base.kind, exponent.kind])):
        return powers.power(e, a, b)
    is_product = width_of(base.kind) and exponent.kind == "i8" and exponent.name.isdigit()
    if is_product and 1 <= int(exponent.name) <= _MOST_PRODUCTS:
        return powers.power(e, a, b)
    return RULES[vector_math.vector_power](e, a, b)  # type: ignore[no-any-return]


for _bundled, _plain in (
    (bundles.bundle_sqrt, np.sqrt),
    (bundles.bundle_magnitude, np.abs),
    (bundles.bundle_not, operator.not_),
    (bundles.bundle_both, np.logical_and),
    (bundles.bundle_either, np.logical_or),
):
    RULES[_bundled] = RULES[_plain]


@rule(bundles.bundle_sign)
def _sign(e: Emission, x: Value) -> Number:
    given = number(x)
    zero = constant(0.0, given.kind)
    below = choice(e, compare(e, "lt", given, zero), constant(-1.0, given.kind), given)
    return choice(e, compare(e, "gt", given, zero), constant(1.0, given.kind), below)


def _declare_extreme(callee: Any, order: str) -> None:
    @rule(callee)
    def write(e: Emission, a: Value, b: Value) -> Number:
        one, other = numbers.common(e, a, b)
        is_first = numbers.either(e, compare(e, order, one, other), functions.is_nan(e, one))
        return choice(e, is_first, one, other)


_declare_extreme(bundles.bundle_maximum, "ge")
_declare_extreme(bundles.bundle_minimum, "le")


@rule(bundles.bundle_any)
def _any(e: Emission, condition: Value) -> Number:
    return numbers.somewhere(e, number(condition))


@rule(bundles.bundle_choice)
def _choice(e: Emission, condition: Value, a: Value, b: Value) -> Number:
    return choice(e, number(condition), a, b)


@rule(bundles.unless_zero)
def _unless_zero(e: Emission, a: Value, found: Value) -> Number:
    return powers.unless_zero(e, a, number(found))


@rule(bundles.bundle_from)
def _counted_from(e: Emission, first: Value, size: Value) -> Number:
    kind = bundle_of("f8", width_told(size))
    start = as_kind(e.writer, as_kind(e.writer, number(first), "f8"), kind)
    steps = ", ".join(f"double {literal('f8', float(place))}" for place in range(width_of(kind)))
    return Number(kind, e.writer.op(f"fadd {vectors.FIXED} {start.type} {start.name}, <{steps}>"))


@rule(bundles.bundle_total)
def _total(e: Emission, x: Value, size: Value) -> Number:
    given = number(x)
    width = width_of(given.kind)
    if not width:
        return numbers.arithmetic(e, "fmul", given, size)
    name = f"llvm.vector.reduce.fadd.v{width}f64"
    e.writer.module.declare(name, "double", ["double", given.type])
    return Number("f8", e.writer.op(f"call reassoc double @{name}(double -0.0, {given.type} {given.name})"))


# Elements


def _elements(e: Emission, x: Array, axis: int, width: int, *index: Value) -> tuple[str, str]:
    """Where the first of some elements along an axis lies, and how far apart they are."""
    if x.kind.element != "f8" or x.kind.rank != len(index):
        raise Unsupported("bundles of other elements")
    places = []
    for each, (value, extent) in enumerate(zip(index, x.shape, strict=True)):
        place = e.extent(value)
        if each == axis:
            checks.check_place(e, e.writer.add(place, str(width - 1)), extent)
        else:
            place = place if number(value).natural else numbers.from_start(e, place, extent)
            checks.check_place(e, place, extent)
        places.append(place)
    return arrays.address(e, x, places), x.strides[axis]


def _loaded(e: Emission, at: tuple[str, str], width: int) -> Number:
    first, stride = at
    kind = bundle_of("f8", width)
    if stride == "8":
        return arrays.read(e, kind, first)
    found = "poison"
    for place in range(width):
        one = arrays.read(e, "f8", e.writer.place(first, e.writer.mul(stride, str(place))))
        found = e.writer.op(f"insertelement {LLVM_TYPES[kind]} {found}, double {one.name}, i32 {place}")
    return Number(kind, found)


def _stored(e: Emission, at: tuple[str, str], found: Value, width: int) -> None:
    first, stride = at
    kind = bundle_of("f8", width)
    given = as_kind(e.writer, number(found), kind)
    if stride == "8":
        arrays.write(e, kind, first, given)
        return
    for place in range(width):
        one = e.writer.op(f"extractelement {given.type} {given.name}, i32 {place}")
        arrays.write(e, "f8", e.writer.place(first, e.writer.mul(stride, str(place))), Number("f8", one))


@rule(bundles.bundle_at)
def _at(e: Emission, x: Value, first: Value, size: Value) -> Number:
    width = width_told(size)
    return _loaded(e, _elements(e, arrays.array(x), 0, width, first), width)


@rule(bundles.bundle_down)
def _down(e: Emission, x: Value, first: Value, column: Value, size: Value) -> Number:
    width = width_told(size)
    return _loaded(e, _elements(e, arrays.array(x), 0, width, first, column), width)


@rule(bundles.bundle_across)
def _across(e: Emission, x: Value, row: Value, first: Value, size: Value) -> Number:
    width = width_told(size)
    return _loaded(e, _elements(e, arrays.array(x), 1, width, row, first), width)


@rule(bundles.put_bundle)
def _put(e: Emission, x: Value, first: Value, found: Value, size: Value) -> None:
    width = width_told(size)
    _stored(e, _elements(e, arrays.writable(x), 0, width, first), found, width)


@rule(bundles.put_bundle_down)
def _put_down(e: Emission, x: Value, first: Value, column: Value, found: Value, size: Value) -> None:
    width = width_told(size)
    _stored(e, _elements(e, arrays.writable(x), 0, width, first, column), found, width)


@rule(bundles.put_bundle_across)
def _put_across(e: Emission, x: Value, row: Value, first: Value, found: Value, size: Value) -> None:
    width = width_told(size)
    _stored(e, _elements(e, arrays.writable(x), 1, width, row, first), found, width)


# Arrays of bundles


@rule(bundles.no_bundles_yet)
def _no_bundles_yet(e: Emission, shape: Value, size: Value) -> Array:
    return arrays.new(e, bundle_of("f8", width_told(size)), arrays.extents_of(shape))


@rule(bundles.zero_bundles)
def _zero_bundles(e: Emission, shape: Value, size: Value) -> Array:
    return arrays.new(e, bundle_of("f8", width_told(size)), arrays.extents_of(shape), zero=True)


@rule(bundles.bundled)
def _as_bundles(e: Emission, x: Value, size: Value) -> Value:
    given = arrays.array(x)
    if given.kind.element != "f8" or not given.kind.by_rows or not given.kind.rank:
        raise Unsupported("bundles of what does not lie by rows")
    element = bundle_of("f8", width_told(size))
    if given.kind.rank == 1:
        return arrays.read(e, element, given.data)
    kind = ArrayKind(element, given.kind.rank - 1, True, given.kind.read_only)
    shape = given.shape[:-1]
    return Array(kind, given.base, given.data, shape, e.writer.strides_by_rows(kind.element, shape), given.owner)


@rule(bundles.unbundled)
def _unbundled(e: Emission, x: Value, size: Value) -> Array:
    width = width_told(size)
    if isinstance(x, Number):
        out = arrays.new(e, "f8", (str(width),), checked=False)
        arrays.write(e, bundle_of("f8", width), out.data, as_kind(e.writer, x, bundle_of("f8", width)))
        return out
    given = arrays.array(x)
    if not width_of(given.kind.element):
        raise Unsupported("numbers of what are no bundles")
    kind = ArrayKind("f8", given.kind.rank + 1, given.kind.by_rows, given.kind.read_only)
    shape = (*given.shape, str(width_of(given.kind.element)))
    strides = e.writer.strides_by_rows(kind.element, shape) if kind.by_rows else (*given.strides, "8")
    return Array(kind, given.base, given.data, shape, strides, given.owner)


@rule(bundles.same_in_bundles)
def _same_in_bundles(e: Emission, x: Value, size: Value) -> Array:
    given = arrays.array(x)
    out = arrays.new(e, bundle_of("f8", width_told(size)), given.shape, checked=False)
    arrays.assign(e, out, given)
    return out


@rule(bundles.anywhere)
def _anywhere(e: Emission, x: Value, size: Value) -> Number:
    given = arrays.array(x)
    kind = bundle_of("f8", width_told(size))
    slot = e.slots(size_of(kind) // 8)
    arrays.write(e, kind, slot, constant(0.0, kind))

    def body(index: Sequence[str]) -> None:
        one = arrays.read(e, given.kind.element, arrays.address(e, given, index))
        found = powers.unless_zero(e, one, constant(1.0, kind))
        arrays.write(e, kind, slot, numbers.arithmetic(e, "fadd", arrays.read(e, kind, slot), found))

    arrays.nest(e, given.shape, body)
    return arrays.read(e, kind, slot)
