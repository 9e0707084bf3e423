"""Bundles: the numbers that stand for one number in several directions, side by side in memory.

Machine code has an element type for them, and computes with all numbers of a bundle at once. Here an array of bundles
is an array of objects: of bundles, and of numbers that are the same in all directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SIZE = 4
"""How many numbers a bundle has."""


class Bundle(np.ndarray):
    """Numbers that are computed with as one: never written in place."""

    __iadd__ = np.ndarray.__add__  # type: ignore[assignment]
    __isub__ = np.ndarray.__sub__  # type: ignore[assignment]
    __imul__ = np.ndarray.__mul__  # type: ignore[assignment]
    __itruediv__ = np.ndarray.__truediv__  # type: ignore[assignment]


def unless_zero(a: Any, found: Any) -> Any:
    """``found``, but zero where ``a`` is zero."""
    return np.asarray(np.where(np.equal(a, 0), 0.0, found)).view(Bundle)


def bundled(x: Any) -> Any:
    """An array of numbers, of which the last axis is as long as bundles are, as an array of bundles or as one."""
    if x.ndim == 1:
        return x.copy().view(Bundle)
    found = no_bundles_yet(x.shape[:-1])
    for place in np.ndindex(found.shape):
        found[place] = bundled(x[place])
    return found


def unbundled(x: Any) -> Any:
    """Bundles as an array of numbers, the last axis of which is as long as bundles are."""
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return np.array(np.broadcast_to(x, SIZE))
    return np.array([unbundled(part) for part in x.flat]).reshape(*x.shape, SIZE)


def zero_bundles(shape: Any) -> Any:
    """An array of bundles of zeros."""
    return np.full(shape, 0.0, object)


def no_bundles_yet(shape: Any) -> Any:
    """An array of bundles that are still to be written."""
    return np.empty(shape, object)


def same_in_bundles(x: Any) -> Any:
    """An array of bundles, each of which is one number of an array again and again."""
    return x.astype(object)


def product_with_bundles(a: Any, b: Any, moves_left: bool) -> Any:
    """``a @ b`` where one of the two, as ``moves_left`` says, is of bundles; vectors or matrices."""
    return np.dot(a, b.astype(object)) if moves_left else np.dot(a.astype(object), b)


def product_of_moving_bundles(a: Any, b: Any, skips: bool, moves_left: bool) -> Any:
    """The same of matrices, as :func:`~adjoint.runtime.sparse_products.product_of_moving` is ``a @ b``."""
    return product_with_bundles(a, b, moves_left)
