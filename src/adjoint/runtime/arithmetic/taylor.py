"""Truncated Taylor series: the arithmetic with which ``ad.jet`` computes.

A series has coefficients ``c[n]``, the n-th derivative along a curve divided by ``n!``. Sums, products and quotients
have the recurrences of power series; any other function gets one from its own derivative: from ``y' = f'(x) x'``
follows ``n y[n]``, the coefficient ``n - 1`` of the right-hand side, which needs coefficients of ``y`` only up to
``n - 1``. So a function that has a rule needs nothing else, and k coefficients cost O(k**2).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint.runtime.arithmetic import numbers

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
            return _each(self, lambda part: getattr(part, name))
        raise NotCovered(f"the attribute {name!r}")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotCovered("this use of an array")

    def __float__(self) -> float:
        raise NotCovered("a conversion to a plain number")

    __int__ = __complex__ = __index__ = __float__

    # What is linear

    def __getitem__(self, key: Any) -> Any:
        return _each(self, lambda part: part[value_of(key)])

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    def __setitem__(self, key: Any, value: Any) -> None:
        for place in range(self.order + 1):
            self.at(place)[key] = coefficient(value, place)

    def __neg__(self) -> Series:
        return _each(self, operator.neg)

    def __pos__(self) -> Series:
        return _each(self, operator.pos)

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
    return value if place == 0 else _zero(value)


def _zero(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.zeros_like(value, dtype=value.dtype if value.dtype.kind in "fc" else float)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_zero, value))
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


def _each(series: Series, function: Callable[[Any], Any]) -> Series:
    """A function that acts on each coefficient by itself."""
    if series._next is None:
        return Series(series.order, [function(part) for part in series.coefficients])
    return Series(series.order, [], lambda place: function(series.at(place)))


def derived(series: Any) -> Any:
    """The series of the derivative: one coefficient fewer."""
    if isinstance(series, Series):
        return Series(series.order, [], lambda place: (place + 1) * series.at(place + 1))
    return _zero(series)


def truncated(value: Any, order: int) -> Any:
    """What is known of a value up to an order."""
    if isinstance(value, Series):
        return Series(order, [value.at(place) for place in range(order + 1)])
    if isinstance(value, (list, tuple)) and holds_series(value):
        parts = [truncated(part, order) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


# Calls


class Lifted:
    """A function for whose arguments series may stand."""

    def __init__(self, callee: Any, made: bool = False) -> None:
        self.callee = callee
        self.made = made
        self.__name__ = f"{getattr(callee, '__name__', 'function')}_series"
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        varied = any(map(holds_series, args)) or (kwargs and any(map(holds_series, kwargs.values())))
        result = apply(self.callee, args, kwargs) if varied else self.callee(*args, **kwargs)
        if self.made and isinstance(result, np.ndarray) and result.dtype.kind in "fc":
            return Series(ORDER.get(), [result, *(np.zeros_like(result) for _ in range(ORDER.get()))])
        return result


class Told:
    """A function that tells somebody of its arguments: of numbers, where series stand for these."""

    def __init__(self, callee: Any) -> None:
        self.callee = callee
        self.__name__ = f"{getattr(callee, '__name__', 'function')}_told"
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        told = RECURRENCES["told"]
        return self.callee(*map(told, args), **{name: told(value) for name, value in kwargs.items()})


ORDER: ContextVar[int] = ContextVar("order of the series that are computed")
_shared: ContextVar[dict[Any, tuple[Any, Any]] | None] = ContextVar("recurrences of one call", default=None)


@contextmanager
def running(order: int) -> Iterator[None]:
    """Series of this order are computed, each at once: what is computed may be memory that is written later."""
    of_order, of_recurrences = ORDER.set(order), _shared.set(None)
    try:
        yield
    finally:
        _shared.reset(of_recurrences)
        ORDER.reset(of_order)


Recurrence = Callable[..., Any]
RECURRENCES: dict[str, Callable[..., Recurrence | None]] = {}
"""Under ``"find"`` the function that finds what rules say: entered by the module that reads rules."""


def apply(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call with series among its arguments."""
    base = _ARITHMETIC.get(callee) if _is_hashable(callee) and not kwargs else None
    if base is not None and len(args) <= 2:
        found = base(*args)
    else:
        found = RECURRENCES["find"](callee, args, kwargs)
    if _shared.get() is None and isinstance(found, Series):
        return found.computed()
    return found


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def solved(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], results: int, right: Callable[..., Any]) -> Any:
    """The series ``y`` of ``callee(*args)`` for which ``y' = right(y)``; a tuple of these where there are several.

    ``right`` is asked once there is a first coefficient. Within one call the same function of the same arguments is one
    series: so ``sin`` and ``cos`` are each other's derivatives and not a chain of new ones.
    """
    shared = _shared.get()
    if shared is None:
        token = _shared.set({})
        try:
            found = solved(callee, args, kwargs, results, right)
            for each in found if isinstance(found, tuple) else (found,):
                each.computed()
            return found
        finally:
            _shared.reset(token)
    key = id(callee), tuple(arg if _is_plain_number(arg) else id(arg) for arg in args), tuple(sorted(kwargs))
    if key not in shared:
        shared[key] = (callee, args), _solved(callee, args, kwargs, results, right)
    return shared[key][1]


