"""Sums, products, quotients and powers, by the recurrences of power series."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.taylor.series import (
    ARITHMETIC,
    NotCovered,
    Series,
    apply,
    coefficient,
    derived,
    each,
    order_in,
    value_of,
    zero_of,
)
from adjoint.runtime.taylor.solved import shaped, solved


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
        return Series(a.order, [], lambda place: a.value**0 * 1.0 if place == 0 else zero_of(a.value))
    half, odd = divmod(exponent, 2)
    if half == 0:
        return a
    root = _whole_power(a, half)
    square = _times(root, root)
    return _times(square, a) if odd else square


def _smooth_power(a: Series, b: Any, first: Any) -> Series:
    def following(place: int) -> Any:
        total = zero_of(a.value)
        for j in range(1, place + 1):
            total = total + (b * j - (place - j)) * a.at(j) * result.at(place - j)
        return total / (place * a.value)

    result = Series(a.order, [first], following)
    return result


def _same(a: Series) -> Series:
    return each(a, operator.pos)


def _sign(a: Series) -> Any:
    """The derivative of the modulus: constant for real numbers, and for others their conjugate over the modulus."""
    if not np.iscomplexobj(a.value):
        return numbers.sign(a.value)
    conjugate = each(a, np.conjugate)
    square = each(_times(conjugate, a), lambda part: part.real)
    if np.any(np.asarray(square.value) == 0):
        raise NotCovered("the modulus of the complex number zero")
    inverse = _smooth_power(square, -0.5, square.value**-0.5)
    return _with_value(_times(conjugate, inverse), numbers.sign(a.value))


ARITHMETIC |= {
    operator.neg: lambda a: each(a, operator.neg),
    operator.pos: _same,
    np.negative: lambda a: each(a, operator.neg),
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
