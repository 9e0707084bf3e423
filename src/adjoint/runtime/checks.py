"""What Python's arithmetic refuses, as checks for code whose arithmetic refuses nothing."""

from __future__ import annotations

import math
from typing import Any


def check_divisor(divisor: Any, message: str) -> None:
    """Raises what a division by zero would raise.

    >>> check_divisor(0.0, "float division by zero")
    Traceback (most recent call last):
    ZeroDivisionError: float division by zero
    """
    if divisor == 0:
        raise ZeroDivisionError(message)


def check_domain(name: str, x: Any) -> None:
    """Raises what ``math.<name>(x)`` would raise outside of its domain.

    >>> check_domain("log", 0.0)
    Traceback (most recent call last):
    ValueError: math domain error
    """
    if is_outside(name, x):
        raise ValueError("math domain error")


def check_range(x: Any, y: Any) -> None:
    """Raises what a function of the module ``math`` would raise whose result ``y`` at ``x`` is too large.

    >>> check_range(1000.0, math.inf)
    Traceback (most recent call last):
    OverflowError: math range error
    """
    if math.isinf(y) and math.isfinite(x):
        raise OverflowError("math range error")


def is_outside(name: str, x: Any) -> bool:
    """Whether a number is outside of the domain of a function of the module ``math``."""
    return bool(OUTSIDE[name](x))


OUTSIDE: dict[str, Any] = {
    "sqrt": lambda x: x < 0,
    "log": lambda x: x <= 0,
    "log2": lambda x: x <= 0,
    "log10": lambda x: x <= 0,
    "log1p": lambda x: x <= -1,
    "asin": lambda x: x < -1 or x > 1,
    "acos": lambda x: x < -1 or x > 1,
    "acosh": lambda x: x < 1,
    "atanh": lambda x: x <= -1 or x >= 1,
    "sin": math.isinf,
    "cos": math.isinf,
    "tan": math.isinf,
}
"""Where functions of the module ``math`` have no value."""

GROWING = ("exp", "expm1", "sinh", "cosh")
"""Functions of the module ``math`` whose values can be too large."""
