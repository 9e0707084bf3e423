"""Mathematical functions for loops whose iterations do not wait for each other.

Here they are those of NumPy, without its warnings; machine code has forms of them that work on several numbers
at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def vector_exp(x: Any) -> Any:
    """The exponential function."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(x)


def vector_log(x: Any) -> Any:
    """The natural logarithm: minus infinity at zero, not a number below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(x)


def vector_tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


def vector_sin(x: Any) -> Any:
    """The sine: not a number at infinity."""
    with np.errstate(invalid="ignore"):
        return np.sin(x)


def vector_cos(x: Any) -> Any:
    """The cosine: not a number at infinity."""
    with np.errstate(invalid="ignore"):
        return np.cos(x)


def vector_power(x: Any, y: Any) -> Any:
    """``x`` to the power of ``y``, as the C library has it: not a number where it is not real."""
    with np.errstate(all="ignore"):
        return np.float_power(x, y)


def vector_power_to_infinity(x: Any, y: Any) -> Any:
    """``x`` to the power of ``y``; infinite at its poles, also where one could say minus infinite."""
    return np.where((x == 0) & (y < 0), np.inf, vector_power(x, y))[()]
