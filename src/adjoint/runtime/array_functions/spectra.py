"""What derivatives of Fourier transforms are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.array_functions.arrays import fitted


def refitted(x: Any, like: Any, axes: Any) -> Any:
    """:func:`fitted`, for a transform over several axes that was told their lengths."""
    if len({axis % np.ndim(like) for axis in axes}) < len(axes):
        raise NotImplementedError("the derivative of a Fourier transform of given lengths that names an axis twice")
    return fitted(x, like)


def times_pairs(x: Any, factor: float, n: int, axis: int) -> Any:
    """Multiplies those Fourier coefficients of a real signal of length ``n`` that stand for two."""
    out = np.array(x)
    np.moveaxis(out, axis, 0)[1 : (n + 1) // 2] *= factor
    return out
