"""Conversions that definitions need, of what they are given and of what they give."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.runtime.array_functions.arrays import float_dtype


def as_array(x):
    """``x``, an array if it is a list."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def of_dtype(x, dtype):
    """``x``, converted if it has another dtype."""
    return x if np.result_type(x) is dtype else np.asarray(x, dtype=dtype)


def inexact(x):
    """``x``, with floats for whole numbers."""
    array = as_array(x)
    return of_dtype(array, float_dtype(array))


def as_result(value):
    """A number for an array without axes, as SciPy gives it."""
    return value[()] if np.ndim(value) == 0 else value
