"""Functions that ask an argument for nothing but its shape and its kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime import cotangents, tangents
from adjoint.runtime.array_functions import arrays

SHAPE_ARGUMENTS = {
    arrays.unbroadcast: 1,
    cotangents.check_cotangent: 1,
    arrays.zeros_like: 0,
    arrays.spread: 1,
    arrays.shape_only: 0,
    arrays.restore_axes: 1,
    arrays.count: 0,
    np.zeros_like: 0,
    np.shape: 0,
    np.size: 0,
    np.ndim: 0,
    len: 0,
    tangents.shadow_or_zeros: 1,
}
"""Which argument it is, by function."""


def shape_argument(callee: Any) -> int | None:
    """The place of an argument of which a function only asks the shape."""
    try:
        return SHAPE_ARGUMENTS.get(callee)
    except TypeError:  # not hashable
        return None
