"""What Python's arithmetic refuses, as checks for code whose arithmetic refuses nothing."""

from __future__ import annotations

import math
from typing import Any

OUTSIDE_SAID = "math domain error"
GROWN_SAID = "math range error"
NEVER = 2**63 - 1
"""Stands for the place of the first check that failed, where none did."""


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
        raise ValueError(OUTSIDE_SAID)


def check_range(x: Any, y: Any) -> None:
    """Raises what a function of the module ``math`` would raise whose result ``y`` at ``x`` is too large.

    >>> check_range(1000.0, math.inf)
    Traceback (most recent call last):
    OverflowError: math range error
    """
    if math.isinf(y) and math.isfinite(x):
        raise OverflowError(GROWN_SAID)


def note_divisor(found: int, place: int, divisor: Any) -> int:
    """Which check of an iteration failed first: the one at ``place`` if it is of a divisor that is zero."""
    return min(found, place) if divisor == 0 else found


def note_domain(found: int, place: int, name: str, x: Any) -> int:
    """Which check of an iteration failed first: the one at ``place`` if ``math.<name>(x)`` has no value."""
    return min(found, place) if is_outside(name, x) else found


def note_range(found: int, place: int, x: Any, y: Any) -> int:
    """Which check of an iteration failed first: the one at ``place`` if the result ``y`` at ``x`` is too large."""
    return min(found, place) if math.isinf(y) and math.isfinite(x) else found


def earlier(first: int, index: int, found: int, count: int) -> int:
    """The place of the first check that failed in a loop: ``found`` of ``count`` in an iteration, or an earlier one.

    >>> earlier(NEVER, 5, 1, 2), earlier(NEVER, 5, 2, 2), earlier(3, 5, 1, 2)
    (11, 9223372036854775807, 3)
    """
    return min(first, index * count + found) if found < count else first


def refuse(first: int, count: int, places: int, error: str, message: str) -> None:
    """Raises an exception if the first check that failed is one of ``places``, bits for each of ``count`` checks.

    >>> refuse(11, 2, 0b10, "ValueError", "math domain error")
    Traceback (most recent call last):
    ValueError: math domain error
    """
    if first != NEVER and places >> first % count & 1:
        raise ERRORS[error](message)


ERRORS = {kind.__name__: kind for kind in (ZeroDivisionError, ValueError, OverflowError)}


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
