"""Checks: where they fail, a function is left with the number of what is raised."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.diagnostics import ComplexPower
from adjoint.native.llvm.messages import Message
from adjoint.native.llvm.rules import functions, numbers
from adjoint.native.llvm.rules.arithmetic import complexes
from adjoint.native.llvm.rules.numbers import both, compare, either, from_start, number, words
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Array, Known, Number, Object, Tuple, Unsupported, Value
from adjoint.native.llvm.writer import constant, truth, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import objects
from adjoint.runtime.arithmetic import checks, fused_loops, in_place

_BROADCAST = "operands could not be broadcast together"
OUTSIDE = "index is out of bounds"


def told(value: Value) -> Any:
    """What the compiler knows of an argument."""
    if not isinstance(value, Known):
        raise Unsupported("a text at run time")
    return value.value


def told_or_number(value: Value) -> Any:
    """The same, or a whole number that stands there."""
    return int(value.name) if isinstance(value, Number) else told(value)


def _told_throughout(value: Value) -> Any:
    """The same, or a tuple of such."""
    return tuple(map(_told_throughout, value.items)) if isinstance(value, Tuple) else told_or_number(value)


def either_word(e: Emission, *conditions: str) -> str:
    return numbers.either(e, *map(truth, conditions)).name


def both_words(e: Emission, *conditions: str) -> str:
    return numbers.both(e, *map(truth, conditions)).name


# Extents


def _declare_difference(callee: Any, exception: type[Exception], message: str) -> None:
    @rule(callee)
    def write(e: Emission, one: Value, other: Value) -> None:
        a, b = words(e, one, other)
        if a != b:
            e.check(e.writer.compare("ne", a, b), exception, message)


_declare_difference(fused_loops.same_extent, ValueError, _BROADCAST)


@rule(fused_loops.extents_agree)
def _extents_agree(e: Emission, *args: Value, among: Value) -> None:
    def size(source: tuple[int, int | None]) -> str:
        place, axis = source
        found = args[place]
        if axis is None:
            return e.extent(found)
        assert isinstance(found, Array)
        return found.shape[axis]

    for one, other, more in _told_throughout(among):
        a, b = size(one), "0" if other is None else size(other)
        if more:
            b = e.writer.add(b, str(more))
        if a != b:
            e.check(e.writer.compare("ne", a, b), fused_loops.ExtentsDiffer, "made for other extents")


_declare_difference(
    fused_loops.contracts_extent, ValueError, "matmul: operands have a mismatch in their core dimensions"
)
_declare_difference(fused_loops.selects_extent, IndexError, "boolean index did not match indexed array")


@rule(fused_loops.fits_extent)
def _fits_extent(e: Emission, narrow: Value, wide: Value) -> None:
    fits_extent(e, *words(e, narrow, wide))


def fits_extent(e: Emission, narrow: str, wide: str, message: str = _BROADCAST) -> None:
    """Raises unless an axis is broadcast to another."""
    if narrow != wide:
        differs = both_words(e, e.writer.compare("ne", narrow, "1"), e.writer.compare("ne", narrow, wide))
        e.check(differs, ValueError, message)


@rule(fused_loops.inside_extent)
def _inside_extent(e: Emission, place: Value, extent: Value) -> None:
    index, size = words(e, place, extent)
    counted = from_start(e, index, size)
    e.check(e.writer.compare("uge", counted, size), IndexError, OUTSIDE)


def check_place(e: Emission, place: str, extent: str) -> None:
    """Raises where a place, counted from the start, is outside of an axis, if indices that are numbers are checked."""
    if e.program.checked:
        e.check(e.writer.compare("uge", place, extent), IndexError, OUTSIDE)


@rule(fused_loops.some)
def _some(e: Emission, extent: Value) -> None:
    (given,) = words(e, extent)
    message = "zero-size array to reduction operation which has no identity"
    e.check(e.writer.compare("eq", given, "0"), ValueError, message)


def common_extent(e: Emission, one: str, other: str, exception: type[Exception] = ValueError) -> str:
    """The extent of two axes that are broadcast together."""
    if one == other:
        return one
    takes_other = either_word(e, e.writer.compare("eq", one, "1"), e.writer.compare("eq", one, other))
    fits = either_word(e, takes_other, e.writer.compare("eq", other, "1"))
    said = _BROADCAST if exception is ValueError else "shape mismatch: indexing arrays could not be broadcast together"
    e.check(e.writer.op(f"xor i1 {fits}, true"), exception, said)
    return e.writer.select(takes_other, "i64", other, one)


def common_shape(e: Emission, given: Sequence[Array], exception: type[Exception] = ValueError) -> list[str]:
    """The shape to which arrays are broadcast."""
    shape: list[str] = []
    for axis in range(1, max((x.kind.rank for x in given), default=0) + 1):
        found, *others = [x.shape[-axis] for x in given if x.kind.rank >= axis]
        for other in others:
            found = common_extent(e, found, other, exception)
        shape.insert(0, found)
    return shape


@rule(np.broadcast_shapes)
def _broadcast_shapes(e: Emission, *shapes: Value) -> Tuple:
    given = [words(e, *shape.items) if isinstance(shape, Tuple) else words(e, shape) for shape in shapes]
    found: list[str] = []
    for axis in range(1, max(map(len, given), default=0) + 1):
        first, *others = [shape[-axis] for shape in given if len(shape) >= axis]
        for other in others:
            first = common_extent(e, first, other)
        found.insert(0, first)
    return Tuple(tuple(map(whole, found)))


@rule(fused_loops.common_extent)
def _common_extent(e: Emission, one: Value, other: Value) -> Number:
    return whole(common_extent(e, e.extent(one), e.extent(other)))


@rule(fused_loops.common_places)
def _common_places(e: Emission, one: Value, other: Value) -> Number:
    return whole(common_extent(e, e.extent(one), e.extent(other), IndexError))


@rule(objects.check_size)
def check_size(e: Emission, size: Value, count: Value) -> None:
    given, wanted = words(e, size, count)
    too_many, too_few = (e.writer.compare(order, given, wanted) for order in ("sgt", "slt"))
    e.check(too_many, ValueError, counting("too many values to unpack (expected {})"), [count])
    e.check(too_few, ValueError, counting("not enough values to unpack (expected {}, got {})"), [count, size])


def counting(text: str) -> Message:
    """A text with whole numbers of the call in its braces."""
    first, *rest = text.split("{}")
    return Message(((first, *(part for piece in rest for part in (("i8", "", ""), piece))),))


# Arithmetic

Condition = Callable[..., Number]


_is_zero = complexes.is_zero
_finite, _infinite, _not = functions.is_finite, functions.is_infinite, numbers.negation


def _refuse_where(e: Emission, failed: Number, exception: type[Exception], message: Any) -> None:
    e.check(numbers.somewhere(e, failed).name, exception, message)


def _out_of_range(e: Emission, x: Value, y: Value) -> Number:
    return both(e, _infinite(e, y), _finite(e, x))


def _beyond(*bounds: tuple[str, float]) -> Condition:
    return lambda e, x: either(e, *[compare(e, order, x, constant(bound)) for order, bound in bounds])


def _whole_and_not_positive(e: Emission, x: Value) -> Number:
    given = numbers.as_float(e, x)
    floor = RULES[np.floor](e, given)
    return both(e, compare(e, "le", given, constant(0.0)), compare(e, "eq", given, floor))


_OUTSIDE: dict[str, Condition] = {
    "sqrt": _beyond(("lt", 0.0)),
    "log": _beyond(("le", 0.0)),
    "log2": _beyond(("le", 0.0)),
    "log10": _beyond(("le", 0.0)),
    "log1p": _beyond(("le", -1.0)),
    "asin": _beyond(("lt", -1.0), ("gt", 1.0)),
    "acos": _beyond(("lt", -1.0), ("gt", 1.0)),
    "acosh": _beyond(("lt", 1.0)),
    "atanh": _beyond(("le", -1.0), ("ge", 1.0)),
    "sin": _infinite,
    "cos": _infinite,
    "tan": _infinite,
    "gamma": lambda e, x: either(e, compare(e, "eq", x, constant(-math.inf)), _whole_and_not_positive(e, x)),
    "lgamma": lambda e, x: both(e, _finite(e, x), _whole_and_not_positive(e, x)),
}


def _is_pole(e: Emission, x: Value, y: Value, z: Value) -> Number:
    below = compare(e, "lt", y, constant(0.0))
    return both(e, _is_zero(e, x), below, _not(e, _infinite(e, y)))


def _has_no_value(e: Emission, x: Value, y: Value, z: Value) -> Number:
    known = [_not(e, functions.is_nan(e, each)) for each in (x, y)]
    return either(e, _is_pole(e, x, y, z), both(e, functions.is_nan(e, z), *known))


def _is_too_large(e: Emission, x: Value, y: Value, z: Value) -> Number:
    return both(e, _infinite(e, z), compare(e, "ne", x, constant(0.0)), _finite(e, x), _finite(e, y))


def _is_complex_pole(e: Emission, x: Value, y: Value, z: Value) -> Number:
    real, imag = complexes.real_and_imaginary(y)
    below = either(e, compare(e, "lt", real, constant(0.0)), compare(e, "ne", imag, constant(0.0)))
    return both(e, _is_zero(e, x), below)


def _is_too_large_in_parts(e: Emission, x: Value, y: Value, z: Value) -> Number:
    return either(e, *[_infinite(e, part) for part in complexes.real_and_imaginary(z)])


def _is_complex(e: Emission, x: Value, y: Value, z: Value) -> Number:
    del z
    by = numbers.as_float(e, y)
    is_fraction = compare(e, "ne", by, RULES[np.floor](e, by))
    return both(e, compare(e, "lt", x, constant(0.0)), _finite(e, x), _finite(e, by), is_fraction)


_FAULTS: dict[str, Condition] = {
    "pole of **": _is_pole,
    "range of **": _is_too_large,
    "domain of pow": _has_no_value,
    "range of pow": _is_too_large,
    "real pole of complex **": _is_pole,
    "complex pole of **": _is_complex_pole,
    "range of complex **": _is_too_large_in_parts,
    "inverse of whole numbers": lambda e, x, y, z: compare(e, "lt", y, constant(0)),
    "branch of **": _is_complex,
}
_REFUSED: dict[str, tuple[type[Exception], tuple[Any, ...]]] = {
    **checks.REFUSED_POWERS,
    "branch of **": (ComplexPower, ()),
}


def _fault(kind: str) -> Condition:
    if kind not in _FAULTS:
        raise Unsupported(kind)
    return _FAULTS[kind]


def _refuse_power(e: Emission, failed: Number, kind: str) -> None:
    error, text = _REFUSED[kind]
    _refuse_where(e, failed, error, text[0] if len(text) == 1 else text)


@rule(checks.check_divisor)
def _check_divisor(e: Emission, divisor: Value, message: Value) -> None:
    _refuse_where(e, _is_zero(e, divisor), ZeroDivisionError, told(message))


@rule(checks.check_domain)
def _check_domain(e: Emission, name: Value, x: Value) -> None:
    _refuse_where(e, _OUTSIDE[told(name)](e, x), ValueError, checks.OUTSIDE_SAID)


@rule(checks.check_range)
def _check_range(e: Emission, x: Value, y: Value) -> None:
    _refuse_where(e, _out_of_range(e, x, y), OverflowError, checks.GROWN_SAID)


@rule(checks.check_power)
def _check_power(e: Emission, kind: Value, x: Value, y: Value, z: Value) -> None:
    _refuse_power(e, _fault(told(kind))(e, x, y, z), told(kind))


@rule(checks.check_whole)
def _check_whole(e: Emission, x: Value) -> None:
    _refuse_where(e, functions.is_nan(e, x), ValueError, "cannot convert float NaN to integer")
    _refuse_where(e, _infinite(e, x), OverflowError, "cannot convert float infinity to integer")
    size = functions.magnitude(e, x)
    _refuse_where(
        e, compare(e, "ge", size, constant(checks.TOO_LARGE)), OverflowError, "int too large for machine code"
    )


@rule(checks.check_fits)
def _check_fits(e: Emission, value: Value, least: Value, most: Value) -> None:
    outside = either(e, compare(e, "lt", value, least), compare(e, "gt", value, most))
    _refuse_where(e, outside, OverflowError, "Python integer out of bounds of the dtype")


@rule(checks.check_depth)
def _check_depth(e: Emission, depth: Value, limit: Value) -> None:
    _refuse_where(e, compare(e, "gt", depth, limit), RecursionError, checks.TOO_DEEP_SAID)


@rule(checks.check_bound)
def _check_bound(e: Emission, is_bound: Value, name: Value) -> None:
    _refuse_where(e, _not(e, numbers.is_true(e, is_bound)), UnboundLocalError, checks.unbound_said(told(name)))


@rule(checks.check_shift)
def _check_shift(e: Emission, count: Value, leftwards: Value) -> None:
    _refuse_where(e, compare(e, "lt", count, constant(0)), ValueError, "negative shift count")
    if number(leftwards).name == "true":
        too_far = compare(e, "ge", count, constant(checks.BITS))
        _refuse_where(e, too_far, OverflowError, "int too large for machine code")


@rule(checks.check_exact)
def _check_exact(e: Emission, value: Value) -> None:
    e.check_exact(number(value))


@rule(checks.check_exponents)
def _check_exponents(e: Emission, exponents: Value) -> None:
    failed = compare(e, "lt", number(exponents), constant(0))
    _refuse_where(e, failed, ValueError, "Integers to negative integer powers are not allowed.")


@rule(checks.check_operand, in_place.check_array)
def _of_one_kind(e: Emission, operand: Value, name: Value) -> None:
    """Whatever has a form here is a number or a plain array; of objects, Python knows."""
    if isinstance(operand, Object):
        raise Unsupported("a question for the class of an object")


@rule(in_place.check_number)
def _of_a_number(e: Emission, operand: Value, name: Value) -> None:
    if isinstance(operand, (Object, Array)):
        raise Unsupported("what may be an array that something else has, too")


# Checks behind loops


def _noted(e: Emission, failed: Number, found: Value, place: Value) -> Number:
    first, own = words(e, found, place)
    return whole(e.writer.select(numbers.somewhere(e, failed).name, "i64", e.writer.least(first, own), first))


@rule(checks.note_divisor)
def _note_divisor(e: Emission, found: Value, place: Value, divisor: Value) -> Number:
    return _noted(e, _is_zero(e, divisor), found, place)


@rule(checks.note_domain)
def _note_domain(e: Emission, found: Value, place: Value, name: Value, x: Value) -> Number:
    return _noted(e, _OUTSIDE[told(name)](e, x), found, place)


@rule(checks.note_range)
def _note_range(e: Emission, found: Value, place: Value, x: Value, y: Value) -> Number:
    return _noted(e, _out_of_range(e, x, y), found, place)


@rule(checks.note_power)
def _note_power(e: Emission, found: Value, place: Value, kind: Value, x: Value, y: Value, z: Value) -> Number:
    return _noted(e, _fault(told(kind))(e, x, y, z), found, place)


@rule(checks.earlier)
def _earlier(e: Emission, first: Value, index: Value, found: Value, count: Value) -> Number:
    known, place, own, size = words(e, first, index, found, count)
    number_of_own = e.writer.op(f"add i64 {e.writer.op(f'mul i64 {place}, {size}')}, {own}")
    failed = e.writer.compare("slt", own, size)
    own_or_none = e.writer.select(failed, "i64", number_of_own, str(checks.NEVER))
    return whole(e.writer.least(known, own_or_none))  # in this form, LLVM knows the minimum of a loop


def _is_among(e: Emission, first: Value, count: Value, places: Value) -> Number:
    place, size, bits = words(e, first, count, places)
    rest = e.writer.op(f"srem i64 {place}, {size}")
    bit = e.writer.op(f"and i64 {e.writer.op(f'lshr i64 {bits}, {rest}')}, 1")
    failed = e.writer.compare("ne", place, str(checks.NEVER))
    return both(e, truth(failed), truth(e.writer.compare("ne", bit, "0")))


@rule(checks.refuse)
def _refuse(e: Emission, first: Value, count: Value, places: Value, error: Value, message: Value) -> None:
    _refuse_where(e, _is_among(e, first, count, places), checks.ERRORS[told(error)], told(message))


@rule(checks.refuse_power)
def _refuse_powers(e: Emission, first: Value, count: Value, places: Value, kind: Value) -> None:
    _refuse_power(e, _is_among(e, first, count, places), told(kind))
