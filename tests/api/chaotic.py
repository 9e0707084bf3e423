"""A function of two numbers with a branch in a loop, as the examples of the design have it."""

from __future__ import annotations

import math


def chaotic(x: float, y: float) -> float:
    z = math.exp(x) * y
    for _ in range(3):
        if z > 1:
            z = math.sin(z * x)
        else:
            z = z * z
    return z
