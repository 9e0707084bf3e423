"""Quotients and powers, and the arithmetic of the runtime, which never raises."""

from __future__ import annotations

import math
import operator

import numpy as np

from adjoint.native.llvm.rules import numbers
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Number, Unsupported, Value, common_kind, width_of
from adjoint.native.llvm.writer import as_kind, constant, literal, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.arithmetic import numbers as runtime_numbers


@rule(operator.truediv, operator.itruediv, np.true_divide, np.divide)
def true_quotient(e: Emission, a: Value, b: Value) -> Number:
    one, other = numbers.floats(e, a, b)
    return Number(one.kind, e.writer.op(f"fdiv {one.type} {one.name}, {other.name}"))


@rule(operator.floordiv, operator.ifloordiv, np.floor_divide)
def _floor_quotient(e: Emission, a: Value, b: Value) -> Number:
    return _divided(e, a, b)[0]


@rule(operator.mod, operator.imod, np.remainder, np.mod)
def _remainder(e: Emission, a: Value, b: Value) -> Number:
    return _divided(e, a, b)[1]


@rule(divmod, np.divmod)
def _divmod(e: Emission, a: Value, b: Value) -> list[Number]:
    return list(_divided(e, a, b))


def _divided(e: Emission, a: Value, b: Value) -> tuple[Number, Number]:
    """The quotient that is rounded down, and what is left."""
    one, other = numbers.common(e, a, b)
    if not numbers.is_float(one):
        if one.kind[0] == "u":
            raise Unsupported("quotients of unsigned numbers")
        return _divided_wholes(e, numbers.word(e, one), numbers.word(e, other))
    writer, kind = e.writer, one.type
    zero = literal(one.kind, 0.0)
    rest = writer.op(f"frem {kind} {one.name}, {other.name}")
    is_rest = writer.op(f"fcmp une {kind} {rest}, {zero}")
    below = writer.op(f"fcmp olt {kind} {rest}, {zero}")
    other_below = writer.op(f"fcmp olt {kind} {other.name}, {zero}")
    wrong = writer.op(f"and i1 {is_rest}, {writer.op(f'xor i1 {below}, {other_below}')}")
    moved = writer.op(f"fadd {kind} {rest}, {other.name}")
    signed = numbers.intrinsic(e, "copysign", one.kind, zero, other.name)
    found = writer.select(is_rest, kind, writer.select(wrong, kind, moved, rest), signed)
    steps = writer.op(f"fdiv {kind} {writer.op(f'fsub {kind} {one.name}, {rest}')}, {other.name}")
    exact = writer.select(wrong, kind, writer.op(f"fsub {kind} {steps}, {literal(one.kind, 1.0)}"), steps)
    floor = numbers.intrinsic(e, "floor", one.kind, exact)
    gap = writer.op(f"fsub {kind} {exact}, {floor}")
    large = writer.op(f"fcmp ogt {kind} {gap}, {literal(one.kind, 0.5)}")
    rounded = writer.select(large, kind, writer.op(f"fadd {kind} {floor}, {literal(one.kind, 1.0)}"), floor)
    plain = writer.op(f"fdiv {kind} {one.name}, {other.name}")
    nothing = writer.op(f"fcmp oeq {kind} {exact}, {zero}")
    rounded = writer.select(nothing, kind, numbers.intrinsic(e, "copysign", one.kind, zero, plain), rounded)
    by_zero = writer.op(f"fcmp oeq {kind} {other.name}, {zero}")
    quotient = writer.select(by_zero, kind, plain, rounded)
    left = writer.select(by_zero, kind, rest, found)
    return Number(one.kind, quotient), Number(one.kind, left)


