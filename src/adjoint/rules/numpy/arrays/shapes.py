"""Rules of the NumPy functions that move elements without computing."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from adjoint.rules.declare import case, definition, linear, no_derivative, number, sample
from adjoint.runtime.array_functions import arrays, places
from adjoint.runtime.array_functions.arrays import (
    inverse_axes,
    opposite,
    reshape_like,
    unbroadcast,
    unrepeat,
    untile,
)


def _with_rank(form):
    """The form for a first argument that is known to be an array."""
    return {(rank, ...): form for rank in range(1, 6)}


def _reshape(ct, a, shape=None, order="C"):
    if order != "C":
        return np.reshape(ct, np.shape(a), order=order)
    return reshape_like(ct, a)


def _reshape_array(ct, a, shape=None, order="C"):
    if order != "C":
        return np.reshape(ct, a.shape, order=order)
    return np.reshape(ct, a.shape)


linear(
    np.reshape,
    _reshape,
    by_rank=_with_rank(_reshape_array),
    view_of=0,
    always_array=True,
    cases=[case(sample(4, 3), (2, 6)), case(sample(4, 3), -1), case(sample(4, 3), (6, 2), order="F")],
)
linear(
    np.ravel,
    lambda ct, a: reshape_like(ct, a),
    by_rank=_with_rank(lambda ct, a: np.reshape(ct, a.shape)),
    view_of=0,
    always_array=True,
    cases=[case(sample(4, 3)), case(sample(3)), case(number())],
)
for _like in (np.squeeze, np.atleast_1d, np.atleast_2d, np.atleast_3d):
    linear(
        _like,
        lambda ct, a, axis=None: reshape_like(ct, a),
        by_rank=_with_rank(lambda ct, a, axis=None: np.reshape(ct, a.shape)),
        view_of=0,
        always_array=True,
        shape="unknown",
        cases=[case(sample(1, 4, 1)), case(sample(1)), case(sample(4))],
    )
linear(
    np.expand_dims,
    lambda ct, a, axis: reshape_like(ct, a),
    by_rank=_with_rank(lambda ct, a, axis: np.squeeze(ct, axis)),
    view_of=0,
    always_array=True,
    cases=[case(sample(4, 3), 1), case(sample(4, 3), (0, 2)), case(number(), 0)],
)


def _transpose(ct, a, axes=None):
    if axes is None:
        return np.transpose(ct)
    return np.transpose(ct, inverse_axes(axes))


def _transpose_of_known(constants):
    """The form for axes that are written out."""
    axes = constants.get(1)
    if not isinstance(axes, tuple) or not all(isinstance(axis, int) for axis in axes):
        return None
    inverse = inverse_axes(axes)
    return lambda ct, a, axes: np.transpose(ct, inverse)


linear(
    np.transpose,
    _transpose,
    by_constants=_transpose_of_known,
    view_of=0,
    cases=[case(sample(4, 3)), case(sample(2, 4, 3), (1, 2, 0)), case(sample(2, 4, 3), axes=(2, 0, -2))],
)
linear(np.matrix_transpose, lambda ct, x: np.matrix_transpose(ct), view_of=0, cases=[case(sample(2, 4, 3))])
linear(
    np.swapaxes,
    lambda ct, a, axis1, axis2: np.swapaxes(ct, axis1, axis2),
    view_of=0,
    cases=[case(sample(2, 4, 3), 0, 2)],
)
linear(
    np.moveaxis,
    lambda ct, a, source, destination: np.moveaxis(ct, destination, source),
    view_of=0,
    cases=[case(sample(2, 4, 3), 0, 2), case(sample(2, 4, 3), (0, 1), (1, 2))],
)
linear(
    np.broadcast_to,
    lambda ct, array, shape: unbroadcast(ct, array),
    view_of=0,
    always_array=True,
    cases=[case(sample(3), (4, 3)), case(sample(4, 1), (4, 3)), case(number(), (2,))],
)
linear(
    np.lib.stride_tricks.sliding_window_view,
    lambda ct, x, window_shape, axis=None: places.unwindow(ct, x, window_shape, axis),
    view_of=0,
    shape="unknown",
    cases=[case(sample(5), 3), case(sample(4, 3), (2, 2)), case(sample(4, 3), 2, axis=0)],
)
no_derivative(places.steps)
linear(
    places.strided,
    lambda ct, x, shape, steps: places.unstrided(ct, x, shape, steps),
    view_of=0,
    cases=[case(sample(5), (3, 2), (1, 2)), case(sample(4, 3), (3,), (4,))],
)
linear(
    places.unstrided,
    lambda ct, y_ct, x, shape, steps: places.strided(ct, shape, steps),
    cases=[case(sample(3, 2), sample(5), (3, 2), (1, 2))],
)


def _as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    return places.strided(x, np.shape(x) if shape is None else shape, places.steps(x, strides))


definition(
    np.lib.stride_tricks.as_strided,
    _as_strided,
    cases=[case(sample(5), (3, 2), (8, 16)), case(sample(4, 3), strides=(24, 0))],
)
linear(
    np.flip, lambda ct, m, axis=None: np.flip(ct, axis), view_of=0, cases=[case(sample(4, 3)), case(sample(4, 3), 1)]
)
linear(np.fliplr, lambda ct, m: np.fliplr(ct), view_of=0, cases=[case(sample(4, 3))])
linear(np.flipud, lambda ct, m: np.flipud(ct), view_of=0, cases=[case(sample(4, 3))])
linear(
    np.roll,
    lambda ct, a, shift, axis=None: np.roll(ct, opposite(shift), axis),
    cases=[case(sample(4, 3), 2), case(sample(4, 3), 1, axis=1), case(sample(4, 3), (1, 2), (0, 1))],
)
linear(
    np.rot90,
    lambda ct, m, k=1, axes=(0, 1): np.rot90(ct, -k, axes),
    view_of=0,
    cases=[case(sample(4, 3)), case(sample(4, 3), 3)],
)
linear(
    np.tile,
    lambda ct, A, reps: untile(ct, A, reps),
    cases=[case(sample(4, 3), 2), case(sample(3), (2, 3)), case(sample(2, 4, 3), (2, 1))],
)
linear(
    np.repeat,
    lambda ct, a, repeats, axis=None: unrepeat(ct, a, repeats, axis),
    cases=[case(sample(4, 3), 2), case(sample(4, 3), 2, axis=1), case(sample(3), np.array([1, 0, 2]), 0)],
)


linear(np.copy, lambda ct, a, order="K": ct, always_array=True, cases=[case(sample(4, 3)), case(sample(4, 3), "C")])
linear(
    np.take,
    lambda ct, a, indices, axis=None: arrays.scatter_take(ct, a, indices, axis),
    cases=[
        case(sample(4, 3), np.array([0, 2, 2]), axis=0),
        case(sample(4, 3), 1, axis=1),
        case(sample(4, 3), np.array([[0, 7], [7, 1]])),
    ],
)
linear(
    np.take_along_axis,
    lambda ct, arr, indices, axis=-1: arrays.scatter_along(ct, arr, indices, axis),
    shape="unknown",  # indices that fit along one axis need not fit along another
    cases=[
        case(sample(4, 3), np.array([[0, 2, 2, 3][k : k + 1] * 3 for k in range(4)]), 0),
        case(sample(4, 3), np.array([[0, 2]]), 1),
        case(sample(1, 3), np.array([[0], [2]]), 1),
    ],
)
linear(
    np.diagonal,
    lambda ct, a, offset=0, axis1=0, axis2=1: arrays.place_diagonal(ct, a, offset, axis1, axis2),
    view_of=0,
    shape="unknown",
    cases=[case(sample(4, 3)), case(sample(4, 3), 1), case(sample(4, 3), -2), case(sample(2, 4, 3), 0, 1, 2)],
)
linear(
    np.trace,
    lambda ct, a, offset=0, axis1=0, axis2=1: arrays.place_trace(ct, a, offset, axis1, axis2),
    cases=[case(sample(4, 3)), case(sample(4, 3), 1), case(sample(2, 4, 3), 0, 1, 2)],
)
linear(
    np.diag,
    lambda ct, v, k=0: arrays.undiag(ct, v, k),
    view_of=0,
    shape="unknown",
    cases=[case(sample(3)), case(sample(3), 1), case(sample(4, 3), -1)],
)
linear(
    places.from_diagonal,
    lambda ct, v, k=0: places.to_diagonal(ct, k),
    shape="unknown",
    cases=[case(sample(3)), case(sample(3), -1)],
)
linear(
    places.to_diagonal,
    lambda ct, m, k=0: arrays.undiag(ct, m, k),
    shape="unknown",
    cases=[case(sample(3, 3)), case(sample(4, 3), -1)],
)
linear(np.triu, lambda ct, m, k=0: np.triu(ct, k), cases=[case(sample(4, 3)), case(sample(4, 3), 1)])
linear(np.tril, lambda ct, m, k=0: np.tril(ct, k), cases=[case(sample(4, 3)), case(sample(4, 3), -1)])
linear(
    np.diff,
    lambda ct, a, n=1, axis=-1: arrays.undiff(ct, a, n, axis),
    shape="unknown",
    cases=[case(sample(4, 3)), case(sample(4, 3), 2, 0), case(sample(2))],
)


def _between(ary, start, stop, axis):
    if axis == 0:
        return ary[start:stop]
    return np.moveaxis(np.moveaxis(ary, axis, 0)[start:stop], 0, axis)


def _split(ary, indices_or_sections, axis=0):
    extent = np.shape(ary)[axis]
    if isinstance(indices_or_sections, int):
        if extent % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        step = extent // indices_or_sections
        return [_between(ary, k * step, (k + 1) * step, axis) for k in range(indices_or_sections)]
    return _split_at(ary, indices_or_sections, extent, axis)


def _array_split(ary, indices_or_sections, axis=0):
    if isinstance(ary, (list, tuple)):
        return _array_split_of(np.array(ary), len(ary), indices_or_sections, axis)
    return _array_split_of(ary, np.shape(ary)[axis], indices_or_sections, axis)


def _array_split_of(ary, extent, indices_or_sections, axis):
    """The parts of an array; NumPy asks a sequence for its length, whatever the axis."""
    if isinstance(indices_or_sections, int):
        size = extent // indices_or_sections
        extra = extent % indices_or_sections
        return [
            _between(ary, k * size + min(k, extra), (k + 1) * size + min(k + 1, extra), axis)
            for k in range(indices_or_sections)
        ]
    return _split_at(ary, indices_or_sections, extent, axis)


def _split_at(ary, places, extent, axis):
    bounds = [0, *places, extent]
    return [_between(ary, bounds[k], bounds[k + 1], axis) for k in range(len(bounds) - 1)]


SPLITS = [case(sample(6, 3), 3), case(sample(4, 6), 2, axis=1), case(sample(6), [2, 5])]
definition(np.split, _split, arrays=("ary",), cases=SPLITS)
definition(np.array_split, _array_split, arrays=(), cases=[*SPLITS, case(sample(7), 3)])
definition(
    np.hsplit,
    lambda ary, indices_or_sections: _split(ary, indices_or_sections, 0 if np.ndim(ary) == 1 else 1),
    arrays=("ary",),
    cases=[case(sample(4, 6), 2)],
)
definition(
    np.vsplit,
    lambda ary, indices_or_sections: _split(ary, indices_or_sections, 0),
    arrays=("ary",),
    cases=[case(sample(4, 6), 2)],
)
definition(
    np.dsplit,
    lambda ary, indices_or_sections: _split(ary, indices_or_sections, 2),
    arrays=("ary",),
    cases=[case(sample(2, 3, 4), 2)],
)


def _apply_along_axis(func1d, axis, arr, *args, **kwargs):
    lines = np.moveaxis(arr, axis, -1)
    rows = np.reshape(lines, (math.prod(np.shape(lines)[:-1]), np.shape(lines)[-1]))
    results = np.array([func1d(row, *args, **kwargs) for row in rows])
    whole = np.reshape(results, np.shape(lines)[:-1] + np.shape(results)[1:])
    added = np.ndim(results) - 1
    if added == 0:
        return whole
    first = axis % np.ndim(arr)
    return np.moveaxis(whole, tuple(range(-added, 0)), tuple(range(first, first + added)))


def _scaled_by_first(row, factor=1.0):
    return row * row[0] * factor


definition(
    np.apply_along_axis,
    _apply_along_axis,
    arrays=("arr",),
    cases=[
        case(np.sum, 0, sample(4, 3)),
        case(_scaled_by_first, -1, sample(2, 4, 3)),
        case(_scaled_by_first, 0, sample(4, 3), factor=0.5),
        case(np.diag, 1, sample(2, 3)),
        case(np.outer, 0, sample(2, 3), np.array([1.0, 2.0])),
        case(np.mean, 0, sample(3)),
    ],
)


def _apply_over_axes(func, a, axes):
    found = np.asarray(a)
    for axis in np.atleast_1d(axes).tolist():
        place = axis + np.ndim(a) if axis < 0 else axis
        result = np.asarray(func(found, place))
        if np.ndim(result) != np.ndim(found):
            result = np.expand_dims(result, place)
        if np.ndim(result) != np.ndim(found):
            raise ValueError("function is not returning an array of the correct shape")
        found = result
    return found


definition(
    np.apply_over_axes,
    _apply_over_axes,
    arrays=("a",),
    cases=[
        case(np.sum, sample(4, 3), 0),
        case(np.mean, sample(4, 3, 2), [0, -1]),
        case(np.cumsum, sample(4, 3), (1,)),
        case(np.median, sample(5), 0),
    ],
)
no_derivative(np.shape, np.ndim, np.size, np.broadcast_shapes, np.unravel_index, np.ravel_multi_index)

# what these rules are made of

linear(
    arrays.reshape_like,
    lambda ct, x_ct, x: reshape_like(ct, x_ct),
    view_of=0,
    cases=[case(sample(12), sample(4, 3)), case(sample(1), number())],
)
no_derivative(arrays.inverse_axes, arrays.opposite)
linear(
    arrays.scatter,
    lambda ct, x_ct, x, index: ct[index],
    cases=[case(sample(3), sample(4), np.array([0, 2, 2])), case(sample(3), sample(4, 3), 1)],
)
linear(
    arrays.scatter_take,
    lambda ct, x_ct, x, indices, axis=None: np.take(ct, indices, axis),
    cases=[case(sample(3, 3), sample(4, 3), np.array([0, 2, 2]), 0)],
)
linear(
    arrays.scatter_along,
    lambda ct, x_ct, x, indices, axis=None: np.take_along_axis(ct, indices, axis),
    cases=[case(sample(1, 3), sample(4, 3), np.array([[0, 2, 2]]), 0)],
)
linear(
    arrays.place_diagonal,
    lambda ct, x_ct, x, offset=0, axis1=0, axis2=1: np.diagonal(ct, offset, axis1, axis2),
    cases=[case(sample(3), sample(4, 3)), case(sample(2), sample(4, 3), -2)],
)
linear(
    arrays.place_trace,
    lambda ct, x_ct, x, offset=0, axis1=0, axis2=1: np.trace(ct, offset, axis1, axis2),
    cases=[case(number(), sample(4, 3))],
)
linear(
    arrays.undiag,
    lambda ct, x_ct, v, k=0: np.diag(ct, k),
    cases=[case(sample(3), sample(4, 3), 0), case(sample(4, 4), sample(3), 1)],
)
linear(
    arrays.undiff,
    lambda ct, x_ct, x, n=1, axis=-1: np.diff(ct, n, axis),
    cases=[case(sample(4, 2), sample(4, 3)), case(sample(2, 3), sample(4, 3), 2, 0)],
)
linear(
    arrays.unrepeat,
    lambda ct, x_ct, x, repeats, axis=None: np.repeat(ct, repeats, axis),
    cases=[case(sample(4, 6), sample(4, 3), 2, 1)],
)
linear(
    arrays.untile,
    lambda ct, x_ct, x, reps: np.tile(ct, reps),
    cases=[case(sample(4, 6), sample(4, 3), 2)],
)
linear(
    arrays.unpad,
    lambda ct, x_ct, x, pad_width: np.pad(ct, pad_width),
    cases=[case(sample(8, 7), sample(4, 3), 2)],
    view_of=0,
)
linear(
    places.unwindow,
    lambda ct, y_ct, x, window_shape, axis=None: np.lib.stride_tricks.sliding_window_view(ct, window_shape, axis),
    cases=[case(sample(3, 3), sample(5), 3)],
)
linear(
    places.diagonal,
    lambda ct, a, offset=0, axis1=0, axis2=1: arrays.place_diagonal(ct, a, offset, axis1, axis2),
    view_of=0,
    shape="unknown",
    cases=[case(sample(4, 3)), case(sample(4, 3), 1)],
)
linear(
    places.diag, lambda ct, v, k=0: arrays.undiag(ct, v, k), view_of=0, shape="unknown", cases=[case(sample(4, 3), -1)]
)
linear(
    arrays.unpad_places,
    lambda ct, x_ct, x, pad_width, mode: np.pad(ct, pad_width, mode=mode),
    cases=[case(sample(6, 5), sample(4, 3), 1, "edge")],
)
