"""Functions of a sequence as functions of its parts, so that the parts can be variables.

A generated program prints each as the function in its attribute ``display``, called with a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.runtime.array_functions.arrays import unbroadcast

Template = int | tuple[Any, ...]


def concatenate_of(*arrays: Any, axis: int | None = 0) -> Any:
    """``np.concatenate([*arrays], axis)``"""
    return np.concatenate(arrays, axis=axis)


def stack_of(*arrays: Any, axis: int = 0) -> Any:
    """``np.stack([*arrays], axis)``"""
    return np.stack(arrays, axis=axis)


def vstack_of(*arrays: Any) -> Any:
    """``np.vstack([*arrays])``"""
    return np.vstack(arrays)


def hstack_of(*arrays: Any) -> Any:
    """``np.hstack([*arrays])``"""
    return np.hstack(arrays)


def column_stack_of(*arrays: Any) -> Any:
    """``np.column_stack([*arrays])``"""
    return np.column_stack(arrays)


def _displayed(function: Callable[..., Any], display: Callable[..., Any]) -> None:
    function.display = display  # type: ignore[attr-defined]


_displayed(concatenate_of, np.concatenate)
_displayed(stack_of, np.stack)
_displayed(vstack_of, np.vstack)
_displayed(hstack_of, np.hstack)
_displayed(column_stack_of, np.column_stack)


def array_of(template: Template, *leaves: Any, dtype: Any = None) -> Any:
    """``np.array`` of nested lists: ``template`` has the place of a leaf among ``leaves`` at each leaf."""
    return np.array(_filled(template, leaves), dtype=dtype)


def _filled(template: Template, leaves: tuple[Any, ...]) -> Any:
    if isinstance(template, tuple):
        return [_filled(part, leaves) for part in template]
    return leaves[template]


def array_leaf(ct: Any, template: Template, place: int, leaf: Any) -> Any:
    """The cotangent of one leaf of :func:`array_of`."""
    total: Any = None
    for path in paths_to(template, place):
        part = ct[path] if path else ct
        total = part if total is None else total + part
    return unbroadcast(ct.dtype.type(0) if total is None else total, leaf)


def place_leaf(dot: Any, template: Template, place: int, like: Any) -> Any:
    """The transpose of :func:`array_leaf`: zeros like ``like`` with ``dot`` at each place of the leaf."""
    out = np.zeros_like(like)
    for path in paths_to(template, place):
        out[path] += dot
    return out


def paths_to(template: Template, place: int) -> list[tuple[int, ...]]:
    """Where a leaf stands in an array."""
    return [path for path, leaf in leaves_at(template) if leaf == place]


def leaves_at(template: Template, path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], int]]:
    """The index of each element, or row, that is a leaf, and which leaf it is."""
    if isinstance(template, tuple):
        return [found for k, part in enumerate(template) for found in leaves_at(part, (*path, k))]
    return [(path, template)]


def concatenated_part(ct: Any, place: int, axis: int | None, *arrays: Any) -> Any:
    """The cotangent of one of the arrays that were concatenated."""
    array = arrays[place]
    if axis is None:
        start = sum(int(np.size(before)) for before in arrays[:place])
        return unbroadcast(np.reshape(ct[start : start + np.size(array)], np.shape(array)), array)
    axis = axis % ct.ndim
    start = sum(np.shape(before)[axis] for before in arrays[:place])
    return unbroadcast(ct[(slice(None),) * axis + (slice(start, start + np.shape(array)[axis]),)], array)


def place_part(dot: Any, place: int, axis: int | None, *arrays: Any) -> Any:
    """The transpose of :func:`concatenated_part`: the parts joined, all zero but one."""
    parts = [dot if k == place else np.zeros_like(array) for k, array in enumerate(arrays)]
    return np.concatenate(parts, axis=axis)


def stacked_part(ct: Any, place: int, axis: int, array: Any) -> Any:
    """The cotangent of one of the arrays that were stacked."""
    axis = axis % ct.ndim
    return unbroadcast(ct[(slice(None),) * axis + (place,)], array)


def rows_part(ct: Any, place: int, *arrays: Any) -> Any:
    """The cotangent of one of the arrays that ``np.vstack`` joined."""
    start = sum(len(np.atleast_2d(before)) for before in arrays[:place])
    rows = len(np.atleast_2d(arrays[place]))
    return unbroadcast(np.reshape(ct[start : start + rows], np.shape(arrays[place])), arrays[place])


def columns_part(ct: Any, place: int, *arrays: Any) -> Any:
    """The cotangent of one of the arrays that ``np.column_stack`` joined."""

    def width(array: Any) -> int:
        return np.shape(array)[1] if np.ndim(array) > 1 else 1

    start = sum(width(before) for before in arrays[:place])
    array = arrays[place]
    return unbroadcast(np.reshape(ct[:, start : start + width(array)], np.shape(array)), array)


def beside_part(ct: Any, place: int, *arrays: Any) -> Any:
    """The cotangent of one of the arrays that ``np.hstack`` joined."""
    if ct.ndim == 1:
        return concatenated_part(ct, place, None, *arrays)
    return concatenated_part(ct, place, 1, *arrays)


def split_like(ct: Any, arrays: Any, axis: int | None = 0) -> list[Any]:
    """The cotangents of a list of arrays that were concatenated."""
    if axis is None:
        return _split(ct, arrays, [int(np.size(array)) for array in arrays], 0)
    axis = axis % ct.ndim
    return _split(ct, arrays, [np.shape(array)[axis] for array in arrays], axis)


def split_rows(ct: Any, arrays: Any) -> list[Any]:
    """The cotangents of a list of arrays that ``np.vstack`` joined."""
    return _split(ct, arrays, [np.shape(array)[0] if np.ndim(array) > 1 else 1 for array in arrays], 0)


def split_beside(ct: Any, arrays: Any) -> list[Any]:
    """The cotangents of a list of arrays that ``np.hstack`` joined."""
    return split_like(ct, arrays, None if ct.ndim == 1 else 1)


def split_columns(ct: Any, arrays: Any) -> list[Any]:
    """The cotangents of a list of arrays that ``np.column_stack`` joined."""
    return _split(ct, arrays, [np.shape(array)[1] if np.ndim(array) > 1 else 1 for array in arrays], 1)


def _split(ct: Any, arrays: Any, extents: list[int], axis: int) -> list[Any]:
    """Parts of ``ct`` of these extents, one after the other, each shaped as its array."""
    parts = []
    start = 0
    for array, extent in zip(arrays, extents, strict=True):
        part = ct[(slice(None),) * axis + (slice(start, start + extent),)]
        parts.append(unbroadcast(np.reshape(part, np.shape(array)), array))
        start += extent
    return parts


def unstack_like(ct: Any, arrays: Any, axis: int = 0) -> list[Any]:
    """The cotangents of a list of arrays that were stacked."""
    return [stacked_part(ct, place, axis, array) for place, array in enumerate(arrays)]


def unarray(ct: Any, x: Any) -> Any:
    """The cotangent of what an array was made of: a number, an array, or nested lists of them."""
    if isinstance(x, (list, tuple)):
        return type(x)([unarray(ct[place], part) for place, part in enumerate(x)])
    return unbroadcast(ct, x)


def fill_cotangent(ct: Any, fill_value: Any) -> Any:
    """The cotangent of the number or array that an array was filled with."""
    return unbroadcast(ct, fill_value)


def place_stacked(dot: Any, place: int, axis: int, like: Any) -> Any:
    """The transpose of :func:`stacked_part`."""
    out = np.zeros_like(like)
    out[(slice(None),) * (axis % out.ndim) + (place,)] = dot
    return out


def _alone(dot: Any, place: int, arrays: tuple[Any, ...]) -> list[Any]:
    return [dot if k == place else np.zeros_like(array) for k, array in enumerate(arrays)]


def place_rows(dot: Any, place: int, *arrays: Any) -> Any:
    """The transpose of :func:`rows_part`."""
    return np.vstack(_alone(dot, place, arrays))


def place_beside(dot: Any, place: int, *arrays: Any) -> Any:
    """The transpose of :func:`beside_part`."""
    return np.hstack(_alone(dot, place, arrays))


def place_columns(dot: Any, place: int, *arrays: Any) -> Any:
    """The transpose of :func:`columns_part`."""
    return np.column_stack(_alone(dot, place, arrays))
