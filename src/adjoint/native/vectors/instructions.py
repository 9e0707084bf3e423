"""Arithmetic on doubles as LLVM instructions that mean what they say, whatever a function around them allows.

A compiler that is told to reorder arithmetic puts its flags on every instruction that has none; one that changes
nothing keeps the others away.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils

from adjoint.native.vectors.code import Code
from adjoint.native.vectors.rare_arguments import where_large

_FIXED = ("afn",)  # lets functions be approximated: of no consequence for these instructions


class InstructionCode(Code):
    """Arithmetic on doubles as instructions of llvmlite's, in functions that Numba compiles."""

    def __init__(self, builder, size: int = 1) -> None:
        self.builder = builder
        self.size = size
        self.doubles, self.words = (
            kind if size == 1 else llvm.VectorType(kind, size) for kind in (llvm.DoubleType(), llvm.IntType(64))
        )

    def number(self, value: float):
        return llvm.Constant(self.doubles, value if self.size == 1 else [value] * self.size)

    def word(self, value: int):
        bits = value & (2**64 - 1)
        return llvm.Constant(self.words, bits if self.size == 1 else [bits] * self.size)

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

    def negated(self, x):
        return self.builder.fneg(self._value(x), flags=_FIXED)

    def intrinsic(self, name: str, *args):
        kind = llvm.FunctionType(self.doubles, [self.doubles] * len(args))
        full_name = f"llvm.{name}" + (".f64" if self.size == 1 else f".v{self.size}f64")
        callee = cgutils.get_or_insert_function(self.builder.module, kind, full_name)
        return self.builder.call(callee, [self._value(arg) for arg in args])

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
        return self.builder.and_(self.builder.not_(condition), other)

    def has_bits(self, word, mask: int):
        return self.builder.icmp_unsigned("!=", self.masked(word, mask), self.word(0))

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

    def with_bits(self, word, mask: int):
        return self.builder.or_(word, self.word(mask))

    def differing(self, word, other):
        return self.builder.xor(word, other)

    def shifted_left(self, word, places: int):
        return self.builder.shl(word, self.word(places))

    def shifted_right(self, word, places: int):
        return self.builder.lshr(word, self.word(places))

    # Rare arguments

    def where_large(self, name: str, bound: float, x, found):
        return where_large(self, name, bound, x, found)
