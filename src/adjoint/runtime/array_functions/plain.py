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


def may_overlap(a: Any, b: Any) -> Any:
    """``np.may_share_memory``."""
    return np.may_share_memory(a, b)


def put(part: Any, value: Any) -> None:
    """``part[...] = value``."""
    part[...] = value


def add_to(part: Any, value: Any) -> None:
    """``part += value``."""
    part += value


def take_from(part: Any, value: Any) -> None:
    """``part -= value``."""
    part -= value


def taken_at(a: Any, *index: Any) -> Any:
    """``a[index]`` through arrays of places, as a copy."""
    return a[index]


def put_at(a: Any, values: Any, *index: Any) -> None:
    """``a[index] = values`` through arrays of places; of those for one place the last counts."""
    a[index] = values


def selected(a: Any, mask: Any) -> Any:
    """``a[mask]``."""
    return a[mask]


def put_selected(a: Any, values: Any, mask: Any) -> None:
    """``a[mask] = values``."""
    a[mask] = values


def add_selected(a: Any, values: Any, mask: Any) -> None:
    """``a[mask] += values``."""
    a[mask] += values


def take_selected(a: Any, values: Any, mask: Any) -> None:
    """``a[mask] -= values``."""
    a[mask] -= values


def check_places(a: Any, *index: Any) -> None:
    """Raises where a place of an index is none of the array's.

    >>> check_places(np.zeros(2), np.array([0, -2]))
    >>> check_places(np.zeros(2), np.array([0, 2]))
    Traceback (most recent call last):
    ...
    IndexError: index 2 is out of bounds for axis 0 with size 2
    """
    a[index]


def check_inside(places: Any, extent: int) -> None:
    """Raises unless all places, which may be counted from the end, are on an axis.

    >>> check_inside(np.array([0, -2]), 2)
    >>> check_inside(np.array([0, 2]), 2)
    Traceback (most recent call last):
    ...
    IndexError: index is out of bounds
    """
    if np.any((places < -extent) | (places >= extent)):
        raise IndexError("index is out of bounds")
