"""Arithmetic of derivatives that never raises, so that a derivative is defined wherever its function is.

Each works for numbers and for arrays. A product (``times``) or quotient (``divide``) whose first operand, the
cotangent, is zero is zero, whatever the other: what does not matter cannot spoil a derivative. Where a zero may be one
that was merely computed, ``product`` and ``quotient`` stand instead, and ``selected`` for what was left out
(``differentiation/zeros/supports.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def divide(a: Any, b: Any) -> Any:
    """``a / b``; zero where ``a`` is zero, infinite where only ``b`` is."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            quotient = np.true_divide(a, b)
        return _cleared(quotient, a)
    if a == 0:
        return a * 0.0
    if b == 0:
        return a * math.inf if isinstance(b, complex) else a * math.copysign(math.inf, b)
    return a / b


def times(a: Any, b: Any) -> Any:
    """``a * b``; zero where ``a`` is zero, even if ``b`` is infinite or not a number."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        with np.errstate(invalid="ignore", over="ignore"):
            product = np.multiply(a, b)
        return _cleared(product, a)
    return a * 0.0 if a == 0 else a * b


def length_of(components: np.ndarray) -> float:
    """``math.hypot`` of any number of components.

    >>> length_of(np.array([3.0, 4.0]))
    5.0
    """
    return math.hypot(*components)


def quotient(a: Any, b: Any) -> Any:
    """``a / b``, which is not a number where both are zero."""
    if type(b) is float and b and type(a) is float:
        return a / b
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.true_divide(a, b)
    if b == 0:
        if a == 0:
            return a * math.nan
        return a * math.inf if isinstance(b, complex) else a * math.copysign(math.inf, b)
    return a / b


def product(a: Any, b: Any) -> Any:
    """``a * b``, which is not a number where one is zero and the other infinite."""
    if type(a) is float and type(b) is float:
        return a * b
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        with np.errstate(invalid="ignore", over="ignore"):
            return np.multiply(a, b)
    if a == 0 or b == 0:
        with np.errstate(invalid="ignore"):
            return a * b
    return a * b


def selected(support: Any, value: Any) -> Any:
    """``value`` where ``support`` is not zero, else zero, whatever the value is there."""
    if isinstance(support, np.ndarray):
        found = np.where(support, value, 0)
        return found if type(support) is np.ndarray else found.view(type(support))
    return value if support else zeros_in(value)


def zeros_in(value: Any) -> Any:
    """Zeros of the shape and the dtype of ``value``, which may hold what is not a number."""
    return np.zeros_like(value) if isinstance(value, (np.ndarray, np.generic)) else type(value)(0)


def somewhere(support: Any) -> bool:
    """Whether anything of a cotangent was not left out."""
    return bool(np.any(support))


def _cleared(values: Any, a: Any) -> Any:
    """``values`` with zeros where ``a`` is zero, looked at only if something is not a number."""
    return np.where(np.equal(a, 0), 0, values) if np.isnan(values).any() else values


def power(a: Any, b: Any) -> Any:
    """``a ** b``; infinite at poles and beyond the range, not a number outside the domain."""
    if isinstance(a, (np.ndarray, np.generic)) or isinstance(b, (np.ndarray, np.generic)):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.float_power(a, b) if _integral(a) else np.power(a, b)
    try:
        result = a**b
    except ZeroDivisionError:
        return math.inf
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    if isinstance(result, complex) and not isinstance(a, complex) and not isinstance(b, complex):
        return math.nan
    return result


def _integral(x: Any) -> bool:
    return isinstance(x, int) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "iub")


def log(x: Any) -> Any:
    """The natural logarithm; minus infinity at zero, not a number below."""
    if isinstance(x, (np.ndarray, np.generic, complex)):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(x)
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


def sqrt(x: Any) -> Any:
    """The square root; not a number below zero."""
    if isinstance(x, (np.ndarray, np.generic, complex)):
        with np.errstate(invalid="ignore"):
            return np.sqrt(x)
    return math.sqrt(x) if x >= 0 else math.nan


def sign(x: Any) -> Any:
    """-1, 0 or 1; of a complex number, the number of modulus 1 that is conjugate to its direction."""
    if isinstance(x, np.ndarray):
        return _complex_sign(x) if x.dtype.kind == "c" else np.sign(x)
    if isinstance(x, (complex, np.complexfloating)):
        return np.conj(x) / np.abs(x) if x != 0 else 0 * x
    if x == 0 or x != x:
        return x * 0
    return type(x)(1) if x > 0 else type(x)(-1)


def imaginary_part(x: float) -> float:
    """The imaginary part of a real number, with the type that Python gives it."""
    return x.imag


def is_real(x: Any) -> bool:
    """Whether a value cannot be complex. The compiler answers from types: True is certain, False is not."""
    return not np.iscomplexobj(x)


def _complex_sign(x: Any) -> Any:
    return divide(np.conj(x), np.abs(x))


def choose(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``; of arrays, a new one."""
    if isinstance(condition, np.ndarray) or isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.where(condition, a, b)
    return a if condition else b


def undefined(known: Any, varying: Any) -> Any:
    """Zero where something is defined, else not a number: there the slopes by what varies are none, of any order.

    >>> undefined(True, 1.5)
    0.0
    """
    if isinstance(known, np.ndarray) or isinstance(varying, np.ndarray):
        shape = np.broadcast_shapes(np.shape(known), np.shape(varying))
        return np.where(np.broadcast_to(known, shape), 0.0, math.nan)
    return 0.0 if known else math.nan


def unit(ct: Any, index: Any, place: int) -> Any:
    """``ct`` if ``index`` is ``place``, else zero: the cotangent of one candidate of several."""
    return ct if index == place else zeros_in(ct)


def first_equal(y: Any, *candidates: Any) -> int:
    """The place of the first candidate that is ``y``."""
    for place, candidate in enumerate(candidates):
        if candidate == y:
            return place
    return 0  # all are not a number


def exact_sum(a: Any) -> float:
    """The sum of the numbers in an array, rounded once."""
    return math.fsum(a)


def polygamma(n: int, x: Any) -> Any:
    """The derivative of order ``n + 1`` of ``log(gamma(x))``."""
    if isinstance(x, np.ndarray):
        return np.array([polygamma(n, float(part)) for part in x.flat], dtype=x.dtype).reshape(x.shape)
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < -1000.0:
        return math.nan if n else polygamma(0, 1.0 - x) - math.pi / math.tan(math.pi * x)
    total = 0.0
    sign_ = 1.0 if n % 2 else -1.0  # of psi_n for positive arguments
    scale = math.factorial(n)
    while x < 15.0:
        total += sign_ * scale / x ** (n + 1)
        x += 1.0
    return total + _polygamma_far(n, float(x))


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def _polygamma_far(n: int, x: float) -> float:
    """Stirling's series and its derivatives."""
    if n == 0:
        total = math.log(x) - 0.5 / x
        return total - sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    total = math.factorial(n - 1) / x**n + math.factorial(n) / (2 * x ** (n + 1))
    for k, b in enumerate(_BERNOULLI, 1):
        total += b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
    return total if n % 2 else -total