def _divided_wholes(e: Emission, a: str, b: str) -> tuple[Number, Number]:
    """By zero both are zero, as NumPy has it."""
    writer = e.writer
    literal_divisor = b.lstrip("-").isdigit() and b not in ("0", "-1")
    by_zero, divisor = "false", b
    if not literal_divisor:
        by_zero = writer.compare("eq", b, "0")
        least = writer.op(f"and i1 {writer.compare('eq', b, '-1')}, {writer.compare('eq', a, str(-(2**63)))}")
        divisor = writer.select(writer.op(f"or i1 {by_zero}, {least}"), "i64", "1", b)
    quotient = writer.op(f"sdiv i64 {a}, {divisor}")
    rest = writer.op(f"srem i64 {a}, {divisor}")
    signs = writer.compare("slt", writer.op(f"xor i64 {rest}, {divisor}"), "0")
    wrong = writer.op(f"and i1 {signs}, {writer.compare('ne', rest, '0')}")
    quotient = writer.select(wrong, "i64", writer.op(f"sub i64 {quotient}, 1"), quotient)
    rest = writer.select(wrong, "i64", writer.op(f"add i64 {rest}, {divisor}"), rest)
    if literal_divisor:
        return whole(quotient), whole(rest)
    return whole(writer.select(by_zero, "i64", "0", quotient)), whole(writer.select(by_zero, "i64", "0", rest))


@rule(operator.pow, operator.ipow, np.power, pow)
def power(e: Emission, a: Value, b: Value) -> Number:
    base, exponent = numbers.number(a), numbers.number(b)
    if numbers.is_float(exponent):
        if width_of(common_kind([base.kind, exponent.kind])):
            raise Unsupported("powers of bundles")
        one, other = numbers.floats(e, a, b)
        return Number(one.kind, numbers.intrinsic(e, "pow", one.kind, one.name, other.name))
    is_known = exponent.name.lstrip("-").isdigit()
    if is_known and int(exponent.name) < 0 and not numbers.is_float(base):
        base = as_kind(e.writer, base, "f8")
    if is_known and abs(int(exponent.name)) <= 64:
        return _literal_power(e, base, int(exponent.name))
    if numbers.is_float(base):
        return _raised(e, base, exponent)
    return _whole_power(e, numbers.word(e, base), numbers.word(e, exponent))


def _literal_power(e: Emission, base: Number, exponent: int) -> Number:
    if not numbers.is_float(base):
        base = as_kind(e.writer, base, "i8")
    factor = "fmul" if numbers.is_float(base) else "mul"
    left, square, product = abs(exponent), base.name, None
    while left:
        if left & 1:
            product = square if product is None else e.writer.op(f"{factor} {base.type} {product}, {square}")
        left >>= 1
        if left:
            square = e.writer.op(f"{factor} {base.type} {square}, {square}")
    one = literal(base.kind, 1)
    found = one if product is None else product
    if exponent < 0:
        found = e.writer.op(f"fdiv {base.type} {one}, {found}")
    return Number(base.kind, found)


_BY_SQUARING = """define internal {number} @{name}({number} %x, i64 %n) {{
entry:
  %size = call i64 @llvm.{size}
  br label %more
more:
  %left = phi i64 [ %size, %entry ], [ %half, %step ]
  %square = phi {number} [ %x, %entry ], [ %next, %step ]
  %product = phi {number} [ {one}, %entry ], [ %now, %step ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %end, label %step
step:
  %bit = and i64 %left, 1
  %odd = icmp ne i64 %bit, 0
  %times = {times} {number} %product, %square
  %now = select i1 %odd, {number} %times, {number} %product
  %half = lshr i64 %left, 1
  %next = {times} {number} %square, %square
  br label %more
end:
  {found}
}}"""
_FLOAT_POWER = _BY_SQUARING.format(
    name="raised", number="double", one="1.0", times="fmul", size="abs.i64(i64 %n, i1 false)",
    found="""%negative = icmp slt i64 %n, 0
  %inverse = fdiv double 1.0, %product
  %found = select i1 %negative, double %inverse, double %product
  ret double %found""",
)  # fmt: skip
_WHOLE_POWER = _BY_SQUARING.format(
    name="whole_power", number="i64", one="1", times="mul", size="smax.i64(i64 %n, i64 0)", found="ret i64 %product"
)


def _raised(e: Emission, base: Number, exponent: Number) -> Number:
    """A float to a whole number; infinite where it is the inverse of zero."""
    if base.kind != "f8":
        raise Unsupported("powers of these numbers")
    e.writer.module.declare("llvm.abs.i64", "i64", ["i64", "i1"])
    e.writer.module.functions.setdefault("raised", _FLOAT_POWER)
    return Number("f8", e.writer.op(f"call double @raised(double {base.name}, i64 {numbers.word(e, exponent)})"))


