"""Functions that ask an argument for nothing but its shape and its kind.

The extents of an array have one form in the IR: calls of ``np.shape``, ``np.size`` and ``np.ndim``. They are printed as
``x.shape`` where ``x`` is known to be an array. What else is asked of one (``x.dtype``) is a load of an attribute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_array, reads_metadata
from adjoint.runtime import cotangents, tangents
from adjoint.runtime.array_functions import arrays

SHAPE_ARGUMENTS = {
    arrays.unbroadcast: 1,
    cotangents.check_cotangent: 1,
    arrays.zeros_like: 0,
    arrays.zeros_in_memory: 0,
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


_EXTENTS = (np.shape, np.size, np.ndim, len)


def asks_about_array(node: object) -> bool:
    """Whether a statement asks an array for its extents or its kind, and neither reads nor hands on its elements."""
    match node:
        case ir.Call(callee=callee, args=(array,), kwargs=()):
            return callee in _EXTENTS and is_array(array)
        case ir.Load():
            return reads_metadata(node) and is_array(node.base)
        case _:
            return False


def shape_argument(callee: Any) -> int | None:
    """The place of an argument of which a function only asks the shape."""
    try:
        return SHAPE_ARGUMENTS.get(callee)
    except TypeError:  # not hashable
        return None
