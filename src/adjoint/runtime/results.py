"""What leaves a derivative: fresh memory that nobody else holds."""

from __future__ import annotations

from typing import Any

import numpy as np


def owned(x: Any) -> Any:
    """A copy of ``x`` that shares no memory with anything.

    >>> a = np.ones(2)
    >>> np.shares_memory(a, owned(a))
    False
    """
    return np.array(x) if isinstance(x, np.ndarray) else x


def of_dtype(x: Any, dtype: Any) -> Any:
    """An array in a dtype; the array itself where it is of it.

    >>> of_dtype(np.ones(1), np.float32)
    array([1.], dtype=float32)
    """
    return x.astype(dtype, copy=False)


def copy_laid_out_like(x: Any, like: Any) -> Any:
    """A copy of ``x``, its elements in the order in which those of ``like`` lie, which has the same shape.

    >>> copy_laid_out_like(np.ones((2, 3)), np.ones((3, 2)).T).flags.f_contiguous
    True
    """
    out = np.empty_like(like, x.dtype, subok=False)
    out[...] = x
    return out