def _whole_power(e: Emission, base: str, exponent: str) -> Number:
    e.writer.module.declare("llvm.smax.i64", "i64", ["i64", "i64"])
    e.writer.module.functions.setdefault("whole_power", _WHOLE_POWER)
    return whole(e.writer.op(f"call i64 @whole_power(i64 {base}, i64 {exponent})"))


@rule(np.square)
def _square(e: Emission, x: Value) -> Number:
    return numbers.arithmetic(e, "fmul", x, x)


@rule(np.float_power)
def _float_power(e: Emission, a: Value, b: Value) -> Number:
    return power(e, as_kind(e.writer, numbers.number(a), "f8"), as_kind(e.writer, numbers.number(b), "f8"))


@rule(runtime_numbers.power)
def _power_without_poles(e: Emission, a: Value, b: Value) -> Number:
    base, exponent = numbers.number(a), numbers.number(b)
    if not numbers.is_float(exponent) and numbers.is_float(base):
        return _raised(e, base, exponent)
    one, other = as_kind(e.writer, base, "f8"), as_kind(e.writer, exponent, "f8")
    zero = constant(0.0)
    pole = numbers.both(e, numbers.compare(e, "eq", one, zero), numbers.compare(e, "lt", other, zero))
    return numbers.choice(e, pole, constant(math.inf), power(e, one, other))


@rule(runtime_numbers.choose)
def _choose(e: Emission, condition: Value, a: Value, b: Value) -> Number:
    return numbers.choice(e, numbers.is_true(e, condition), a, b)


@rule(runtime_numbers.undefined)
def _undefined(e: Emission, known: Value, varying: Value) -> Number:
    return numbers.choice(e, numbers.is_true(e, known), constant(0.0), constant(math.nan))


@rule(runtime_numbers.times)
def _times(e: Emission, a: Value, b: Value) -> Number:
    return unless_zero(e, a, numbers.arithmetic(e, "fmul", a, b))


@rule(runtime_numbers.quotient)
def quotient(e: Emission, a: Value, b: Value) -> Number:
    """``a / b``; by zero it has the sign of both."""
    one, other = numbers.floats(e, a, b)
    if width_of(one.kind):
        return true_quotient(e, one, other)
    infinite = numbers.intrinsic(e, "copysign", one.kind, literal(one.kind, math.inf), other.name)
    pole = numbers.arithmetic(e, "fmul", one, Number(one.kind, infinite))
    return numbers.choice(
        e, numbers.compare(e, "eq", other, constant(0.0, one.kind)), pole, true_quotient(e, one, other)
    )


@rule(runtime_numbers.divide)
def _divide(e: Emission, a: Value, b: Value) -> Number:
    return unless_zero(e, a, quotient(e, a, b))


def unless_zero(e: Emission, a: Value, found: Number) -> Number:
    """What is found, or zero where ``a`` is."""
    flat = numbers.arithmetic(e, "fmul", a, constant(0.0))
    return numbers.choice(e, numbers.compare(e, "eq", a, constant(0)), flat, found)


@rule(runtime_numbers.selected)
def _selected(e: Emission, support: Value, value: Value) -> Number:
    given = numbers.number(value)
    return numbers.choice(e, numbers.compare(e, "ne", support, constant(0)), given, numbers.zero_of(given))


@rule(runtime_numbers.somewhere)
def _somewhere(e: Emission, support: Value) -> Number:
    return numbers.compare(e, "ne", support, constant(0))


@rule(runtime_numbers.unit)
def _unit(e: Emission, cotangent: Value, index: Value, place: Value) -> Number:
    return numbers.choice(e, numbers.compare(e, "eq", index, place), cotangent, numbers.zero_of(cotangent))


@rule(runtime_numbers.first_equal)
def _first_equal(e: Emission, y: Value, *candidates: Value) -> Number:
    found = constant(0)
    for place, candidate in reversed(list(enumerate(candidates))):
        found = numbers.choice(e, numbers.compare(e, "eq", candidate, y), constant(place), found)
    return found
