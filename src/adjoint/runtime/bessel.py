"""Modified Bessel functions of the first kind."""

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
