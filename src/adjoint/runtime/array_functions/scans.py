"""Recurrences along an axis, and the other parts of derivatives of cumulative functions.

They are closed under differentiation: the derivative of each is made of the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def previous(x: Any, axis: int, first: float) -> Any:
    """Every element replaced by the one before it along ``axis``, the first by ``first``."""
    rows = np.moveaxis(x, axis, 0)
    out = np.empty_like(rows)
    out[1:] = rows[:-1]
    out[:1] = first
    return np.moveaxis(out, 0, axis)


def following(x: Any, axis: int, last: float) -> Any:
    """Every element replaced by the one after it along ``axis``, the last by ``last``."""
    rows = np.moveaxis(x, axis, 0)
    out = np.empty_like(rows)
    out[:-1] = rows[1:]
    out[-1:] = last
    return np.moveaxis(out, 0, axis)


def recur(c: Any, x: Any, axis: int) -> Any:
    """``s[i] = c[i] + x[i] * s[i - 1]`` along ``axis``."""
    c_rows, x_rows = np.moveaxis(c, axis, 0), np.moveaxis(x, axis, 0)
    out = np.empty_like(c_rows)
    for i in range(len(out)):
        out[i] = c_rows[i] + (x_rows[i] * out[i - 1] if i else 0)
    return np.moveaxis(out, 0, axis)


def recur_back(c: Any, x: Any, axis: int) -> Any:
    """``s[i] = c[i] + x[i + 1] * s[i + 1]`` along ``axis``."""
    c_rows, x_rows = np.moveaxis(c, axis, 0), np.moveaxis(x, axis, 0)
    out = np.empty_like(c_rows)
    for i in reversed(range(len(out))):
        out[i] = c_rows[i] + (x_rows[i + 1] * out[i + 1] if i + 1 < len(out) else 0)
    return np.moveaxis(out, 0, axis)
