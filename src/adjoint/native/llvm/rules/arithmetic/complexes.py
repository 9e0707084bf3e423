"""Complex numbers: what functions make of them, in their parts and by the C library.

Functions that have a form for real numbers have another one here, for calls of which an argument is complex.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.native.llvm.rules import functions, numbers
from adjoint.native.llvm.rules.table import RULES, Rule, applied, rule
from adjoint.native.llvm.values import (
    LLVM_TYPES,
    Array,
    ArrayKind,
    Complex,
    Number,
    Unsupported,
    Value,
    common_kind,
    is_complex,
    part_of,
    size_of,
)
from adjoint.native.llvm.writer import as_complex, as_kind, constant, literal
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import tangents
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.arithmetic import numbers as runtime_numbers
from adjoint.runtime.array_functions import arrays as runtime_arrays

_Written = TypeVar("_Written", bound=Rule)
_MOST_PRODUCTS = 100
"""The largest whole exponent for which Python multiplies."""


OF_COMPLEX: dict[Any, Rule] = {}
"""What calls become where an argument is a complex number, by what is called."""


def of_complex(*callees: Any) -> Callable[[_Written], _Written]:
    """Declares what calls become where an argument is a complex number."""

    def declare(write: _Written) -> _Written:
        OF_COMPLEX.update(dict.fromkeys(callees, write))
        return write

    return declare


def where_complex(callee: Any, write: Rule, usual: Rule | None) -> Rule:
    """The one or the other, as arguments are complex numbers or not."""

    def chosen(e: Emission, *values: Value, **named: Value) -> Any:
        if usual is not None and not any(isinstance(value, Complex) for value in values):
            return applied(callee, usual, e, *values, **named)
        if usual is None:  # of the module cmath, which takes any number for a complex one
            values = tuple(as_complex(e.writer, numbers.scalar(value), "c8") for value in values)
        return applied(callee, write, e, *values, **named)

    return chosen


def _common(e: Emission, *values: Value) -> list[Complex]:
    """Numbers as complex ones of the kind that they have in common."""
    given = [numbers.scalar(value) for value in values]
    kind = common_kind([each.kind for each in given])
    return [as_complex(e.writer, each, kind) for each in given]


class _Parts:
    """Arithmetic of the parts of complex numbers of a kind."""

    def __init__(self, e: Emission, kind: str) -> None:
        self.writer = e.writer
        self.kind = kind
        self.type = LLVM_TYPES[part_of(kind)]

    def op(self, instruction: str, a: str, b: str) -> str:
        return self.writer.op(f"{instruction} {self.type} {a}, {b}")

    def negated(self, x: str) -> str:
        return self.writer.op(f"fneg {self.type} {x}")

    def select(self, condition: Number, a: str, b: str) -> str:
        return self.writer.select(condition.name, self.type, a, b)

    def literal(self, value: float) -> str:
        return literal(part_of(self.kind), value)


def real_and_imaginary(value: Value) -> tuple[Number, Number]:
    """The parts of a number."""
    if isinstance(value, Complex):
        return value.parts
    given = numbers.number(value)
    return given, constant(0, given.kind)


def is_zero(e: Emission, value: Value) -> Number:
    """Whether a number is zero."""
    return numbers.negation(e, _is_true(e, value)) if isinstance(value, Complex) else _equal_to_zero(e, value)


def _equal_to_zero(e: Emission, value: Value) -> Number:
    return numbers.compare(e, "eq", value, constant(0))


def _one_of(e: Emission, condition: Number, a: Value, b: Value) -> Complex:
    one, other = _common(e, a, b)
    parts = _Parts(e, one.kind)
    return Complex(
        one.kind, parts.select(condition, one.real, other.real), parts.select(condition, one.imag, other.imag)
    )


# Arithmetic


def _declare_sum(instruction: str, *callees: Any) -> None:
    @of_complex(*callees)
    def write(e: Emission, a: Value, b: Value) -> Complex:
        one, other = _common(e, a, b)
        parts = _Parts(e, one.kind)
        real, imag = parts.op(instruction, one.real, other.real), parts.op(instruction, one.imag, other.imag)
        return Complex(one.kind, real, imag)


_declare_sum("fadd", operator.add, operator.iadd, np.add)
_declare_sum(f"fadd {numbers.FREE}", fused_loops.plus)
_declare_sum("fsub", operator.sub, operator.isub, np.subtract)


@of_complex(operator.mul, operator.imul, np.multiply, runtime_numbers.product)
def product(e: Emission, a: Value, b: Value) -> Complex:
    one, other = _common(e, a, b)
    parts = _Parts(e, one.kind)
    real = parts.op("fsub", parts.op("fmul", one.real, other.real), parts.op("fmul", one.imag, other.imag))
    imag = parts.op("fadd", parts.op("fmul", one.real, other.imag), parts.op("fmul", one.imag, other.real))
    return Complex(one.kind, real, imag)


@of_complex(np.square)
def _square(e: Emission, x: Value) -> Complex:
    return product(e, x, x)


@of_complex(operator.truediv, operator.itruediv, np.true_divide, np.divide)
def quotient(e: Emission, a: Value, b: Value) -> Complex:
    """Smith's way, which does not overflow; by zero as NumPy has it."""
    one, other = _common(e, a, b)
    parts = _Parts(e, one.kind)
    sizes = [functions.magnitude(e, part) for part in other.parts]
    wide = numbers.compare(e, "ge", *sizes)
    large, small = parts.select(wide, other.real, other.imag), parts.select(wide, other.imag, other.real)
    x, y = parts.select(wide, one.real, one.imag), parts.select(wide, one.imag, one.real)
    ratio = parts.op("fdiv", small, large)
    scale = parts.op("fadd", large, parts.op("fmul", small, ratio))
    real = parts.op("fdiv", parts.op("fadd", x, parts.op("fmul", y, ratio)), scale)
    turned = parts.op("fdiv", parts.op("fsub", y, parts.op("fmul", x, ratio)), scale)
    imag = parts.select(wide, turned, parts.negated(turned))
    by_zero, infinite = is_zero(e, other), parts.literal(math.inf)
    return Complex(
        one.kind,
        parts.select(by_zero, parts.op("fmul", one.real, infinite), real),
        parts.select(by_zero, parts.op("fmul", one.imag, infinite), imag),
    )


