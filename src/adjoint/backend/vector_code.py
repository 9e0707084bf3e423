"""Arithmetic on doubles as LLVM instructions that mean what they say, whatever a function around them allows.

The mathematical functions rest on the order of their operations. A compiler that is told to reorder arithmetic puts
its flags on every instruction that has none; one that changes nothing keeps the others away.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir  # type: ignore[import-untyped]

_DOUBLE = ir.DoubleType()
_BITS = ir.IntType(64)
_FIXED = ("afn",)  # lets functions be approximated: of no consequence for these instructions
_MANTISSA = 52
BIAS = 1023
ROUNDING = 1.5 * 2.0**_MANTISSA
"""A double so large that what is added to it is rounded to a whole number, found in its lowest bits."""


class Code:
    """Writes one function, without branches, so that loops around it become vector code."""

    def __init__(self, builder) -> None:
        self._builder = builder

    @staticmethod
    def number(value: float):
        return ir.Constant(_DOUBLE, value)

    @staticmethod
    def word(value: int):
        return ir.Constant(_BITS, value & (2**64 - 1))

    def _value(self, x):
        return self.number(x) if isinstance(x, float) else x

    # Doubles

    def add(self, a, b):
        return self._builder.fadd(self._value(a), self._value(b), flags=_FIXED)

    def sub(self, a, b):
        return self._builder.fsub(self._value(a), self._value(b), flags=_FIXED)

    def mul(self, a, b):
        return self._builder.fmul(self._value(a), self._value(b), flags=_FIXED)

    def div(self, a, b):
        return self._builder.fdiv(self._value(a), self._value(b), flags=_FIXED)

    def mul_add(self, a, b, c):
        """``a * b + c``, rounded once where the processor can."""
        return self._intrinsic("llvm.fmuladd", a, b, c)

    def exact_mul_add(self, a, b, c):
        """``a * b + c``, rounded once."""
        return self._intrinsic("llvm.fma", a, b, c)

    def magnitude(self, x):
        return self._intrinsic("llvm.fabs", x)

    def with_sign_of(self, magnitude, sign):
        return self._intrinsic("llvm.copysign", magnitude, sign)

    def _intrinsic(self, name: str, *args):
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE] * len(args))
        callee = self._builder.module.declare_intrinsic(name, [_DOUBLE], kind)
        return self._builder.call(callee, [self._value(arg) for arg in args])

    def polynomial(self, x, coefficients: Sequence[float]):
        """The sum of ``coefficients[k] * x**k``, by halves, so that little waits for what comes before it."""
        terms = [self.number(coefficient) for coefficient in coefficients]
        power = x
        while len(terms) > 1:
            pairs = [self.mul_add(power, high, low) for low, high in zip(terms[::2], terms[1::2], strict=False)]
            terms = pairs + ([terms[-1]] if len(terms) % 2 else [])
            if len(terms) > 1:
                power = self.mul(power, power)
        return terms[0]

    # Choices

    def choose(self, condition, a, b):
        return self._builder.select(condition, self._value(a), self._value(b))

    def less(self, a, b):
        return self._builder.fcmp_ordered("<", self._value(a), self._value(b), flags=_FIXED)

    def equal(self, a, b):
        return self._builder.fcmp_ordered("==", self._value(a), self._value(b), flags=_FIXED)

    def at_least(self, x, bound: float):
        """The larger one; not a number stays what it is."""
        return self.choose(self.less(x, bound), bound, x)

    def at_most(self, x, bound: float):
        return self.choose(self.less(bound, x), bound, x)

    # Bits

    def bits(self, x):
        return self._builder.bitcast(x, _BITS)

    def from_bits(self, word):
        return self._builder.bitcast(word, _DOUBLE)

    def plus_word(self, word, other):
        return self._builder.add(word, other)

    def minus_word(self, word, other):
        return self._builder.sub(word, other)

    def masked(self, word, mask: int):
        return self._builder.and_(word, self.word(mask))

    def shifted_right(self, word, places: int):
        return self._builder.lshr(word, self.word(places))

    def power_of_two(self, rounded):
        """``2.0**k`` for ``rounded`` that is ``k + ROUNDING``."""
        exponent = self._builder.shl(self.bits(rounded), self.word(_MANTISSA))
        return self.from_bits(self._builder.add(exponent, self.word(BIAS << _MANTISSA)))

    def small_integer(self, word):
        """The double that is a whole number between 0 and 2**52."""
        shift = 2.0**_MANTISSA
        return self.sub(self.from_bits(self._builder.or_(word, self.word((BIAS + _MANTISSA) << _MANTISSA))), shift)