def _is_plain_number(value: Any) -> bool:
    return type(value) in (int, float)


def _solved(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], results: int, right: Callable[..., Any]) -> Any:
    order = order_in((*args, *kwargs.values()))
    first = callee(*map(value_of, args), **{name: value_of(value) for name, value in kwargs.items()})
    values = first if results > 1 else (first,)
    if any(_is_view(value, arg) for value in values for arg in args):
        raise NotCovered(f"a view that {getattr(callee, '__name__', 'a function')!r} makes")
    sides: list[Any] = []
    asked = False

    def coefficient_of(which: int, place: int) -> Any:
        nonlocal asked
        if not sides:
            if asked:
                raise NotCovered(f"{getattr(callee, '__name__', 'a function')!r}, whose derivative asks for itself,")
            asked = True
            side = right(found if results > 1 else found[0])
            sides.extend(side if results > 1 else (side,))
        part = coefficient(sides[which], place - 1)
        return shaped(part / place, values[which])

    found = tuple(
        Series(order, [value], lambda place, which=which: coefficient_of(which, place))  # type: ignore[misc]
        for which, value in enumerate(values)
    )
    return found if results > 1 else found[0]


def _is_view(value: Any, arg: Any) -> bool:
    """Whether a result shares memory with an argument: what is written to the one would have to be in the other."""
    return (
        isinstance(value, np.ndarray)
        and isinstance(arg, Series)
        and isinstance(arg.value, np.ndarray)
        and np.may_share_memory(value, arg.value)
    )


def shaped(part: Any, like: Any) -> Any:
    """A coefficient in the shape and of the kind of the value."""
    if np.iscomplexobj(part) and not np.iscomplexobj(like):
        part = part.real
    if isinstance(like, np.ndarray):
        return np.array(np.broadcast_to(part, like.shape), dtype=like.dtype)
    return part


# Arithmetic of power series


def _sum(combine: Any) -> Callable[..., Any]:
    def series(a: Any, b: Any) -> Series:
        order = order_in((a, b))

        def following(place: int) -> Any:
            if place == 0:
                return combine(value_of(a), value_of(b))
            return shaped(combine(coefficient(a, place), coefficient(b, place)), result.value)

        result = Series(order, [], following)
        return result

    return series


def product_by(combine: Any) -> Callable[..., Any]:
    """The product of series by a function that is linear in each of its two arguments."""

    def series(a: Any, b: Any) -> Series:
        if not isinstance(a, Series):
            return Series(b.order, [], lambda place: combine(a, b.at(place)))
        if not isinstance(b, Series):
            return Series(a.order, [], lambda place: combine(a.at(place), b))

        def following(place: int) -> Any:
            total = combine(a.at(0), b.at(place))
            for j in range(1, place + 1):
                total = total + combine(a.at(j), b.at(place - j))
            return total

        return Series(a.order, [], following)

    return series


_times = product_by(operator.mul)


def _quotient_by(divide: Any) -> Callable[..., Any]:
    def series(a: Any, b: Any) -> Series:
        if not isinstance(b, Series):
            return Series(a.order, [], lambda place: divide(a.at(place), b))

        def following(place: int) -> Any:
            rest = coefficient(a, place)
            for j in range(1, place + 1):
                rest = rest - b.at(j) * result.at(place - j)
            return divide(rest, b.value)

        result = Series(b.order, [], following)
        return result

    return series


