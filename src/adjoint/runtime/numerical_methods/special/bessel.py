"""Modified Bessel functions of the first kind, and the derivatives of ``np.sinc``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LARGEST = 1000.0
"""Beyond it they overflow."""


def modified(n: int, x: Any) -> Any:
    """The modified Bessel function of order ``n``, which is the derivative of others.

    It is `numpy.i0` times quotients of consecutive orders, which a continued fraction gives.

    >>> round(float(modified(1, 2.0)), 12)
    1.590636854637
    """
    order, size = abs(n), np.abs(x)
    product: Any = np.i0(size)
    quotient: Any = 0.0 * size
    largest = min(float(np.max(size, initial=0.0)), _LARGEST)
    for k in range(order + 20 + int(math.sqrt(40 * largest)), 0, -1):
        quotient = size / (2 * k + size * quotient)
        if k <= order:
            product = product * quotient
    return product if order % 2 == 0 else product * np.sign(x)


def sinc_slope(n: int, x: Any) -> Any:
    """The derivative of order ``n`` of ``np.sinc``, by its series near zero.

    >>> round(float(sinc_slope(2, 0.0)), 12) == round(-(math.pi**2) / 3, 12)
    True
    """
    z = np.pi * x
    found = np.sin(z) / np.where(z == 0, 1.0, z)
    for k in range(1, n + 1):
        found = (np.sin(z + k * (np.pi / 2)) - k * found) / np.where(z == 0, 1.0, z)
    near = np.where(np.abs(z) < n + 2, z, 0.0)
    series = 0.0 * near
    for j in range(n + 30, (n - 1) // 2, -1):
        power = 2 * j - n
        series = series + (-1.0) ** j * near**power / (math.gamma(power + 1.0) * (2 * j + 1))
    return np.pi**n * np.where(np.abs(z) < n + 2, series, found)
