"""Arithmetic on doubles that means what it says, and what is made of it: mathematical functions are written in it.

The functions rest on the order of their operations, so that no instruction may be reordered, whatever a function around
them allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class Code(ABC):
    """Writes one function, without branches, so that loops around it become vector code; of so many numbers at once.

    Doubles, words of 64 bits and conditions are values of who writes; a double may also be given as a float.
    """

    @abstractmethod
    def number(self, value: float) -> Any:
        """A double that is known."""

    @abstractmethod
    def word(self, value: int) -> Any:
        """A word that is known."""

    # Doubles

    @abstractmethod
    def add(self, a: Any, b: Any) -> Any: ...

    @abstractmethod
    def sub(self, a: Any, b: Any) -> Any: ...

    @abstractmethod
    def mul(self, a: Any, b: Any) -> Any: ...

    @abstractmethod
    def div(self, a: Any, b: Any) -> Any: ...

    @abstractmethod
    def negated(self, x: Any) -> Any: ...

    @abstractmethod
    def intrinsic(self, name: str, *args: Any) -> Any:
        """What LLVM's intrinsic function of this name gives for doubles."""

    def mul_add(self, a: Any, b: Any, c: Any) -> Any:
        """``a * b + c``, rounded once where the processor can."""
        return self.intrinsic("fmuladd", a, b, c)

    def magnitude(self, x: Any) -> Any:
        return self.intrinsic("fabs", x)

    def with_sign_of(self, size: Any, sign: Any) -> Any:
        return self.intrinsic("copysign", size, sign)

    def polynomial(self, x: Any, coefficients: Sequence[float]) -> Any:
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

    def two_sum(self, a: Any, b: Any) -> tuple[Any, Any]:
        """``a + b`` in two parts."""
        total = self.add(a, b)
        of_b = self.sub(total, a)
        return total, self.add(self.sub(a, self.sub(total, of_b)), self.sub(b, of_b))

    def ordered_two_sum(self, large: Any, small: Any) -> tuple[Any, Any]:
        """Their sum in two parts; the larger one comes first, or is zero."""
        total = self.add(large, small)
        return total, self.sub(small, self.sub(total, large))

    def two_product(self, a: Any, b: Any) -> tuple[Any, Any]:
        """``a * b`` in two parts."""
        product = self.mul(a, b)
        return product, self.intrinsic("fma", a, b, self.negated(product))

    # Choices

    @abstractmethod
    def choose(self, condition: Any, a: Any, b: Any) -> Any: ...

    @abstractmethod
    def less(self, a: Any, b: Any) -> Any: ...

    @abstractmethod
    def equal(self, a: Any, b: Any) -> Any: ...

    @abstractmethod
    def both(self, condition: Any, other: Any) -> Any: ...

    @abstractmethod
    def either(self, condition: Any, other: Any) -> Any: ...

    @abstractmethod
    def unless(self, condition: Any, other: Any) -> Any:
        """Whether ``other`` holds and ``condition`` does not."""

    @abstractmethod
    def has_bits(self, word: Any, mask: int) -> Any:
        """Whether any of the bits of ``mask`` is set."""

    def at_least(self, x: Any, bound: float) -> Any:
        """The larger one; not a number stays what it is."""
        return self.choose(self.less(x, bound), bound, x)

    def at_most(self, x: Any, bound: float) -> Any:
        return self.choose(self.less(bound, x), bound, x)

    # Bits

    @abstractmethod
    def bits(self, x: Any) -> Any: ...

    @abstractmethod
    def from_bits(self, word: Any) -> Any: ...

    @abstractmethod
    def plus_word(self, word: Any, other: Any) -> Any: ...

    @abstractmethod
    def minus_word(self, word: Any, other: Any) -> Any: ...

    @abstractmethod
    def masked(self, word: Any, mask: int) -> Any: ...

    @abstractmethod
    def with_bits(self, word: Any, mask: int) -> Any:
        """A word of which the bits of ``mask`` are set, too."""

    @abstractmethod
    def differing(self, word: Any, other: Any) -> Any:
        """The bits that are set in one of them only."""

    @abstractmethod
    def shifted_left(self, word: Any, places: int) -> Any: ...

    @abstractmethod
    def shifted_right(self, word: Any, places: int) -> Any: ...

    def power_of_two(self, rounded: Any) -> Any:
        """``2.0**k`` for ``rounded`` that is ``k + ROUNDING``."""
        exponent = self.shifted_left(self.bits(rounded), MANTISSA)
        return self.from_bits(self.plus_word(exponent, self.word(BIAS << MANTISSA)))

    def small_integer(self, word: Any) -> Any:
        """The double that is a whole number between 0 and 2**52."""
        return self.sub(self.from_bits(self.with_bits(word, (BIAS + MANTISSA) << MANTISSA)), 2.0**MANTISSA)

    # Rare arguments

    @abstractmethod
    def where_large(self, name: str, bound: float, x: Any, found: Any) -> Any:
        """``found``; where ``x`` is larger than ``bound`` what the C library's function of that name gives."""


# What doubles are made of: an exponent, a mantissa and a sign


MANTISSA = 52
BIAS = 1023
ROUNDING = 1.5 * 2.0**MANTISSA
"""A double so large that what is added to it is rounded to a whole number, found in its lowest bits."""

SIGN = 1 << 63
