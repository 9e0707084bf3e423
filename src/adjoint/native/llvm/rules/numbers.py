"""Arithmetic of numbers, as LLVM instructions: what NumPy and the C library make of it, without exceptions."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import (
    LLVM_TYPES,
    Complex,
    Known,
    Number,
    Object,
    Unsupported,
    Value,
    bundle_of,
    common_kind,
    kind_of,
    width_of,
)
from adjoint.native.llvm.writer import as_kind, constant, literal, truth, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.arithmetic import fused_loops, indices
from adjoint.runtime.arithmetic import numbers as runtime_numbers

FREE = "reassoc nsz "
"""For sums and products whose order is free."""


def number(value: Value) -> Number:
    if not isinstance(value, Number):
        raise Unsupported("arithmetic of what is no number")
    return value


def scalar(value: Value) -> Number | Complex:
    """A number, which may be complex."""
    return value if isinstance(value, Complex) else number(value)


def is_float(value: Number) -> bool:
    return value.kind[0] == "f"


def zero_of(value: Value) -> Number:
    """Zero, in the precision of a float."""
    return constant(0.0, value.kind if isinstance(value, Number) and is_float(value) else "f8")


def common(e: Emission, *values: Value) -> list[Number]:
    """Numbers as those of the kind that they have in common."""
    given = [number(value) for value in values]
    kind = common_kind([each.kind for each in given])
    return [as_kind(e.writer, each, kind) for each in given]


def as_float(e: Emission, value: Value) -> Number:
    """A number as a float: whole ones as doubles."""
    given = number(value)
    return given if is_float(given) else as_kind(e.writer, given, "f8")


def floats(e: Emission, *values: Value) -> list[Number]:
    return [as_float(e, each) for each in common(e, *values)]


def arithmetic(e: Emission, instruction: str, a: Value, b: Value, flags: str = "") -> Number:
    """An instruction for floats (``fadd``) or, without the ``f``, for whole numbers."""
    one, other = common(e, a, b)
    if is_float(one):
        return Number(one.kind, e.writer.op(f"{instruction} {flags}{one.type} {one.name}, {other.name}"))
    return Number("i8", e.writer.op(f"{instruction[1:]} i64 {word(e, one)}, {word(e, other)}"))


def word(e: Emission, value: Number) -> str:
    return as_kind(e.writer, value, "i8").name


def compare(e: Emission, order: str, a: Value, b: Value) -> Number:
    """Compares numbers: ``eq``, ``ne``, ``lt``, ``le``, ``gt``, ``ge``."""
    one, other = common(e, a, b)
    if is_float(one):
        ordered = "u" if order == "ne" else "o"
        name = e.writer.op(f"fcmp {ordered}{order} {one.type} {one.name}, {other.name}")
    else:
        signed = "" if order in ("eq", "ne") else "u" if one.kind[0] in "ub" else "s"
        name = e.writer.op(f"icmp {signed}{order} {one.type} {one.name}, {other.name}")
    return Number(bundle_of("b1", width_of(one.kind)), name)


def choice(e: Emission, condition: Number, a: Value, b: Value) -> Number:
    """One of two numbers; of bundles, in each place."""
    one, other = common(e, a, b)
    width = width_of(condition.kind) or width_of(one.kind)
    condition = as_kind(e.writer, condition, bundle_of("b1", width)) if width_of(condition.kind) else condition
    kind = bundle_of(one.kind, width)
    one, other = as_kind(e.writer, one, kind), as_kind(e.writer, other, kind)
    if one.name == other.name:
        return one
    text = f"select {condition.type} {condition.name}, {one.type} {one.name}, {one.type} {other.name}"
    return Number(kind, e.writer.op(text))


def both(e: Emission, first: Number, *others: Number) -> Number:
    """Whether all of some conditions hold."""
    return _combined(e, "and", first, *others)


def either(e: Emission, first: Number, *others: Number) -> Number:
    """Whether one of some conditions holds."""
    return _combined(e, "or", first, *others)


def _combined(e: Emission, instruction: str, first: Number, *others: Number) -> Number:
    for other in others:
        one, two = common(e, first, other)
        first = Number(one.kind, e.writer.op(f"{instruction} {one.type} {one.name}, {two.name}"))
    return first


def negation(e: Emission, condition: Number) -> Number:
    """Whether a condition does not hold."""
    every = literal(condition.kind, True)
    return Number(condition.kind, e.writer.op(f"xor {condition.type} {condition.name}, {every}"))


def somewhere(e: Emission, condition: Number) -> Number:
    """Whether a condition holds, in one place at least."""
    width = width_of(condition.kind)
    if not width:
        return condition
    bits = e.writer.op(f"bitcast {condition.type} {condition.name} to i{width}")
    return truth(e.writer.op(f"icmp ne i{width} {bits}, 0"))


def words(e: Emission, *values: Value) -> Sequence[str]:
    return [e.extent(value) for value in values]


def from_start(e: Emission, place: str, extent: str) -> str:
    """A place that may be counted from the end, from the start."""
    if place.lstrip("-").isdigit():
        return e.writer.add(extent, place) if int(place) < 0 else place
    return e.writer.select(e.writer.compare("slt", place, "0"), "i64", e.writer.add(place, extent), place)


def opaque(e: Emission, word: str) -> str:
    """A whole number of which LLVM knows nothing."""
    return e.writer.op(f'call i64 asm "", "=r,0"(i64 {word})')


def intrinsic(e: Emission, name: str, kind: str, *args: str) -> str:
    width = f"v{width_of(kind)}" if width_of(kind) else ""
    number_type = LLVM_TYPES[kind]
    return e.writer.call(f"llvm.{name}.{width}f{8 * int(kind[1])}", number_type, [(number_type, arg) for arg in args])


def _declare_arithmetic(instruction: str, *callees: Any, flags: str = "") -> None:
    @rule(*callees)
    def write(e: Emission, a: Value, b: Value) -> Number:
        return arithmetic(e, instruction, a, b, flags)


_declare_arithmetic("fadd", operator.add, operator.iadd, np.add)
_declare_arithmetic("fsub", operator.sub, operator.isub, np.subtract)
_declare_arithmetic("fmul", operator.mul, operator.imul, np.multiply, runtime_numbers.product)
_declare_arithmetic("fadd", fused_loops.plus, flags=FREE)
_declare_arithmetic("fmul", fused_loops.times_by, flags=FREE)


def _declare_comparison(order: str, own: Any, of_numpy: Any) -> None:
    @rule(of_numpy)
    def write(e: Emission, a: Value, b: Value) -> Number:
        return compare(e, order, a, b)

    @rule(own)
    def write_own(e: Emission, a: Value, b: Value) -> Number:
        if order in ("eq", "ne") and any(map(_is_text, (a, b))) and any(isinstance(each, Number) for each in (a, b)):
            return truth("true" if order == "ne" else "false")
        return compare(e, order, a, b)


def _is_text(value: Value) -> bool:
    return isinstance(value, Known) and isinstance(value.value, (str, type(None)))


for _order, _own, _of_numpy in (
    ("eq", operator.eq, np.equal),
    ("ne", operator.ne, np.not_equal),
    ("lt", operator.lt, np.less),
    ("le", operator.le, np.less_equal),
    ("gt", operator.gt, np.greater),
    ("ge", operator.ge, np.greater_equal),
):
    _declare_comparison(_order, _own, _of_numpy)


@rule("truth", bool, operator.truth)
def is_true(e: Emission, value: Value) -> Number:
    if isinstance(value, Known) and (value.value is None or isinstance(value.value, (str, bool))):
        return constant(builtins.bool(value.value))
    given = number(value)
    return given if width_of(given.kind) and given.kind[0] == "b" else as_kind(e.writer, given, "b1")


@rule(operator.not_, np.logical_not)
def _not(e: Emission, value: Value) -> Number:
    return negation(e, is_true(e, value))


@rule(operator.is_)
def _is(e: Emission, a: Value, b: Value) -> Number:
    if not (isinstance(a, Known) or isinstance(b, Known)) or isinstance(a, Object) or isinstance(b, Object):
        raise Unsupported("the identity of what is known at run time only")
    is_one = isinstance(a, Known) and isinstance(b, Known) and a.value is b.value
    return constant(is_one)


@rule(operator.is_not)
def _is_not(e: Emission, a: Value, b: Value) -> Number:
    return negation(e, _is(e, a, b))


@rule(operator.neg, operator.pos, np.negative)
def _negated(e: Emission, value: Value) -> Number:
    given = number(value)
    if is_float(given):
        return Number(given.kind, e.writer.op(f"fneg {given.type} {given.name}"))
    return whole(e.writer.op(f"sub i64 0, {word(e, given)}"))


@rule(operator.pos, np.positive)
def _itself(e: Emission, value: Value) -> Number:
    given = number(value)
    return given if is_float(given) else as_kind(e.writer, given, "i8")


def _declare_bits(instruction: str, *callees: Any) -> None:
    @rule(*callees)
    def write(e: Emission, a: Value, b: Value) -> Number:
        one, other = common(e, a, b)
        if is_float(one):
            raise Unsupported("bits of floats")
        kind = one.kind if one.kind == "b1" else "i8"
        one, other = as_kind(e.writer, one, kind), as_kind(e.writer, other, kind)
        return Number(kind, e.writer.op(f"{instruction} {one.type} {one.name}, {other.name}"))


_declare_bits("and", operator.and_, operator.iand, np.bitwise_and)
_declare_bits("or", operator.or_, operator.ior, np.bitwise_or)
_declare_bits("xor", operator.xor, operator.ixor, np.bitwise_xor)


@rule(np.logical_and)
def _and(e: Emission, a: Value, b: Value) -> Number:
    return both(e, is_true(e, a), is_true(e, b))


@rule(np.logical_or)
def _or(e: Emission, a: Value, b: Value) -> Number:
    return either(e, is_true(e, a), is_true(e, b))


@rule(operator.lshift, operator.ilshift, np.left_shift)
def _shifted_left(e: Emission, a: Value, b: Value) -> Number:
    one, places = words(e, a, b)
    found = e.writer.op(f"shl i64 {one}, {e.writer.op(f'and i64 {places}, 63')}")
    return whole(e.writer.select(e.writer.compare("sgt", places, "63"), "i64", "0", found))


@rule(operator.rshift, operator.irshift, np.right_shift)
def _shifted_right(e: Emission, a: Value, b: Value) -> Number:
    one, places = words(e, a, b)
    most = e.writer.select(e.writer.compare("ult", places, "63"), "i64", places, "63")
    return whole(e.writer.op(f"ashr i64 {one}, {most}"))


@rule(float, np.float64)
def _to_float(e: Emission, value: Value) -> Number:
    return as_kind(e.writer, number(value), "f8")


@rule(int, np.int64)
def _to_int(e: Emission, value: Value) -> Number:
    return as_kind(e.writer, number(value), "i8")


def _declare_conversion(callee: Any) -> None:
    found = kind_of(callee)

    @rule(callee)
    def write(e: Emission, value: Value) -> Number:
        return as_kind(e.writer, number(value), found)


for _type in (np.float32, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32, np.bool_):
    _declare_conversion(_type)


# Indices, and extents of loops


@rule(indices.unsigned, indices.natural)
def _as_told(e: Emission, value: Value) -> Number:
    return Number("i8", e.extent(value), natural=True)


@rule(indices.row)
def _row(e: Emission, value: Value) -> Number:
    return Number("i8", opaque(e, word(e, number(value))), natural=True)


@rule(fused_loops.sliced)
def _sliced(e: Emission, extent: Value, lower: Value, upper: Value) -> Number:
    whole_extent, start, stop = words(e, extent, lower, upper)
    counted = from_start(e, stop, whole_extent)
    return whole(e.writer.most(e.writer.sub(e.writer.least(counted, whole_extent), start), "0"))


@rule(fused_loops.step_along)
def _step_along(e: Emission, extent: Value) -> Number:
    (given,) = words(e, extent)
    step = e.writer.select(e.writer.compare("eq", given, "1"), "i64", "0", "1")
    return whole(opaque(e, step))  # LLVM makes a loop for a step of 1 as long as it does not know of the choice


@rule(fused_loops.wrapped)
def _wrapped(e: Emission, index: Value, offset: Value, extent: Value) -> Number:
    place, far, size = words(e, index, offset, extent)
    rest = e.writer.op(f"srem i64 {e.writer.add(place, far)}, {size}")
    return whole(from_start(e, rest, size))


@rule(fused_loops.around)
def _around(e: Emission, count: Value, start: Value, length: Value) -> Number:
    given, first, more = words(e, count, start, length)
    return whole(e.writer.select(e.writer.compare("sge", given, first), "i64", e.writer.add(given, more), given))


@rule(fused_loops.block_size)
def _block_size(e: Emission, extent: Value) -> Number:
    (given,) = words(e, extent)
    root = intrinsic(e, "sqrt", "f8", as_kind(e.writer, whole(given), "f8").name)
    return whole(e.writer.most(as_kind(e.writer, Number("f8", root), "i8").name, str(fused_loops._SHORTEST)))


@rule(fused_loops.block_end)
def _block_end(e: Emission, start: Value, size: Value, stop: Value) -> Number:
    first, more, last = words(e, start, size, stop)
    return whole(e.writer.least(e.writer.add(first, more), last))
