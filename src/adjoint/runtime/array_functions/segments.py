"""What is computed from parts of an array: sums of segments, running extremes, logarithms of sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.runtime.array_functions.arrays import Axis, zeros_like

if TYPE_CHECKING:
    from numpy.typing import NDArray


def log_sum_exp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over axes."""
    return np.logaddexp.reduce(x, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]


def running_argmax(x: Any, axis: int = 0) -> NDArray[np.intp]:
    """Where the largest element so far was met first.

    >>> running_argmax(np.array([1.0, 3.0, 2.0, 3.0, 4.0]))
    array([0, 1, 1, 1, 4])
    """
    return _first_met(np.maximum.accumulate(x, axis=axis), axis)


def running_argmin(x: Any, axis: int = 0) -> NDArray[np.intp]:
    """Where the smallest element so far was met first."""
    return _first_met(np.minimum.accumulate(x, axis=axis), axis)


def running_fargmax(x: Any, axis: int = 0) -> NDArray[np.intp]:
    """Where the largest element so far that is a number was met first."""
    return _first_met(np.fmax.accumulate(x, axis=axis), axis)


def running_fargmin(x: Any, axis: int = 0) -> NDArray[np.intp]:
    """Where the smallest element so far that is a number was met first."""
    return _first_met(np.fmin.accumulate(x, axis=axis), axis)


def _first_met(running: Any, axis: int) -> NDArray[np.intp]:
    rows = np.moveaxis(running, axis, -1)
    is_new = np.zeros(rows.shape, bool)
    now, before = rows[..., 1:], rows[..., :-1]
    is_new[..., 1:] = (now != before) & ~(np.isnan(now) & np.isnan(before))
    places = np.maximum.accumulate(np.where(is_new, np.arange(rows.shape[-1]), 0), axis=-1)
    return np.moveaxis(places, -1, axis)


def add_reduceat(x: Any, indices: Any, axis: int = 0) -> Any:
    """``np.add.reduceat``: sums from each index to the next one, single elements where that is not behind it."""
    return np.add.reduceat(x, indices, axis=axis)


def unreduceat(ct: Any, x: Any, indices: Any, axis: int = 0) -> Any:
    """The transpose of :func:`add_reduceat`."""
    out = np.moveaxis(zeros_like(x), axis, 0)
    starts = np.asarray(indices)
    ends = np.append(starts[1:], len(out))
    lengths = np.maximum(ends - starts, 1)
    members = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    np.add.at(out, np.repeat(starts, lengths) + members, np.repeat(np.moveaxis(ct, axis, 0), lengths, axis=0))
    return np.moveaxis(out, 0, axis)
