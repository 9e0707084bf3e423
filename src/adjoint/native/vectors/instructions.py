"""Arithmetic on doubles as LLVM instructions that mean what they say, whatever a function around them allows.

The mathematical functions rest on the order of their operations. A compiler that is told to reorder arithmetic puts
its flags on every instruction that has none; one that changes nothing keeps the others away.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

from adjoint.native.vectors.doubles import BIAS, MANTISSA
from adjoint.native.vectors.rare_arguments import where_large

_FIXED = ("afn",)  # lets functions be approximated: of no consequence for these instructions


class Code:
    """Writes one function, without branches, so that loops around it become vector code; of so many numbers at once."""

    def __init__(self, builder, size: int = 1) -> None:
        self.builder = builder
        self.size = size
        self.doubles, self.words = (
            kind if size == 1 else ir.VectorType(kind, size) for kind in (ir.DoubleType(), ir.IntType(64))
        )

    def number(self, value: float):
        return ir.Constant(self.doubles, value if self.size == 1 else [value] * self.size)

    def word(self, value: int):
        bits = value & (2**64 - 1)
        return ir.Constant(self.words, bits if self.size == 1 else [bits] * self.size)

    def _value(self, x):
        return self.number(x) if isinstance(x, float) else x

    # Doubles

    def add(self, a, b):
        return self.builder.fadd(self._value(a), self._value(b), flags=_FIXED)

    def sub(self, a, b):
        return self.builder.fsub(self._value(a), self._value(b), flags=_FIXED)

    def mul(self, a, b):
        return self.builder.fmul(self._value(a), self._value(b), flags=_FIXED)

    def div(self, a, b):
        return self.builder.fdiv(self._value(a), self._value(b), flags=_FIXED)

    def mul_add(self, a, b, c):
        """``a * b + c``, rounded once where the processor can."""
        return self._intrinsic("llvm.fmuladd", a, b, c)

    def square_root(self, x):
        return self._intrinsic("llvm.sqrt", x)

    def negated(self, x):
        return self.builder.fneg(self._value(x), flags=_FIXED)

    def magnitude(self, x):
        return self._intrinsic("llvm.fabs", x)

    def with_sign_of(self, magnitude, sign):
        return self._intrinsic("llvm.copysign", magnitude, sign)

    def _intrinsic(self, name: str, *args):
        kind = ir.FunctionType(self.doubles, [self.doubles] * len(args))
        full_name = name + (".f64" if self.size == 1 else f".v{self.size}f64")
        callee = cgutils.get_or_insert_function(self.builder.module, kind, full_name)
        return self.builder.call(callee, [self._value(arg) for arg in args])

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

    # Numbers as sums of two doubles: what is rounded, and what that leaves

    def two_sum(self, a, b):
        """``a + b`` in two parts."""
        total = self.add(a, b)
        of_b = self.sub(total, a)
        return total, self.add(self.sub(a, self.sub(total, of_b)), self.sub(b, of_b))

    def ordered_two_sum(self, large, small):
        """Their sum in two parts; the larger one comes first, or is zero."""
        total = self.add(large, small)
        return total, self.sub(small, self.sub(total, large))

    def two_product(self, a, b):
        """``a * b`` in two parts."""
        product = self.mul(a, b)
        return product, self._intrinsic("llvm.fma", a, b, self.negated(product))

    # Choices

    def choose(self, condition, a, b):
        return self.builder.select(condition, self._value(a), self._value(b))

    def less(self, a, b):
        return self.builder.fcmp_ordered("<", self._value(a), self._value(b), flags=_FIXED)

    def equal(self, a, b):
        return self.builder.fcmp_ordered("==", self._value(a), self._value(b), flags=_FIXED)

    def both(self, condition, other):
        return self.builder.and_(condition, other)

    def either(self, condition, other):
        return self.builder.or_(condition, other)

    def unless(self, condition, other):
        """Whether ``other`` holds and ``condition`` does not."""
        return self.builder.and_(self.builder.not_(condition), other)

    def has_bits(self, word, mask: int):
        """Whether any of the bits of ``mask`` is set."""
        return self.builder.icmp_unsigned("!=", self.masked(word, mask), self.word(0))

    def at_least(self, x, bound: float):
        """The larger one; not a number stays what it is."""
        return self.choose(self.less(x, bound), bound, x)

    def at_most(self, x, bound: float):
        return self.choose(self.less(bound, x), bound, x)

    # Bits

    def bits(self, x):
        return self.builder.bitcast(x, self.words)

    def from_bits(self, word):
        return self.builder.bitcast(word, self.doubles)

    def plus_word(self, word, other):
        return self.builder.add(word, other)

    def minus_word(self, word, other):
        return self.builder.sub(word, other)

    def masked(self, word, mask: int):
        return self.builder.and_(word, self.word(mask))

    def differing(self, word, other):
        """The bits that are set in one of them only."""
        return self.builder.xor(word, other)

    def shifted_left(self, word, places: int):
        return self.builder.shl(word, self.word(places))

    def shifted_right(self, word, places: int):
        return self.builder.lshr(word, self.word(places))

    def power_of_two(self, rounded):
        """``2.0**k`` for ``rounded`` that is ``k + ROUNDING``."""
        exponent = self.shifted_left(self.bits(rounded), MANTISSA)
        return self.from_bits(self.builder.add(exponent, self.word(BIAS << MANTISSA)))

    def small_integer(self, word):
        """The double that is a whole number between 0 and 2**52."""
        shift = 2.0**MANTISSA
        return self.sub(self.from_bits(self.builder.or_(word, self.word((BIAS + MANTISSA) << MANTISSA))), shift)

    # Rare arguments

    def where_large(self, name: str, bound: float, x, found):
        """``found``; where ``x`` is larger than ``bound`` what the C library's function of that name gives."""
        return where_large(self, name, bound, x, found)
