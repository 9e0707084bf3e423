"""Whole numbers as sums: a constant, and multiples of symbols."""

from __future__ import annotations

from collections.abc import Hashable, Mapping


class Linear:
    """``constant + sum(times * symbol)``."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int, terms: Mapping[Hashable, int] | None = None) -> None:
        self.constant = constant
        self.terms = {symbol: times for symbol, times in (terms or {}).items() if times != 0}

    def plus(self, other: Linear) -> Linear:
        """The sum of two such numbers."""
        terms = {symbol: self.terms.get(symbol, 0) + other.terms.get(symbol, 0) for symbol in self.terms | other.terms}
        return Linear(self.constant + other.constant, terms)

    def times(self, factor: int) -> Linear:
        """A multiple."""
        return Linear(self.constant * factor, {symbol: times * factor for symbol, times in self.terms.items()})

    def replaced(self, symbol: Hashable, value: Linear) -> Linear:
        """The number with another one in place of a symbol."""
        rest = {other: times for other, times in self.terms.items() if other != symbol}
        return Linear(self.constant, rest).plus(value.times(self.terms[symbol]))


__all__ = ["Linear"]