@of_complex(runtime_numbers.times)
def _times(e: Emission, a: Value, b: Value) -> Complex:
    return _unless_zero(e, a, product(e, a, b))


@of_complex(runtime_numbers.quotient)
def _quotient_to_infinity(e: Emission, a: Value, b: Value) -> Complex:
    if not isinstance(b, Complex):
        return quotient(e, a, b)
    infinite = product(e, a, Complex(b.kind, literal(part_of(b.kind), math.inf), literal(part_of(b.kind), 0.0)))
    return _one_of(e, is_zero(e, b), infinite, quotient(e, a, b))


@of_complex(runtime_numbers.divide)
def _divide(e: Emission, a: Value, b: Value) -> Complex:
    return _unless_zero(e, a, _quotient_to_infinity(e, a, b))


def _unless_zero(e: Emission, a: Value, found: Complex) -> Complex:
    """What is found, or zero where ``a`` is."""
    zero = literal(part_of(found.kind), 0.0)
    return _one_of(e, is_zero(e, a), Complex(found.kind, zero, zero), found)


@of_complex(operator.neg, np.negative)
def _negated(e: Emission, x: Complex) -> Complex:
    parts = _Parts(e, x.kind)
    return Complex(x.kind, parts.negated(x.real), parts.negated(x.imag))


@of_complex(operator.pos, np.positive)
def _itself(e: Emission, x: Complex) -> Complex:
    return x


@of_complex(operator.pow, operator.ipow, np.power, builtins.pow, runtime_numbers.power)
def _power(e: Emission, a: Value, b: Value) -> Complex:
    is_literal = isinstance(b, Number) and not numbers.is_float(b) and b.name.lstrip("-").isdigit()
    if is_literal and isinstance(a, Complex) and isinstance(b, Number) and abs(int(b.name)) <= _MOST_PRODUCTS:
        return _whole_power(e, a, int(b.name))
    one, other = _common(e, a, b)
    wide = [part for each in (one, other) for part in as_complex(e.writer, each, "c8").parts]
    found = _from_library(e, "_Py_c_pow", one.kind, wide)
    has_some = numbers.either(e, is_zero(e, other), numbers.compare(e, "gt", other.parts[0], constant(0.0)))
    nothing = literal(part_of(one.kind), math.nan)
    return _one_of(
        e, numbers.both(e, is_zero(e, one), numbers.negation(e, has_some)), Complex(one.kind, nothing, nothing), found
    )


