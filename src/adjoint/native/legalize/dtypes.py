"""The dtypes of numbers."""

from __future__ import annotations

import numpy as np

from adjoint import ir

_PYTHON = {"float": np.float64, "int": np.int64, "bool": np.bool_, "complex": np.complex128}


def dtype_of(type_: ir.Scalar) -> np.dtype:
    """The dtype of a number."""
    return np.dtype(_PYTHON[type_.kind]) if type_.dtype is None else type_.dtype
