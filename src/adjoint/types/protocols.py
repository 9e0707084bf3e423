"""What a type has to have to be differentiated with, to be a vector, to have elementary functions.

A type conforms by having the members: it need not inherit anything. A dataclass that names one of the protocols among
its bases and is decorated with :func:`adjoint.differentiable` gets the members that it does not define, field by field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from adjoint.types.registry import registration


def absent() -> NotImplementedError:
    """What a member raises that neither the class nor @differentiable defined.

    A body of its own makes the member one that classes need not define: to type checkers they have it.
    """
    return NotImplementedError("decorate the class with @ad.differentiable, or define this member")


if TYPE_CHECKING:
    from abc import ABCMeta as _OfProtocols
else:
    _OfProtocols = type(Protocol)


class _Conforming(_OfProtocols):
    """Numbers, arrays of floats and registered types conform, too, though they have no such members."""

    def __instancecheck__(cls, value: Any) -> bool:
        if cls.__module__ == __name__ and _varies(value):
            return True
        return super().__instancecheck__(value)

    def __subclasscheck__(cls, other: type) -> bool:
        if cls.__module__ == __name__ and (issubclass(other, _NUMBERS) or registration(other) is not None):
            return True
        return super().__subclasscheck__(other)


_NUMBERS = (float, complex, np.inexact)


def _varies(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, _NUMBERS) or registration(type(value)) is not None


@runtime_checkable
class Differentiable(Protocol, metaclass=_Conforming):
    """A type whose values can vary: points that move along tangent vectors.

    ``TangentVector`` is the class of these; it is its own ``TangentVector``. Where a class does not have it, it is
    synthesised from its fields. Floats, complex numbers and arrays of them conform.

    >>> import adjoint as ad, numpy as np
    >>> isinstance(1.0, ad.Differentiable), isinstance(np.ones(2), ad.Differentiable), isinstance(3, ad.Differentiable)
    (True, True, False)
    """

    def moved(self, along: Any) -> Self:
        """The value that lies in the direction of a tangent vector: the exponential map."""
        raise absent()


@runtime_checkable
class AdditiveArithmetic(Protocol):
    """A type whose values can be added and subtracted, and of which there is a zero."""

    @property
    def zero(self) -> Self:
        """The value of the same structure that changes nothing when it is added."""
        raise absent()

    def __add__(self, other: Self, /) -> Self:
        raise absent()

    def __sub__(self, other: Self, /) -> Self:
        raise absent()


@runtime_checkable
class VectorSpace(AdditiveArithmetic, Protocol):
    """A type whose values can also be multiplied by a number."""

    def __mul__(self, factor: Any, /) -> Self:
        raise absent()

    def __rmul__(self, factor: Any, /) -> Self:
        raise absent()


@runtime_checkable
class PointwiseMultiplicative(AdditiveArithmetic, Protocol):
    """A type whose values can also be multiplied and divided number by number."""

    @property
    def one(self) -> Self:
        """The value of the same structure that changes nothing when it is multiplied."""
        raise absent()

    @property
    def reciprocal(self) -> Self:
        """One over each number."""
        raise absent()

    def __mul__(self, other: Any, /) -> Self:
        raise absent()

    def __truediv__(self, other: Any, /) -> Self:
        raise absent()


@runtime_checkable
class ElementaryFunctions(Protocol):
    """A type with the elementary functions: of numbers, or number by number."""

    # fmt: off
    def sqrt(self) -> Self: raise absent()
    def cos(self) -> Self: raise absent()
    def sin(self) -> Self: raise absent()
    def tan(self) -> Self: raise absent()
    def acos(self) -> Self: raise absent()
    def asin(self) -> Self: raise absent()
    def atan(self) -> Self: raise absent()
    def cosh(self) -> Self: raise absent()
    def sinh(self) -> Self: raise absent()
    def tanh(self) -> Self: raise absent()
    def acosh(self) -> Self: raise absent()
    def asinh(self) -> Self: raise absent()
    def atanh(self) -> Self: raise absent()
    def exp(self) -> Self: raise absent()
    def exp2(self) -> Self: raise absent()
    def exp10(self) -> Self: raise absent()
    def expm1(self) -> Self: raise absent()
    def log(self) -> Self: raise absent()
    def log2(self) -> Self: raise absent()
    def log10(self) -> Self: raise absent()
    def log1p(self) -> Self: raise absent()
    def pow(self, exponent: Any) -> Self: raise absent()
    def root(self, n: int) -> Self: raise absent()
    # fmt: on


@runtime_checkable
class VectorNumeric(Protocol):
    """A vector space with a dimensionality: values can be made of one number, and of as many as are asked for."""

    @classmethod
    def from_scalar(cls, scalar: Any) -> Self:
        """The value that a number stands for."""
        raise absent()

    @classmethod
    def filled(cls, dimensionality: Any, value: Any) -> Self:
        """The value of a dimensionality that is the same number everywhere."""
        raise absent()

    def __add__(self, other: Self, /) -> Self:
        raise absent()

    def __sub__(self, other: Self, /) -> Self:
        raise absent()

    def __mul__(self, other: Any, /) -> Self:
        raise absent()


PROTOCOLS = (
    Differentiable,
    AdditiveArithmetic,
    VectorSpace,
    PointwiseMultiplicative,
    ElementaryFunctions,
    VectorNumeric,
)


def from_scalar(cls: type[Any], scalar: Any) -> Any:
    """The value of a class that a number stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from_scalar(float, 2), from_scalar(np.ndarray, 1.5)
    (2.0, array(1.5))
    """
    own = getattr(cls, "from_scalar", None)
    if own is not None:
        return own(scalar)
    return np.asarray(scalar, dtype=float) if issubclass(cls, np.ndarray) else cls(scalar)


def filled(cls: type[Any], dimensionality: Sequence[int], value: Any) -> Any:
    """The value of a class and a dimensionality that is the same number everywhere; for arrays, of a shape.

    Examples
    --------
    >>> import numpy as np
    >>> filled(np.ndarray, [2, 3], 1.5)
    array([[1.5, 1.5, 1.5],
           [1.5, 1.5, 1.5]])
    """
    own = getattr(cls, "filled", None)
    if own is not None:
        return own(dimensionality, value)
    if issubclass(cls, np.ndarray):
        return np.full(tuple(dimensionality), value)
    if len(tuple(dimensionality)):
        raise ValueError(f"{cls.__qualname__} has no dimensions, but {dimensionality!r} were asked for")
    return cls(value)
