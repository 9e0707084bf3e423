"""Functions of NumPy by others of them."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from adjoint.native.helpers.instructions import item_size
from adjoint.native.helpers.order import comes_before

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


def outer(a: Any, b: Any) -> Any:
    """``np.outer`` of vectors."""
    out = np.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = a[i] * b[j]
    return out


def kron(a: Any, b: Any) -> Any:
    """``np.kron`` of vectors."""
    out = np.empty(a.shape[0] * b.shape[0])
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i * b.shape[0] + j] = a[i] * b[j]
    return out


def _knows_planes() -> bool:
    """Whether NumPy multiplies vectors of two elements, too: not from 2.5 on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            np.cross([1.0, 2.0], [3.0, 4.0, 5.0])
        except ValueError:
            return False
    return True


KNOWS_PLANES = _knows_planes()


def cross(a: Any, b: Any) -> Any:
    """``np.cross`` of two vectors."""
    n, m = a.shape[0], b.shape[0]
    if n != 3 or m != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {n} and {m} dimensional instead."
        )
    out = np.empty(3)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


def cross_with_planes(a: Any, b: Any) -> Any:
    """``np.cross`` of two vectors, where two elements may be all."""
    n, m = a.shape[0], b.shape[0]
    if n < 2 or n > 3 or m < 2 or m > 3:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if n == 2 and m == 2:
        raise ValueError(
            "np.cross of vectors of two elements gives numbers, where machine code has vectors: "
            "write a[0] * b[1] - a[1] * b[0]"
        )
    last, other = 0.0, 0.0
    if n == 3:
        last = a[2]
    if m == 3:
        other = b[2]
    out = np.empty(3)
    out[0] = a[1] * other - last * b[1]
    out[1] = last * b[0] - a[0] * other
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """``np.convolve``"""
    n, m = a.shape[0], v.shape[0]
    if n == 0:
        raise ValueError("a cannot be empty")
    if m == 0:
        raise ValueError("v cannot be empty")
    out = np.zeros(n + m - 1)
    for i in range(n):
        for j in range(m):
            out[i + j] += a[i] * v[j]
    if mode == "full":
        return out
    if mode == "same":
        first = (min(n, m) - 1) // 2
        return out[first : first + max(n, m)]
    return out[min(n, m) - 1 : max(n, m)]


def place_of(a: Any, v: float, side: str = "left") -> int:
    """``np.searchsorted`` of a number."""
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        is_behind = comes_before(a[middle], v) if side == "left" else not comes_before(v, a[middle])
        if is_behind:
            low = middle + 1
        else:
            high = middle
    return low


def places_of(a: Any, v: Any, side: str = "left") -> Any:
    """``np.searchsorted`` of the elements of a vector."""
    out = np.empty(v.shape[0], np.int64)
    for k in range(v.shape[0]):
        out[k] = place_of(a, v[k], side)
    return out


def interpolated(x: float, xp: Any, fp: Any) -> float:
    """``np.interp`` at a number, computed as NumPy does it."""
    n = xp.shape[0]
    if n == 0:
        raise ValueError("array of sample points is empty")
    if fp.shape[0] != n:
        raise ValueError("fp and xp are not of the same length.")
    if x != x:
        return x
    j = place_of(xp, x, "right") - 1
    if j < 0:
        return fp[0]  # type: ignore[no-any-return]
    if j >= n - 1 or xp[j] == x:
        return fp[min(j, n - 1)]  # type: ignore[no-any-return]
    slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j])
    found = slope * (x - xp[j]) + fp[j]
    if found != found:
        found = slope * (x - xp[j + 1]) + fp[j + 1]
        if found != found and fp[j] == fp[j + 1]:
            found = fp[j]
    return found  # type: ignore[no-any-return]


def interpolated_at(x: Any, xp: Any, fp: Any) -> Any:
    """``np.interp`` at the elements of a vector."""
    out = np.empty(x.shape[0])
    for k in range(x.shape[0]):
        out[k] = interpolated(x[k], xp, fp)
    return out


def slice_bounds(sequence: Any, lower: Any, upper: Any, step: Any) -> tuple[int, int, int]:
    """Stands for :func:`adjoint.runtime.objects.slice_bounds`."""
    count = len(sequence)
    by = 1 if step is None else step
    if by == 0:
        raise ValueError("slice step cannot be zero")
    least = 0 if by > 0 else -1
    most = count if by > 0 else count - 1
    start = least if by > 0 else most
    stop = most if by > 0 else least
    if lower is not None:
        start = min(max(lower + count if lower < 0 else lower, least), most)
    if upper is not None:
        stop = min(max(upper + count if upper < 0 else upper, least), most)
    return start, stop, by
