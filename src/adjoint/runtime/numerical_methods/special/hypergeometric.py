"""Derivatives of hypergeometric functions by their parameters, of any order: of the series, term by term.

The terms are polynomials in what the parameters are moved by, cut off behind the order that is asked for. The series
run where the real part of their variable is not negative: terms of real ones have one sign there, but for a few.
Transformations lead there from elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.runtime.numerical_methods.quadrature import columnwise

TERMS = 100_000
MOST_CANCELLED = 1e6
"""How much larger than their sum terms may be."""
OUTSIDE = "derivatives of hypergeometric functions by their parameters are not known so far out"
FAR = 700.0
"""Beyond this, exponentials have no place in double precision."""


def confluent_limit_slope(i: int, k: int, v: Any, z: Any) -> Any:
    """The derivative of ``scipy.special.hyp0f1``, ``i`` times by its parameter and ``k`` times by ``z``.

    >>> round(float(confluent_limit_slope(0, 1, 2.0, 0.0)), 12)
    0.5
    """
    return _columnwise(lambda v, z: _series((), (i,), k, (), (v,), z, np.abs(z) < FAR**2 / 8), v, z)


def confluent_slope(i: int, j: int, k: int, a: Any, b: Any, z: Any) -> Any:
    """The derivative of ``scipy.special.hyp1f1``, by its parameters and by ``z``, whose real part is not negative.

    >>> round(float(confluent_slope(0, 0, 0, 1.0, 1.0, 2.0)), 12) == round(math.exp(2.0), 12)
    True
    """
    return _columnwise(
        lambda a, b, z: _series((i,), (j,), k, (a,), (b,), z, (z.real >= 0.0) & (np.abs(z) < FAR)), a, b, z
    )


def gauss_slope(i: int, j: int, l: int, k: int, a: Any, b: Any, c: Any, z: Any) -> Any:
    """The derivative of ``scipy.special.hyp2f1``, by its parameters and by ``z``, in the right half of the unit circle.

    >>> round(float(gauss_slope(0, 0, 0, 0, 1.0, 1.0, 2.0, 0.5)), 12) == round(2.0 * math.log(2.0), 12)
    True
    """

    def compute(a: Any, b: Any, c: Any, z: Any) -> Any:
        return _series((i, j), (l,), k, (a, b), (c,), z, (z.real >= 0.0) & (np.abs(z) < 0.9995))

    return _columnwise(compute, a, b, c, z)


def _columnwise(compute: Callable[..., Any], *args: Any) -> Any:
    """What ``compute`` gives of arrays of one axis, in the shape and precision of the arguments, complex ones too."""
    if not any(map(np.iscomplexobj, args)):
        return columnwise(compute, *args)
    whole = np.broadcast_arrays(*args)
    found = compute(*(np.ravel(each).astype(complex) for each in whole))
    return found.reshape(whole[0].shape).astype(np.result_type(*args, np.complex64))[()]


def _series(upper: Sequence[int], lower: Sequence[int], k: int, above: Any, below: Any, z: Any, is_known: Any) -> Any:
    """The sum of the series, differentiated by parameters above and below the line, and ``k`` times by ``z``.

    Raises
    ------
    ValueError
        Where the series takes too many terms, or its terms cancel.
    """
    if not is_known.all():
        raise ValueError(OUTSIDE)
    orders, number = (*upper, *lower), len(z)
    term: Any = np.zeros((*(order + 1 for order in orders), number), z.dtype)
    term[(0,) * len(orders)] = 1.0
    total, peak = np.zeros(number, z.dtype), np.zeros(number)
    turns = max([0.0, *(float(np.max(-each.real)) for each in (*above, *below))])
    for n in range(TERMS):
        found = term[orders]
        if n >= k:
            total, peak = total + found, np.maximum(peak, np.abs(found))
            if n > turns + k and (np.abs(term).sum(axis=tuple(range(len(orders)))) <= 1e-17 * np.abs(total)).all():
                break
        for axis, parameter in enumerate(above):
            term = _multiplied(term, axis, parameter + n)
        for axis, parameter in enumerate(below, len(above)):
            term = _divided(term, axis, parameter + n)
        if n >= k:
            term = term * (z / (n - k + 1))
    if (peak > MOST_CANCELLED * np.maximum(np.abs(total), 1.0)).any():
        raise ValueError(OUTSIDE)
    return total * math.prod(map(math.factorial, orders))


def _multiplied(term: Any, axis: int, factor: Any) -> Any:
    """The polynomial times ``factor`` and the variable of an axis."""
    moved = np.moveaxis(term, axis, 0)
    found = moved * factor
    found[1:] += moved[:-1]
    return np.moveaxis(found, 0, axis)


def _divided(term: Any, axis: int, divisor: Any) -> Any:
    """The polynomial divided by the sum of ``divisor`` and the variable of an axis."""
    found = np.moveaxis(term, axis, 0) / divisor
    for power in range(1, len(found)):
        found[power] -= found[power - 1] / divisor
    return np.moveaxis(found, 0, axis)
