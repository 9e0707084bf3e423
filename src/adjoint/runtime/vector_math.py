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
