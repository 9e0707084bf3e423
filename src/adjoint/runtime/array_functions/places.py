"""Places in arrays: views that can be written, and the order of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.runtime.array_functions.arrays import order_of, unbroadcast

if TYPE_CHECKING:
    from numpy.typing import NDArray


def numbered(selected: Any) -> NDArray[np.intp]:
    """The numbers from 0 on in the shape of ``selected``."""
    return np.arange(np.size(selected)).reshape(np.shape(selected))


def first_places(a: Any, equal_nan: bool = True) -> Any:
    """Where each of the different elements stands first, in the order of their values."""
    return np.unique(a, return_index=True, equal_nan=equal_nan)[1]


def ranks_of_different(a: Any, equal_nan: bool = True) -> Any:
    """Which one of the different elements each element is."""
    return np.unique(a, return_inverse=True, equal_nan=equal_nan)[1]


def counts_of_different(a: Any, equal_nan: bool = True) -> Any:
    """How often each of the different elements stands there."""
    return np.unique(a, return_counts=True, equal_nan=equal_nan)[1]


def places_of_values(x: Any) -> Any:
    """Where each of the different elements stands first, in the order of ``np.unique_values``."""
    flat = np.ravel(x)
    values = np.unique_values(flat)
    order = np.argsort(flat, kind="stable")
    found = order[np.searchsorted(flat[order], values)]
    if np.isnan(values).any():
        found[np.isnan(values)] = np.flatnonzero(np.isnan(flat))
    return found


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """``np.diagonal``, as a view that can be written."""
    view = np.diagonal(a, offset, axis1, axis2)
    view.flags.writeable = True
    return view


def diag(v: Any, k: int = 0) -> Any:
    """``np.diag`` of a matrix, as a view that can be written."""
    return diagonal(v, k)


def from_diagonal(v: Any, k: int = 0) -> Any:
    """``np.diag`` of a vector: a new matrix."""
    return np.diag(v, k)


def to_diagonal(m: Any, k: int = 0) -> Any:
    """``np.diag`` of a matrix, in memory of its own."""
    return np.diag(m, k).copy()


def unwindow(ct: Any, x: Any, window_shape: Any, axis: Any = None) -> Any:
    """The transpose of ``sliding_window_view``: each element adds up what its copies have."""
    numbers = np.arange(x.size).reshape(x.shape)
    out = np.zeros(x.size, ct.dtype)
    np.add.at(out, np.lib.stride_tricks.sliding_window_view(numbers, window_shape, axis), ct)
    return out.reshape(x.shape)


def steps(x: Any, strides: Any = None) -> Any:
    """How many elements each stride goes on, in memory that has all elements of ``x`` one after the other."""
    _check_order(x)
    widths = x.strides if strides is None else _extents(strides)
    if any(width % x.itemsize for width in widths):
        raise ValueError("as_strided takes parts of numbers for numbers")
    return tuple(width // x.itemsize for width in widths)


def strided(x: Any, shape: Any, steps: Any) -> Any:
    """``as_strided`` with the :func:`steps` of an array: a view that nobody may write."""
    _check_order(x)
    x = x.reshape(-1)
    extents = _extents(shape)
    last = sum(max(step, 0) * (extent - 1) for extent, step in zip(extents, steps, strict=True))
    first = sum(min(step, 0) * (extent - 1) for extent, step in zip(extents, steps, strict=True))
    if (first < 0 or last >= x.size) and 0 not in extents:
        raise ValueError("as_strided reads memory beyond its array")
    widths = [step * x.itemsize for step in steps]
    return np.lib.stride_tricks.as_strided(x, shape, widths, writeable=False)


def _check_order(x: Any) -> None:
    if not x.flags.c_contiguous:
        raise ValueError("the derivative of as_strided is known of arrays in C order only: np.ascontiguousarray(x)")


def unstrided(ct: Any, x: Any, shape: Any, steps: Any) -> Any:
    """The transpose of :func:`strided`: each element adds up what its copies have."""
    out = np.zeros(x.size, ct.dtype)
    np.add.at(out, strided(np.arange(x.size), shape, steps), ct)
    return out.reshape(x.shape)


def _extents(shape: Any) -> Any:
    return shape if isinstance(shape, (tuple, list)) else np.atleast_1d(shape).tolist()


def chosen(x: Any, mask: NDArray[np.bool_]) -> Any:
    """The elements of ``x``, broadcast to the shape of ``mask``, at which it is true."""
    return np.broadcast_to(x, np.shape(mask))[mask]


def unchosen(ct: Any, x: Any, mask: NDArray[np.bool_]) -> Any:
    """The transpose of :func:`chosen`."""
    out = np.zeros(np.shape(mask), np.result_type(ct))
    out[mask] = ct
    return unbroadcast(out, x)


def along(shape: tuple[int, ...], indices: NDArray[np.intp], axis: int) -> tuple[Any, ...]:
    """The index that ``np.put_along_axis`` writes to."""
    grids: list[Any] = list(np.ogrid[tuple(slice(extent) for extent in np.shape(indices))])
    grids[axis % len(shape)] = np.copy(indices)  # which the caller may change
    return tuple(grids)


def add_at(a: Any, values: Any, *index: Any) -> None:
    """Adds values to ``a[index]``; to a place that occurs several times, several times.

    >>> a = np.zeros(2)
    >>> add_at(a, 1.0, np.array([0, 0]))
    >>> a
    array([2., 0.])
    """
    np.add.at(a, index[0] if len(index) == 1 else index, values)


def all_but(extent: int, obj: Any) -> NDArray[np.intp]:
    """The places that ``np.delete`` keeps of so many."""
    return np.delete(np.arange(extent), obj)


def repeated(size: int, shape: Any) -> NDArray[np.intp]:
    """The places of the elements with which ``np.resize`` fills an array."""
    return np.resize(np.arange(size), shape)


def uninserted(ct: Any, arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """The cotangent of the array into which ``np.insert`` put values."""
    own = np.insert(np.ones(np.shape(arr), bool), obj, np.zeros(np.shape(values), bool), axis)
    return unbroadcast(np.reshape(ct[own], np.shape(arr)), arr)


def insertions(ct: Any, arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """The cotangent of the values that ``np.insert`` put into an array; each adds up what its copies have."""
    numbers = np.insert(np.zeros(np.shape(arr), np.intp), obj, numbered(values) + 1, axis)
    sums = np.zeros(np.size(values) + 1, ct.dtype)
    np.add.at(sums, numbers, ct)
    return unbroadcast(np.reshape(sums[1:], np.shape(values)), values)


def origins(y: Any, a: Any, axis: int | None = -1) -> NDArray[np.intp]:
    """The place along ``axis`` in ``a`` from which each element of ``y`` comes, which has them in another order."""
    if axis is None:
        return origins(y, np.ravel(a))
    places = np.empty(np.shape(y), np.intp)
    np.put_along_axis(places, order_of(y, axis), order_of(a, axis), axis)
    return places


def leading_zeros(coefficients: Any) -> int:
    """How many coefficients a polynomial does not need; the last one stays."""
    needed = np.flatnonzero(coefficients)
    return int(needed[0]) if len(needed) else len(coefficients) - 1


def turns(p: Any, discont: Any, axis: int, period: float) -> Any:
    """How many periods ``np.unwrap`` adds to each element."""
    return np.rint((np.unwrap(p, discont, axis, period=period) - p) / period)


def bins_of(a: Any, edges: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the elements that lie in a bin, and the bin of each; the last bin has its upper edge."""
    points = np.ravel(a)
    inside = np.flatnonzero((points >= edges[0]) & (points <= edges[-1]))
    return inside, _bins(points if len(inside) == len(points) else points[inside], edges)


