"""What NumPy's functions that write an array do to it, in Python: lowered like a user's code."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.runtime.arithmetic.checks import check_alike, check_operand
from adjoint.runtime.array_functions.places import along, check_inside, chosen


def own_array(x: Any) -> Any:
    """The elements of what is written: of a number there are none."""
    if not isinstance(x, np.ndarray):
        raise TypeError(f"{type(x).__name__!r} object does not support item assignment")
    check_operand(x, None)
    return np.array(x)


def sort(a: Any, axis: Any = -1) -> None:
    a[...] = np.sort(a, axis=axis)


def partition(a: Any, kth: Any, axis: Any) -> None:
    a[...] = np.partition(a, kth, axis)


def copy_where(a: Any, values: Any, where: Any) -> None:
    a[...] = np.where(where, values, a)


def compute_where(function: Any, out: Any, where: Any, *args: Any) -> None:
    mask = np.broadcast_to(where, np.shape(out))
    out[mask] = function(*[chosen(arg, mask) for arg in args])


def compute_some(function: Any, where: Any, *args: Any) -> Any:
    """The elements that NumPy leaves as memory has them are zero here."""
    mask = np.broadcast_to(where, np.broadcast_shapes(np.shape(where), *[np.shape(arg) for arg in args]))
    found = function(*[chosen(arg, mask) for arg in args])
    out = np.zeros(np.shape(mask), np.result_type(found))
    out[mask] = found
    return out


def compute_at(function: Any, a: Any, places: Any, values: Any) -> None:
    for i in range(len(places)):
        a[places[i]] = function(a[places[i]], values[i])


def compute_at_same(function: Any, a: Any, places: Any, value: Any) -> None:
    for i in range(len(places)):
        a[places[i]] = function(a[places[i]], value)


def compute_at_each(function: Any, a: Any, index: Any, values: Any) -> None:
    """The same for any index, element by element."""
    places = np.arange(np.size(a)).reshape(np.shape(a))[index]
    given, flat = np.ravel(np.broadcast_to(values, np.shape(places))), np.ravel(places)
    for i in range(np.size(flat)):
        place = unravelled(np.shape(a), flat[i])
        a[place] = function(a[place], given[i])


def nonzero(a: Any) -> Any:
    """The places at which an array of one axis is not zero."""
    return (np.flatnonzero(a),)


def nonzero_of_two(a: Any) -> Any:
    """The same along each of two axes."""
    places = np.argwhere(a)
    return places[:, 0], places[:, 1]


def cycled(values: Any, places: Any) -> Any:
    """The values at these places of ``values`` in rows, as often repeated as it takes."""
    row = np.ravel(values)
    return row[places % np.size(values)]


def put(a: Any, places: Any, values: Any) -> None:
    flat = np.ravel(places)
    check_inside(flat, np.size(a))
    set_flat(a, flat, cycled(values, np.arange(np.size(flat))))


def place(a: Any, mask: Any, values: Any) -> None:
    where = np.reshape(mask, np.shape(a)).astype(bool)
    a[where] = cycled(values, np.arange(np.count_nonzero(where)))


def putmask(a: Any, mask: Any, values: Any) -> None:
    where = np.reshape(mask, np.shape(a)).astype(bool)
    a[where] = cycled(values, np.flatnonzero(where))


def put_along_axis(a: Any, places: Any, values: Any, axis: Any) -> None:
    a[along(np.shape(a), places, axis)] = values


def fill_diagonal(a: Any, value: Any) -> None:
    places = np.arange(min(np.shape(a)))
    numbers = value if np.ndim(value) == 0 else cycled(value, places)
    if np.ndim(a) == 2:
        a[places, places] = numbers
    elif np.ndim(a) == 3:
        a[places, places, places] = numbers
    else:
        raise ValueError("array must be at least 2-d")


def set_flat(a: Any, place: Any, values: Any) -> None:
    a[unravelled(np.shape(a), place)] = values


def get_flat(a: Any, place: Any) -> Any:
    return a[unravelled(np.shape(a), place)]


def set_flat_of_any_rank(a: Any, place: Any, values: Any) -> None:
    flat = np.copy(np.ravel(a))
    flat[place] = values
    a[...] = np.reshape(flat, np.shape(a))


def get_flat_of_any_rank(a: Any, place: Any) -> Any:
    return np.ravel(a)[place]


def unravelled(shape: Any, place: Any) -> Any:
    if len(shape) == 1:
        return (place,)
    if len(shape) == 2:
        return (place // shape[1], place % shape[1])
    columns = shape[1] * shape[2]
    return (place // columns, place % columns // shape[2], place % shape[2])


def of_rank(a: Any, rank: Any) -> Any:
    if np.ndim(a) >= rank:
        return a
    return np.reshape(a, (1,) * (rank - np.ndim(a)) + np.shape(a))


def diff(a: Any, n: Any, axis: Any) -> Any:
    if n < 0:
        raise ValueError("order must be non-negative")
    for _ in range(n):
        a = np.diff(a, axis=axis)
    return a


def vectorized(function: Any, *args: Any, **named: Any) -> Any:
    shape, items = _at_each(function, args, named)
    if isinstance(items[0], tuple):
        return tuple([_of_shape([item[k] for item in items], shape) for k in range(len(items[0]))])
    return _of_shape(items, shape)


def _of_shape(items: Any, shape: Any) -> Any:
    check_alike(items)
    return np.reshape(np.array(items), shape)


def vectorized_to(dtype: Any, function: Any, *args: Any, **named: Any) -> Any:
    shape, items = _at_each(function, args, named)
    return np.reshape(np.array(items, dtype=dtype), shape)


def vectorized_parts(core: Any, function: Any, *args: Any) -> Any:
    """What ``np.vectorize`` with a signature gives; ``core`` has the names of the last axes of each argument."""
    if len(args) != len(core):
        raise TypeError(f"wrong number of positional arguments: expected {len(core)!r}, got {len(args)!r}")
    _check_core(core, args)
    leading = [np.shape(arg)[: np.ndim(arg) - len(names)] for arg, names in zip(args, core, strict=True)]
    shape = np.broadcast_shapes(*leading)
    given = [
        np.broadcast_to(arg, shape + np.shape(arg)[np.ndim(arg) - len(names) :])
        for arg, names in zip(args, core, strict=True)
    ]
    rows = [
        np.reshape(arg, (-1, *np.shape(arg)[np.ndim(arg) - len(names) :]))
        for arg, names in zip(given, core, strict=True)
    ]
    items = [function(*[row[i] for row in rows]) for i in range(len(rows[0]))]
    if isinstance(items[0], tuple):
        return tuple([_of_parts([item[k] for item in items], shape) for k in range(len(items[0]))])
    return _of_parts(items, shape)


def _check_core(core: Any, args: Any) -> None:
    sizes: dict[Any, Any] = {}
    for arg, names in zip(args, core, strict=True):
        if np.ndim(arg) < len(names):
            said = f"{np.ndim(arg)}-dimensional argument does not have enough dimensions for all core dimensions"
            raise ValueError(f"{said} {names!r}")
        for name, size in zip(names, np.shape(arg)[np.ndim(arg) - len(names) :], strict=True):
            if name in sizes and sizes[name] != size:
                raise ValueError(f"inconsistent size for core dimension {name!r}: {size} vs {sizes[name]}")
            sizes[name] = size


def _of_parts(items: Any, shape: Any) -> Any:
    check_alike(items)
    return np.reshape(np.stack([np.asarray(item) for item in items]), shape + np.shape(items[0]))


def _at_each(function: Any, args: Any, named: Any) -> Any:
    given = [*args, *named.values()]
    shape = np.broadcast_shapes(*[np.shape(arg) for arg in given])
    rows = [np.ravel(np.broadcast_to(arg, shape)) for arg in given]
    first, rest, names = rows[: len(args)], rows[len(args) :], list(named)
    if not names:
        return shape, [function(*[row[i] for row in rows]) for i in range(np.size(rows[0]))]
    return shape, [
        function(*[row[i] for row in first], **{name: row[i] for name, row in zip(names, rest, strict=True)})
        for i in range(np.size(rows[0]))
    ]


def value_of_series(value: Any, coef: Any, x: Any) -> Any:
    return value(x, coef)


def value_of_mapped_series(value: Any, coef: Any, domain: Any, window: Any, x: Any) -> Any:
    width = domain[1] - domain[0]
    offset = (domain[1] * window[0] - domain[0] * window[1]) / width
    return value(offset + (window[1] - window[0]) / width * x, coef)


def joined_rows(parts: Any) -> Any:
    return np.concatenate([np.atleast_1d(part) for part in parts])


def joined_columns(parts: Any) -> Any:
    return np.concatenate([_as_columns(np.atleast_1d(part)) for part in parts], axis=-1)


def numbers_up_to(start: Any, stop: Any, step: Any, dense: bool) -> Any:
    count = math.ceil((stop - start) / step)
    if dense:
        count = len(np.empty(count))  # which raises where it is negative
    return np.arange(count) * step + start


def numbers_to(start: Any, stop: Any, count: int) -> Any:
    if count > 1:
        return np.arange(count) * ((stop - start) / (count - 1)) + start
    return np.arange(count) * 1.0 + start


def dense_grid(axes: Any) -> Any:
    nothing = np.zeros(tuple([len(axis) for axis in axes]), int)
    return np.stack([part + nothing for part in open_grid(axes)])


def open_grid(axes: Any) -> Any:
    last = len(axes) - 1
    return tuple([np.reshape(axis, (1,) * i + (-1,) + (1,) * (last - i)) for i, axis in enumerate(axes)])


def _as_columns(part: Any) -> Any:
    return np.reshape(part, (-1, 1)) if np.ndim(part) == 1 else part