def _whole_power(e: Emission, base: Complex, exponent: int) -> Complex:
    part = part_of(base.kind)
    one = Complex(base.kind, literal(part, 1.0), literal(part, 0.0))
    left, square, found = abs(exponent), base, one
    while left:
        if left & 1:
            found = square if found is one else product(e, found, square)
        left >>= 1
        if left:
            square = product(e, square, square)
    return found if exponent >= 0 else quotient(e, one, found)


# Comparisons


@of_complex("truth", bool, operator.truth)
def _is_true(e: Emission, x: Complex) -> Number:
    return numbers.either(e, *[numbers.compare(e, "ne", part, constant(0.0, part.kind)) for part in x.parts])


@of_complex(operator.not_, np.logical_not)
def _is_false(e: Emission, x: Complex) -> Number:
    return numbers.negation(e, _is_true(e, x))


@of_complex(operator.eq, np.equal)
def _equal(e: Emission, a: Value, b: Value) -> Number:
    one, other = _common(e, a, b)
    pairs = zip(one.parts, other.parts, strict=True)
    return numbers.both(e, *[numbers.compare(e, "eq", *pair) for pair in pairs])


@of_complex(operator.ne, np.not_equal)
def _differs(e: Emission, a: Value, b: Value) -> Number:
    return numbers.negation(e, _equal(e, a, b))


def _declare_asked(write: Callable[[Emission, Value], Number], combine: Any, *callees: Any) -> None:
    @of_complex(*callees)
    def asked(e: Emission, x: Complex) -> Number:
        found: Number = combine(e, *[write(e, part) for part in x.parts])
        return found


_declare_asked(functions.is_nan, numbers.either, np.isnan, cmath.isnan)
_declare_asked(functions.is_infinite, numbers.either, np.isinf, cmath.isinf)
_declare_asked(functions.is_finite, numbers.both, np.isfinite, cmath.isfinite)


@of_complex(runtime_numbers.somewhere)
def _somewhere(e: Emission, support: Complex) -> Number:
    return _is_true(e, support)


# Choices


@of_complex(runtime_numbers.choose)
def _choose(e: Emission, condition: Value, a: Value, b: Value) -> Complex:
    return _one_of(e, RULES["truth"](e, condition), a, b)


@of_complex(runtime_numbers.selected)
def _selected(e: Emission, support: Value, value: Value) -> Value:
    if isinstance(value, Complex):
        return _one_of(e, RULES["truth"](e, support), value, _zero_of(value))
    return numbers.choice(e, RULES["truth"](e, support), value, numbers.zero_of(value))


@of_complex(runtime_numbers.unit)
def _unit(e: Emission, cotangent: Complex, index: Value, place: Value) -> Complex:
    return _one_of(e, numbers.compare(e, "eq", index, place), cotangent, _zero_of(cotangent))


def _zero_of(x: Complex) -> Complex:
    zero = literal(part_of(x.kind), 0.0)
    return Complex(x.kind, zero, zero)


# Parts


@rule(
    *(np.conj, np.conjugate, complex.conjugate, np.ndarray.conj, np.ndarray.conjugate),
    *(np.generic.conj, np.generic.conjugate),
)
def conjugate(e: Emission, x: Value) -> Number | Complex:
    if not isinstance(x, Complex):
        return numbers.number(x)
    return Complex(x.kind, x.real, _Parts(e, x.kind).negated(x.imag))


def part(e: Emission, x: Array, imaginary: bool) -> Array:
    """The view of an array that has the real parts of its elements, or the imaginary ones."""
    kind = ArrayKind(part_of(x.kind.element), x.kind.rank, False, x.kind.read_only)
    data = e.writer.place(x.data, str(size_of(kind.element) if imaginary else 0))
    return Array(kind, x.base, data, x.shape, x.strides, x.owner)


@rule(np.real)
def _real(e: Emission, x: Value) -> Value:
    if isinstance(x, Array):
        return part(e, x, False) if is_complex(x.kind.element) else x
    return real_and_imaginary(x)[0]


@rule(np.imag, runtime_numbers.imaginary_part)
def _imaginary(e: Emission, x: Value) -> Value:
    if isinstance(x, Array):
        if not is_complex(x.kind.element):
            raise Unsupported("imaginary parts of real arrays")
        return part(e, x, True)
    return real_and_imaginary(x)[1]