def _bins(points: Any, edges: Any) -> NDArray[np.intp]:
    """The bin of each point: interpolation search where edges lie nearly evenly, else bisection."""
    last = len(edges) - 2
    width = (edges[-1] - edges[0]) / (last + 1)
    if len(points) > len(edges) and width > 0.0 and np.isfinite(width):
        lower, upper = edges[:-1], np.append(edges[1:-1], np.inf)
        found: NDArray[np.intp] = np.minimum(((points - edges[0]) / width).astype(np.intp), last)
        found -= points < lower[found]
        found += points >= upper[found]
        if np.all((lower[found] <= points) & (points < upper[found])):
            return found
    places: NDArray[np.intp] = np.minimum(np.searchsorted(edges, points, "right") - 1, last)
    return places


def side_of_mesh(x: Any, place: int) -> NDArray[np.intp]:
    """One of the two arrays of ``np.ix_``: rows stand below each other, columns beside each other.

    >>> side_of_mesh([True, False, True], 0).tolist(), side_of_mesh(range(2), 1).tolist()
    ([[0], [2]], [[0, 1]])
    """
    found: NDArray[np.intp] = np.ix_(*((x, (0,)) if place == 0 else ((0,), x)))[place]
    if found.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return np.asarray(found, dtype=np.intp)


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
