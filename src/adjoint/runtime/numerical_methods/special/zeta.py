"""Derivatives of the zeta function of Hurwitz by its exponent, by the formula of Euler and Maclaurin.

Polygamma functions of complex numbers are zeta functions, too: SciPy has those of real numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from adjoint.runtime.array_functions.arrays import match
from adjoint.runtime.numerical_methods.quadrature import columnwise

TERMS = 24
"""How many terms are added one by one: by then what remains is a series that has become small."""
CORRECTIONS = 12


def zeta_slope(n: int, x: Any, q: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.zeta(x, q)`` by ``x``, for positive ``x`` and ``q``.

    >>> round(float(zeta_slope(1, 2.0, 1.0)), 12)
    -0.937548254316
    """

    def compute(x: Any, q: Any) -> Any:
        start = q + TERMS
        terms = q + np.arange(TERMS)[:, None]
        total = np.sum(np.log(terms) ** n * terms**-x, axis=0)
        total = total + start ** (1 - x) * sum(
            _of_integral(n, i) * np.log(start) ** i / (x - 1) ** (n - i + 1) for i in range(n + 1)
        )
        total = total + 0.5 * np.log(start) ** n * start**-x
        return np.where((x > 0) & (x != 1) & (q > 0), (-1.0) ** n * (total + _corrections(n, x, start)), np.nan)

    return columnwise(compute, x, q)


def _of_integral(n: int, i: int) -> float:
    return math.factorial(n) / math.factorial(i)


def _corrections(n: int, x: Any, start: Any) -> Any:
    """From derivatives of ``log(t)**n * t**-x``: a power times a polynomial of the logarithm, by its coefficients."""
    bernoulli = special.bernoulli(2 * CORRECTIONS)
    polynomial: list[Any] = [0.0 * x] * n + [1.0 + 0.0 * x]
    total: Any = 0.0
    for order in range(1, 2 * CORRECTIONS):
        moved = [(i + 1) * polynomial[i + 1] if i < n else 0.0 for i in range(n + 1)]
        polynomial = [up - (x + order - 1) * same for up, same in zip(moved, polynomial, strict=True)]
        if order % 2:
            value = sum(polynomial[i] * np.log(start) ** i for i in range(n + 1)) * start ** (-x - order)
            total = total - bernoulli[order + 1] / math.factorial(order + 1) * value
    return total


def polygamma(n: int, x: Any) -> Any:
    """``scipy.special.polygamma(n, x)`` for a positive ``n``, of complex numbers, too, in their precision.

    Where the real part is negative by reflection, else by the series for large numbers, behind steps of 1 to these.

    >>> complex(round(polygamma(1, 1.0 + 0j).real, 12))  # by theory the sixth of pi squared
    (1.644934066848+0j)
    """
    if not np.iscomplexobj(x):
        return match(special.polygamma(n, x), x)
    z = np.asarray(x, dtype=complex)
    with np.errstate(all="ignore"):
        is_left = z.real < 0.5
        found = _polygamma_to_the_right(n, np.where(is_left, 1.0 - z, z))
        found = np.where(is_left, (-1) ** n * (found - _slope_of_cotangent(n, 1.0 - z)), found)
    return match(found[()], x)


def _polygamma_to_the_right(n: int, z: Any) -> Any:
    """The same where the real part is positive."""
    total: Any = 0.0
    for k in range(TERMS):
        total = total + math.factorial(n) / (z + k) ** (n + 1)
    far = z + TERMS
    total = total + math.factorial(n - 1) / far**n + math.factorial(n) / (2 * far ** (n + 1))
    bernoulli = special.bernoulli(2 * CORRECTIONS)
    for order in range(2, 2 * CORRECTIONS + 1, 2):
        factor = bernoulli[order] * math.factorial(order + n - 1) / math.factorial(order)
        total = total + factor / far ** (order + n)
    return (-1) ** (n + 1) * total


def _slope_of_cotangent(n: int, z: Any) -> Any:
    """What reflection adds: a derivative of ``-pi * cot(pi * z)``, as a polynomial of the cotangent."""
    polynomial = np.polynomial.Polynomial([np.pi**2])
    for _ in range(n - 1):
        risen = np.polynomial.Polynomial([1.0, 0.0, 1.0]) * polynomial.deriv()
        polynomial = -np.pi * (risen + np.polynomial.Polynomial([0.0, 2.0]) * polynomial)
    return polynomial(1.0 / np.tan(np.pi * z)) / np.sin(np.pi * z) ** 2
