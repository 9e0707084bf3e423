"""Derivatives of the zeta function of Hurwitz by its exponent, by the formula of Euler and Maclaurin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

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
