"""The zero that needs no structure: nothing flows here."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

T = TypeVar("T")


class SymbolicZero:
    """The class of ``ZERO``, the tangent of anything that does not move."""

    __slots__ = ()
    __array_ufunc__: ClassVar[None] = None  # an array plus ZERO asks ZERO

    def __add__(self, other: T) -> T:
        return other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if other is self else -other

    def __rsub__(self, other: T) -> T:
        return other

    def __neg__(self) -> SymbolicZero:
        return self

    def __mul__(self, factor: Any) -> SymbolicZero:
        return self

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> SymbolicZero:
        return self

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ZERO"

    def __reduce__(self) -> str:
        return "ZERO"


ZERO = SymbolicZero()


def without_symbol(tangent: Any) -> Any:
    """A tangent with None, which stands for zero as a part of any structure, in place of ``ZERO``."""
    return None if tangent is ZERO else tangent
