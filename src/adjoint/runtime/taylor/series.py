"""Series of numbers and arrays, and calls that are handed some."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint.types.classes.safe_lookups import is_hashable

Next = Callable[[int], Any]


class NotCovered(BaseException):
    """What a series was given to has no recurrence. No ``except Exception`` of the user catches it."""


class Series:
    """A number or an array as a truncated series. Coefficients are computed when they are asked for, in their order."""

    __slots__ = ("_next", "coefficients", "order")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, order: int, coefficients: list[Any], following: Next | None = None) -> None:
        self.order = order
        self.coefficients = coefficients
        self._next = following

    def at(self, place: int) -> Any:
        """One coefficient."""
        while len(self.coefficients) <= place:
            assert self._next is not None
            self.coefficients.append(self._next(len(self.coefficients)))
        return self.coefficients[place]

    def computed(self) -> Series:
        """The same with all its coefficients at hand: it depends on nothing from here on."""
        self.at(self.order)
        self._next = None
        return self

    @property
    def value(self) -> Any:
        return self.at(0)

    def __repr__(self) -> str:
        return f"<series of order {self.order}>"

    # What only looks at the value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __lt__(self, other: Any) -> Any:
        return self.value < value_of(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= value_of(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > value_of(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= value_of(other)

    def __eq__(self, other: object) -> Any:
        return self.value == value_of(other)

    def __ne__(self, other: object) -> Any:
        return self.value != value_of(other)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype", "strides", "flags", "nbytes", "itemsize"):
            return getattr(self.value, name)
        if name in ("T", "mT", "real", "imag"):
            return each(self, lambda part: getattr(part, name))
        raise NotCovered(f"the attribute {name!r}")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotCovered("this use of an array")

    def __float__(self) -> float:
        raise NotCovered("a conversion to a plain number")

    __int__ = __complex__ = __index__ = __float__

    # What is linear

    def __getitem__(self, key: Any) -> Any:
        return each(self, lambda part: part[value_of(key)])

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    def __setitem__(self, key: Any, value: Any) -> None:
        for place in range(self.order + 1):
            self.at(place)[key] = coefficient(value, place)

    def __neg__(self) -> Series:
        return each(self, operator.neg)

    def __pos__(self) -> Series:
        return each(self, operator.pos)

    # Arithmetic

    def __add__(self, other: Any) -> Any:
        return apply(operator.add, (self, other), {})

    def __radd__(self, other: Any) -> Any:
        return apply(operator.add, (other, self), {})

    def __sub__(self, other: Any) -> Any:
        return apply(operator.sub, (self, other), {})

    def __rsub__(self, other: Any) -> Any:
        return apply(operator.sub, (other, self), {})

    def __mul__(self, other: Any) -> Any:
        return apply(operator.mul, (self, other), {})

    def __rmul__(self, other: Any) -> Any:
        return apply(operator.mul, (other, self), {})

    def __truediv__(self, other: Any) -> Any:
        return apply(operator.truediv, (self, other), {})

    def __rtruediv__(self, other: Any) -> Any:
        return apply(operator.truediv, (other, self), {})

    def __pow__(self, other: Any) -> Any:
        return apply(operator.pow, (self, other), {})

    def __rpow__(self, other: Any) -> Any:
        return apply(operator.pow, (other, self), {})

    def __matmul__(self, other: Any) -> Any:
        return apply(operator.matmul, (self, other), {})

    def __rmatmul__(self, other: Any) -> Any:
        return apply(operator.matmul, (other, self), {})

    def __mod__(self, other: Any) -> Any:
        return apply(operator.mod, (self, other), {})

    def __rmod__(self, other: Any) -> Any:
        return apply(operator.mod, (other, self), {})

    def __floordiv__(self, other: Any) -> Any:
        return apply(operator.floordiv, (self, other), {})

    def __rfloordiv__(self, other: Any) -> Any:
        return apply(operator.floordiv, (other, self), {})

    def __abs__(self) -> Any:
        return apply(abs, (self,), {})

    def __iadd__(self, other: Any) -> Any:
        return self._in_place(operator.iadd, self + other)

    def __isub__(self, other: Any) -> Any:
        return self._in_place(operator.isub, self - other)

    def __imul__(self, other: Any) -> Any:
        return self._in_place(operator.imul, self * other)

    def __itruediv__(self, other: Any) -> Any:
        return self._in_place(operator.itruediv, self / other)

    def _in_place(self, callee: Any, result: Series) -> Series:
        """Arrays are changed where they lie, numbers are not."""
        if not isinstance(self.value, np.ndarray):
            return result
        if np.shape(result.value) != self.value.shape:
            raise NotCovered(f"{callee.__name__} with an operand of more axes")
        for place in range(self.order + 1):
            self.at(place)[...] = result.at(place)
        return self


def value_of(value: Any) -> Any:
    """The value without its derivatives, of whatever structure."""
    return coefficient(value, 0)


def coefficient(value: Any, place: int) -> Any:
    """A coefficient of a series; what does not vary has zeros behind its value."""
    if isinstance(value, Series):
        return value.at(place)
    if isinstance(value, (list, tuple)) and holds_series(value):
        parts = [coefficient(part, place) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value if place == 0 else zero_of(value)


def zero_of(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.zeros_like(value, dtype=value.dtype if value.dtype.kind in "fc" else float)
    if isinstance(value, (list, tuple)):
        return type(value)(map(zero_of, value))
    return 0.0 if isinstance(value, (int, float, complex, np.number, np.bool_)) else value


def holds_series(value: Any) -> bool:
    """Whether a value is a series, or a list or tuple with one in it."""
    return isinstance(value, Series) or (isinstance(value, (list, tuple)) and any(map(holds_series, value)))


def order_in(values: Sequence[Any]) -> int:
    """The order of the series among some values."""
    for value in values:
        if isinstance(value, Series):
            return value.order
        if isinstance(value, (list, tuple)) and holds_series(value):
            return order_in(value)
    raise AssertionError("no series is among the arguments")


def each(series: Series, function: Callable[[Any], Any]) -> Series:
    """A function that acts on each coefficient by itself."""
    if series._next is None:
        return Series(series.order, [function(part) for part in series.coefficients])
    return Series(series.order, [], lambda place: function(series.at(place)))


def derived(series: Any) -> Any:
    """The series of the derivative: one coefficient fewer."""
    if isinstance(series, Series):
        return Series(series.order, [], lambda place: (place + 1) * series.at(place + 1))
    return zero_of(series)


def truncated(value: Any, order: int) -> Any:
    """What is known of a value up to an order."""
    if isinstance(value, Series):
        return Series(order, [value.at(place) for place in range(order + 1)])
    if isinstance(value, (list, tuple)) and holds_series(value):
        parts = [truncated(part, order) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


# Calls

SHARED: ContextVar[dict[Any, tuple[Any, Any]] | None] = ContextVar("recurrences of one call", default=None)

Recurrence = Callable[..., Any]

RECURRENCES: dict[str, Callable[..., Recurrence | None]] = {}
"""Under ``"find"`` the function that finds what rules say: entered by the module that reads rules."""
ARITHMETIC: dict[Any, Callable[..., Any]] = {}
"""The functions whose series `power_series` states."""


def apply(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call with series among its arguments."""
    base = ARITHMETIC.get(callee) if is_hashable(callee) and not kwargs else None
    if base is not None and len(args) <= 2:
        found = base(*args)
    else:
        found = RECURRENCES["find"](callee, args, kwargs)
    if SHARED.get() is None and isinstance(found, Series):
        return found.computed()
    return found
