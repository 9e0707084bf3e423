"""Functions of NumPy by others of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.native.helpers.instructions import item_size

_EPS, _SINGLE_EPS = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """``np.linalg.norm`` of the usual order."""
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def distinct(w: Any, asked: Any = None) -> Any:
    """Stands for :func:`~adjoint.runtime.array_functions.linalg.distinct`, of the values of one matrix."""
    n, largest = w.shape[0], 0.0
    for i in range(n):
        largest = max(largest, abs(w[i]))
    rounding = largest * n * (_EPS if item_size(w) == 8 else _SINGLE_EPS)
    out = np.empty((n, n), w.dtype)
    for i in range(n):
        for j in range(n):
            counts = asked is None or asked[i] or asked[j]
            out[i, j] = math.nan if counts and i != j and abs(w[j] - w[i]) <= rounding else 1.0
    return out


def std(a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """``np.std``"""
    return np.sqrt(np.var(a, axis=axis, ddof=ddof, keepdims=keepdims))


def trace(a: Any) -> float:
    """``np.trace`` of a matrix."""
    total = 0.0
    for k in range(min(a.shape)):
        total += a[k, k]
    return total


def flip(m: Any, axis: Any = None) -> Any:
    """``np.flip`` of a vector."""
    return m[::-1]


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """The differences of the elements of a vector beside each other."""
    return a[1:] - a[:-1]


def linspace(start: float, stop: float, num: int = 50) -> Any:
    """``np.linspace``"""
    out = np.empty(num)
    step = (stop - start) / max(num - 1, 1)
    for k in range(num):
        out[k] = start + step * k
    if num > 1:
        out[num - 1] = stop
    return out


def repeat(a: Any, repeats: int, axis: Any = None) -> Any:
    """``np.repeat`` of a vector."""
    out = np.empty(a.shape[0] * repeats, a.dtype)
    for k in range(a.shape[0]):
        for i in range(repeats):
            out[k * repeats + i] = a[k]
    return out
