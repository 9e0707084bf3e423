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