_quotient = _quotient_by(operator.truediv)


def _power(a: Any, b: Any) -> Any:
    """Powers: products for small whole exponents, the recurrence of ``x y' = b y x'`` where that can be solved."""
    if isinstance(b, Series) or not isinstance(b, (int, float, np.number)):
        if np.all(np.asarray(value_of(a)) > 0):
            exponent = apply(operator.mul, (b, apply(np.log, (a,), {}) if isinstance(a, Series) else np.log(a)), {})
            return _with_value(apply(np.exp, (exponent,), {}), value_of(a) ** value_of(b))
        raise NotCovered("a power of what is not positive, to an exponent that varies")
    first = a.value**b
    if float(b).is_integer() and 0 <= b <= 64:
        return _with_value(_whole_power(a, int(b)), first)
    if np.all(np.asarray(a.value) != 0):
        return _smooth_power(a, b, first)
    if float(b).is_integer():
        return _with_value(_quotient(1.0, _whole_power(a, -int(b))), first)
    return solved(operator.pow, (a, b), {}, 1, lambda y: _times(derived(a), b * _power(a, b - 1)))


def _with_value(series: Any, value: Any) -> Series:
    """A series whose value is the one that the function itself gives."""
    if not isinstance(series, Series):
        series = Series(0, [series])
    return Series(series.order, [value], lambda place: _like(series.at(place), value))


def _like(part: Any, value: Any) -> Any:
    return (
        part if isinstance(value, (np.ndarray, np.generic)) else part.item() if isinstance(part, np.generic) else part
    )


def _whole_power(a: Series, exponent: int) -> Any:
    if exponent == 0:
        return Series(a.order, [], lambda place: a.value**0 * 1.0 if place == 0 else _zero(a.value))
    half, odd = divmod(exponent, 2)
    if half == 0:
        return a
    root = _whole_power(a, half)
    square = _times(root, root)
    return _times(square, a) if odd else square


def _smooth_power(a: Series, b: Any, first: Any) -> Series:
    def following(place: int) -> Any:
        total = _zero(a.value)
        for j in range(1, place + 1):
            total = total + (b * j - (place - j)) * a.at(j) * result.at(place - j)
        return total / (place * a.value)

    result = Series(a.order, [first], following)
    return result


def _same(a: Series) -> Series:
    return _each(a, operator.pos)


def _sign(a: Series) -> Any:
    """The derivative of the modulus: constant for real numbers, and for others their conjugate over the modulus."""
    if not np.iscomplexobj(a.value):
        return numbers.sign(a.value)
    conjugate = _each(a, np.conjugate)
    square = _each(_times(conjugate, a), lambda part: part.real)
    if np.any(np.asarray(square.value) == 0):
        raise NotCovered("the modulus of the complex number zero")
    inverse = _smooth_power(square, -0.5, square.value**-0.5)
    return _with_value(_times(conjugate, inverse), numbers.sign(a.value))


_ARITHMETIC: dict[Any, Callable[..., Any]] = {
    operator.neg: lambda a: _each(a, operator.neg),
    operator.pos: _same,
    np.negative: lambda a: _each(a, operator.neg),
    np.positive: _same,
    np.square: lambda a: _times(a, a),
    operator.matmul: product_by(operator.matmul),
    **dict.fromkeys((operator.add, operator.iadd, np.add), _sum(operator.add)),
    **dict.fromkeys((operator.sub, operator.isub, np.subtract), _sum(operator.sub)),
    **dict.fromkeys((operator.mul, operator.imul, np.multiply), _times),
    **dict.fromkeys((operator.truediv, operator.itruediv, np.divide, np.true_divide), _quotient),
    numbers.sign: _sign,
    numbers.times: product_by(numbers.times),
    numbers.product: product_by(numbers.product),
    numbers.divide: _quotient_by(numbers.divide),
    numbers.quotient: _quotient_by(numbers.quotient),
    **dict.fromkeys((operator.pow, operator.ipow, np.power, np.float_power, math.pow, numbers.power), _power),
}


__all__ = [
    "ORDER",
    "RECURRENCES",
    "Lifted",
    "NotCovered",
    "Series",
    "Told",
    "apply",
    "coefficient",
    "derived",
    "holds_series",
    "order_in",
    "product_by",
    "solved",
    "value_of",
]
