"""The distribution of Student by its degrees of freedom.

Derivatives of the density integrate to zero over either half of the line, so that the integral to the end is taken
where it is the smaller one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from adjoint.runtime.numerical_methods.quadrature import columnwise, integral
from adjoint.runtime.numerical_methods.special.incomplete import FALL, completed_derivative


def stdtr_slope(n: int, df: Any, t: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.stdtr`` by the degrees of freedom.

    >>> round(float(stdtr_slope(1, 1.0, 1.0)), 9)
    0.06620298
    """
    return columnwise(lambda df, t: np.where(df > 0, _integral(n, df, t), np.nan), df, t)


def student_slope(n: int, df: Any, t: Any) -> Any:
    """The derivative of order ``n`` of the density by the degrees of freedom.

    >>> round(float(student_slope(0, 1.0, 1.0) * 2 * np.pi), 12)
    1.0
    """
    return columnwise(lambda df, t: np.where(df > 0, _density(n, df, t), np.nan), df, t)


def _density(n: int, df: Any, t: Any) -> Any:
    square = t * t
    logarithm = -0.5 * (df + 1) * np.log1p(square / df) - special.betaln(0.5, 0.5 * df) - 0.5 * np.log(df)
    return np.exp(logarithm) * completed_derivative([_cumulant(k, df, square) for k in range(1, n + 1)])


def _cumulant(k: int, df: Any, square: Any) -> Any:
    """The derivative of order ``k`` of the logarithm of the density."""
    shapes = 0.5**k * (special.polygamma(k - 1, 0.5 * df + 0.5) - special.polygamma(k - 1, 0.5 * df))
    sign = (-1.0) ** (k - 1) * math.factorial(k - 1)
    growth = sign * (df**-k - (df + square) ** -k)
    lower = -np.log1p(square / df) if k == 1 else -sign / (k - 1) * (df ** (1 - k) - (df + square) ** (1 - k))
    return shapes - 0.5 * sign * df**-k + 0.5 * (df + 1) * growth + 0.5 * k * lower


def _integral(n: int, df: Any, t: Any) -> Any:
    """With ``t`` as a hyperbolic sine."""
    root, size = np.sqrt(df), np.abs(t)

    def integrand(u: Any) -> Any:
        return _density(n, df, root * np.sinh(u)) * root * np.cosh(u)

    place = np.arcsinh(size / root)
    end = _arccosh_of_exp(np.logaddexp(place, -place) - math.log(2.0) + 2 * FALL / df)
    tail = size > 1
    low, high = np.where(tail, place, 0.0), np.where(tail, np.minimum(end, LARGEST), place)
    width = high - low
    found = integral(integrand, low, high, 2 + int(np.max(np.where(np.isfinite(width), width, 0.0)) / 8))
    return np.sign(t) * np.where(tail, -found, found)


LARGEST = 300.0
"""Beyond it the square of a hyperbolic sine overflows."""


def _arccosh_of_exp(x: Any) -> Any:
    return np.where(x > 30, x + math.log(2.0), np.arccosh(np.exp(np.minimum(x, 30.0))))
