"""Functions of NumPy under names of our own: machine code has short forms of them, for numbers and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np


def empty(shape: Any, dtype: Any = np.float64) -> Any:
    """``np.empty``."""
    return np.empty(shape, dtype)


def zeros(shape: Any, dtype: Any = np.float64) -> Any:
    """``np.zeros``."""
    return np.zeros(shape, dtype)


def empty_like(x: Any, dtype: Any = None) -> Any:
    """``np.empty_like``."""
    return np.empty_like(x, dtype)


def eye(n: int) -> Any:
    """``np.eye``."""
    return np.eye(n)


def zeros_in_shape(x: Any, dtype: Any = None) -> Any:
    """``np.zeros_like``."""
    return np.zeros_like(x, dtype)


def product(a: Any, b: Any) -> Any:
    """``a @ b`` of vectors, matrices, or stacks of matrices times one, which may be parts of other arrays."""
    return a @ b


def solution(a: Any, b: Any) -> Any:
    """``np.linalg.solve`` of one matrix, with one vector or the columns of one matrix."""
    return np.linalg.solve(a, b)


def inverse(a: Any) -> Any:
    """``np.linalg.inv`` of one matrix."""
    return np.linalg.inv(a)


def determinant(a: Any) -> Any:
    """``np.linalg.det`` of one matrix."""
    return np.linalg.det(a)


def sign_and_log_determinant(a: Any) -> Any:
    """``np.linalg.slogdet`` of one matrix."""
    return np.linalg.slogdet(a)


def cholesky_factor(a: Any) -> Any:
    """``np.linalg.cholesky`` of one matrix."""
    return np.linalg.cholesky(a)


def triangular_factors(a: Any) -> Any:
    """``np.linalg.qr`` of one matrix."""
    return np.linalg.qr(a)


def singular_factors(a: Any, full_matrices: bool = True) -> Any:
    """``np.linalg.svd`` of one matrix."""
    return np.linalg.svd(a, full_matrices)


def cross(a: Any, b: Any, axis: int = -1) -> Any:
    """``np.cross``."""
    return np.cross(a, b, axis=axis)


def joined(axis: int | None, *arrays: Any) -> Any:
    """``np.concatenate([*arrays], axis)``."""
    return np.concatenate(arrays, axis=axis)


def stacked(axis: int, *arrays: Any) -> Any:
    """``np.stack([*arrays], axis)``."""
    return np.stack(arrays, axis=axis)


def in_order(x: Any, axis: int | None = -1) -> Any:
    """``np.sort``."""
    return np.sort(x, axis)


def partitioned(x: Any, kth: Any, axis: int | None = -1) -> Any:
    """``np.partition``."""
    return np.partition(x, kth, axis)


def taken_along(x: Any, indices: Any, axis: int | None = -1) -> Any:
    """``np.take_along_axis``."""
    return np.take_along_axis(x, indices, axis)


def reshaped(x: Any, shape: Any) -> Any:
    """``np.reshape``: a view of what lies one behind the other; a copy of anything else, which nobody writes."""
    return np.reshape(x, shape)