@of_complex(builtins.abs, np.abs, np.absolute)
def magnitude(e: Emission, x: Complex) -> Number:
    return RULES[np.hypot](e, *x.parts)  # type: ignore[no-any-return]


@rule(np.angle, cmath.phase)
def _angle(e: Emission, x: Value) -> Number:
    real, imag = real_and_imaginary(x)
    return RULES[np.arctan2](e, imag, real)  # type: ignore[no-any-return]


@of_complex(runtime_numbers.sign)
def _sign(e: Emission, x: Complex) -> Complex:
    direction = quotient(e, conjugate(e, x), magnitude(e, x))
    return _one_of(e, is_zero(e, x), _zero_of(x), direction)


@rule(complex)
def _complex(e: Emission, real: Value, imag: Value | None = None) -> Complex:
    if imag is None:
        return as_complex(e.writer, numbers.scalar(real), "c8")
    if isinstance(imag, Complex):
        return RULES[operator.add](e, real, product(e, Complex("c8", "0.0", "1.0"), imag))  # type: ignore[no-any-return]
    if isinstance(real, Complex):
        part = as_kind(e.writer, numbers.number(imag), part_of(real.kind))
        second = RULES[operator.add](e, Number(part.kind, real.imag), part)
        return Complex(real.kind, real.real, second.name)
    return _of_parts(e, real, imag)


@rule(runtime_arrays.complex_of)
def _of_parts(e: Emission, real: Value, imag: Value) -> Complex:
    """The real parts are those of the first."""
    first, second = numbers.floats(e, real_and_imaginary(real)[0], imag)
    return Complex(f"c{first.kind[1]}", first.name, second.name)


def _declare_conversion(callee: Any, kind: str) -> None:
    @rule(callee)
    def write(e: Emission, x: Value) -> Complex:
        return as_complex(e.writer, numbers.scalar(x), kind)


_declare_conversion(np.complex128, "c8")
_declare_conversion(np.complex64, "c4")


# Functions of the C library


def _from_library(e: Emission, name: str, kind: str, given: list[Number]) -> Complex:
    """What a function of the C library makes of the parts of complex numbers."""
    found = e.writer.call(name, "{ double, double }", [("double", each.name) for each in given], "nounwind willreturn")
    parts = [e.writer.op(f"extractvalue {{ double, double }} {found}, {place}") for place in range(2)]
    return as_complex(e.writer, Complex("c8", *parts), kind)


def _declare_library(name: str, *callees: Any) -> None:
    @of_complex(*callees)
    def write(e: Emission, x: Complex) -> Complex:
        return _from_library(e, name, x.kind, list(as_complex(e.writer, x, "c8").parts))


for _own, *_usual in (
    ("cexp", np.exp, cmath.exp),
    ("clog", np.log, runtime_numbers.log),
    ("csqrt", np.sqrt, cmath.sqrt, runtime_numbers.sqrt),
    ("csin", np.sin, cmath.sin),
    ("ccos", np.cos, cmath.cos),
    ("ctan", np.tan, cmath.tan),
    ("csinh", np.sinh, cmath.sinh),
    ("ccosh", np.cosh, cmath.cosh),
    ("ctanh", np.tanh, cmath.tanh),
    ("casin", np.arcsin, cmath.asin),
    ("cacos", np.arccos, cmath.acos),
    ("catan", np.arctan, cmath.atan),
    ("casinh", np.arcsinh, cmath.asinh),
    ("cacosh", np.arccosh, cmath.acosh),
    ("catanh", np.arctanh, cmath.atanh),
):
    _declare_library(_own, *_usual)


@of_complex(cmath.log)
def _log_of_base(e: Emission, x: Value, base: Value | None = None) -> Complex:
    found: Complex = RULES[np.log](e, *_common(e, x))
    return found if base is None else quotient(e, found, RULES[np.log](e, *_common(e, base)))


@of_complex(np.log10, cmath.log10)
def _log10(e: Emission, x: Complex) -> Complex:
    return quotient(e, RULES[np.log](e, x), constant(math.log(10.0), part_of(x.kind)))


# Derivatives


@of_complex(tangents.zero_number, runtime_arrays.zeros_like)
def _zero_number(e: Emission, x: Complex) -> Complex:
    return Complex("c8", literal("f8", 0.0), literal("f8", 0.0))
