"""Bundles: the numbers that stand for one number in several directions, or iterations, side by side in memory.

Machine code has an element type for them, and computes with all numbers of a bundle at once. Here an array of bundles
is an array of objects: of bundles, and of numbers that are the same in all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

DIRECTIONS = 4
"""How many directions a bundle has."""
ITERATIONS = 16
"""How many iterations a bundle has."""


class Bundle(np.ndarray):
    """Numbers that are computed with as one: never written in place."""

    __iadd__ = np.ndarray.__add__  # type: ignore[assignment]
    __isub__ = np.ndarray.__sub__  # type: ignore[assignment]
    __imul__ = np.ndarray.__mul__  # type: ignore[assignment]
    __itruediv__ = np.ndarray.__truediv__  # type: ignore[assignment]


def unless_zero(a: Any, found: Any) -> Any:
    """``found``, but zero where ``a`` is zero."""
    return np.asarray(np.where(np.equal(a, 0), 0.0, found)).view(Bundle)


def bundle_from(first: int, size: int) -> Any:
    """The bundle of the whole numbers from one on, as floating-point numbers."""
    return np.arange(first, first + size, dtype=float).view(Bundle)


def bundle_total(x: Any, size: int) -> Any:
    """The sum of the numbers of a bundle; of a number that is the same in all of it, so many times that."""
    return np.sum(x.view(np.ndarray)) if isinstance(x, Bundle) else x * size


def bundle_any(condition: Any) -> bool:
    """Whether a condition holds somewhere in a bundle."""
    return bool(np.any(condition))


def bundle_not(condition: Any) -> Any:
    """Where a condition does not hold."""
    return np.logical_not(condition)


def bundle_both(condition: Any, other: Any) -> Any:
    """Where two conditions hold."""
    return np.logical_and(condition, other)


def bundle_either(condition: Any, other: Any) -> Any:
    """Where one of two conditions holds, or both."""
    return np.logical_or(condition, other)


def bundle_choice(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where a condition holds, else ``b``."""
    return np.where(condition, a, b).view(Bundle) if isinstance(condition, Bundle) else a if condition else b


def bundle_maximum(a: Any, b: Any) -> Any:
    """``np.maximum(a, b)``."""
    return np.maximum(a, b)


def bundle_minimum(a: Any, b: Any) -> Any:
    """``np.minimum(a, b)``."""
    return np.minimum(a, b)


def bundle_sqrt(x: Any) -> Any:
    """``np.sqrt(x)``: not a number below zero."""
    with np.errstate(invalid="ignore"):
        return np.sqrt(x)


def bundle_sign(x: Any) -> Any:
    """``np.sign(x)``."""
    return np.sign(x)


def bundle_magnitude(x: Any) -> Any:
    """``np.abs(x)``."""
    return np.abs(x)


def bundle_at(x: Any, first: int, size: int) -> Any:
    """Elements of a vector, from one on."""
    return np.array([x[first + place] for place in range(size)]).view(Bundle)


def bundle_down(x: Any, first: int, column: int, size: int) -> Any:
    """Elements of a column of a matrix, from one on."""
    return np.array([x[first + place, column] for place in range(size)]).view(Bundle)


def bundle_across(x: Any, row: int, first: int, size: int) -> Any:
    """Elements of a row of a matrix, from one on."""
    return np.array([x[row, first + place] for place in range(size)]).view(Bundle)


def put_bundle(x: Any, first: int, found: Any, size: int) -> None:
    """Stores a bundle, or one number again and again, to elements of a vector, from one on."""
    for place, number in enumerate(unbundled(found, size)):
        x[first + place] = number


def put_bundle_down(x: Any, first: int, column: int, found: Any, size: int) -> None:
    """The same for a column of a matrix."""
    for place, number in enumerate(unbundled(found, size)):
        x[first + place, column] = number


def put_bundle_across(x: Any, row: int, first: int, found: Any, size: int) -> None:
    """The same for a row of a matrix."""
    for place, number in enumerate(unbundled(found, size)):
        x[row, first + place] = number


def bundled(x: Any, size: int) -> Any:
    """An array of numbers, of which the last axis is as long as bundles are, as an array of bundles or as one."""
    if x.ndim == 1:
        return x.copy().view(Bundle)
    found = no_bundles_yet(x.shape[:-1], size)
    for place in np.ndindex(found.shape):
        found[place] = bundled(x[place], size)
    return found


def unbundled(x: Any, size: int) -> Any:
    """Bundles as an array of numbers, the last axis of which is as long as bundles are."""
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return np.array(np.broadcast_to(x, size))
    return np.array([unbundled(part, size) for part in x.flat]).reshape(*x.shape, size)


def zero_bundles(shape: Any, size: int) -> Any:
    """An array of bundles of zeros."""
    return np.full(shape, 0.0, object)


def no_bundles_yet(shape: Any, size: int) -> Any:
    """An array of bundles that are still to be written."""
    return np.empty(shape, object)


def same_in_bundles(x: Any, size: int) -> Any:
    """An array of bundles, each of which is one number of an array again and again."""
    return x.astype(object)


def anywhere(x: Any, size: int) -> Any:
    """A bundle that is zero in the places in which all of an array of bundles is."""
    found: Any = np.zeros(size).view(Bundle)
    for element in x.flat:
        found = found + unless_zero(np.broadcast_to(element, size), 1.0)
    return found


def product_with_bundles(a: Any, b: Any, moves_left: bool) -> Any:
    """``a @ b`` where one of the two, as ``moves_left`` says, is of bundles; vectors or matrices."""
    return np.dot(a, b.astype(object)) if moves_left else np.dot(a.astype(object), b)


def product_of_moving_bundles(a: Any, b: Any, skips: bool, moves_left: bool) -> Any:
    """The same of matrices, as :func:`~adjoint.runtime.array_functions.sparse.product_of_moving` is ``a @ b``."""
    return product_with_bundles(a, b, moves_left)


def product_by_rows(a: Any, b: Any, skips: bool, width: int) -> Any:
    """What :func:`row_of_product` needs to compute rows of ``a @ b`` when they are asked for; ``b`` is of bundles.

    Places of rows of ``b``, and these rows; or the product, in machine code where it takes many of them.
    """
    return np.empty(0, int), np.empty((0, width), object), product_with_bundles(a, b, False)


def row_of_product(a: Any, row: int, places: Any, moving: Any, whole: Any, width: int) -> Any:
    """So many elements of a row of a product."""
    return tuple(whole[row, :width])
