"""Elementary functions of vectors: those of numbers, field by field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from adjoint.types.structure import like_leaf


def _exp10(x: Any) -> Any:
    return np.power(10.0, x)


def _root(x: Any, n: int) -> Any:
    """The real root of order ``n``, which negative numbers have where it is odd."""
    return np.sign(x) * np.abs(x) ** (1 / n) if n % 2 else x ** (1 / n)


class ElementaryFunctionsOfFields:
    """Elementary functions for a class whose ``_mapped`` and ``_paired`` apply a function to each number."""

    _mapped: Callable[[Callable[[Any], Any]], Any]
    _paired: Callable[[Callable[[Any, Any], Any], Any], Any]

    def _each(self, fn: Callable[[Any], Any]) -> Any:
        return self._mapped(lambda part: like_leaf(fn(part), part))

    def sqrt(self) -> Self:
        """The square root of each number."""
        return self._each(np.sqrt)  # type: ignore[no-any-return]

    def cos(self) -> Self:
        """The cosine of each number."""
        return self._each(np.cos)  # type: ignore[no-any-return]

    def sin(self) -> Self:
        """The sine of each number."""
        return self._each(np.sin)  # type: ignore[no-any-return]

    def tan(self) -> Self:
        """The tangent of each number."""
        return self._each(np.tan)  # type: ignore[no-any-return]

    def acos(self) -> Self:
        """The arc cosine of each number."""
        return self._each(np.arccos)  # type: ignore[no-any-return]

    def asin(self) -> Self:
        """The arc sine of each number."""
        return self._each(np.arcsin)  # type: ignore[no-any-return]

    def atan(self) -> Self:
        """The arc tangent of each number."""
        return self._each(np.arctan)  # type: ignore[no-any-return]

    def cosh(self) -> Self:
        """The hyperbolic cosine of each number."""
        return self._each(np.cosh)  # type: ignore[no-any-return]

    def sinh(self) -> Self:
        """The hyperbolic sine of each number."""
        return self._each(np.sinh)  # type: ignore[no-any-return]

    def tanh(self) -> Self:
        """The hyperbolic tangent of each number."""
        return self._each(np.tanh)  # type: ignore[no-any-return]

    def acosh(self) -> Self:
        """The inverse hyperbolic cosine of each number."""
        return self._each(np.arccosh)  # type: ignore[no-any-return]

    def asinh(self) -> Self:
        """The inverse hyperbolic sine of each number."""
        return self._each(np.arcsinh)  # type: ignore[no-any-return]

    def atanh(self) -> Self:
        """The inverse hyperbolic tangent of each number."""
        return self._each(np.arctanh)  # type: ignore[no-any-return]

    def exp(self) -> Self:
        """The exponential function of each number."""
        return self._each(np.exp)  # type: ignore[no-any-return]

    def exp2(self) -> Self:
        """2 to the power of each number."""
        return self._each(np.exp2)  # type: ignore[no-any-return]

    def exp10(self) -> Self:
        """10 to the power of each number."""
        return self._each(_exp10)  # type: ignore[no-any-return]

    def expm1(self) -> Self:
        """``exp(x) - 1`` of each number."""
        return self._each(np.expm1)  # type: ignore[no-any-return]

    def log(self) -> Self:
        """The natural logarithm of each number."""
        return self._each(np.log)  # type: ignore[no-any-return]

    def log2(self) -> Self:
        """The logarithm to base 2 of each number."""
        return self._each(np.log2)  # type: ignore[no-any-return]

    def log10(self) -> Self:
        """The logarithm to base 10 of each number."""
        return self._each(np.log10)  # type: ignore[no-any-return]

    def log1p(self) -> Self:
        """``log(1 + x)`` of each number."""
        return self._each(np.log1p)  # type: ignore[no-any-return]

    def pow(self, exponent: Any) -> Self:
        """Each number to a power: the same for all, or one for each."""
        if type(exponent) is type(self):
            return self._paired(lambda part, n: like_leaf(part**n, part), exponent)  # type: ignore[no-any-return]
        return self._each(lambda part: part**exponent)  # type: ignore[no-any-return]

    def root(self, n: int) -> Self:
        """The root of order ``n`` of each number."""
        return self._each(lambda part: _root(part, n))  # type: ignore[no-any-return]
