"""Images between their points, ``scipy.ndimage.map_coordinates``: by B-splines (Unser, Aldroubi, Eden 1993)."""

# mypy: allow-untyped-defs, allow-untyped-calls

import itertools

import numpy as np
from scipy import ndimage

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, definition, linear, sample

MIRRORED = ("mirror", "constant", "wrap", "grid-constant")
"""Ways to go on for which SciPy's filter is that of an image mirrored about the centres of its ends."""
NEAR = 12
"""By how much SciPy continues an image of which the nearest points count beyond its ends."""


def _filtered_back(ct, input, order=3, axis=-1, output=np.float64, mode="mirror"):
    """The filter transposed: symmetric where it mirrors, but for the points at the ends, which count half."""
    size = np.shape(input)[axis]
    if mode in MIRRORED and size > 1:
        shape = [size if k == axis % np.ndim(input) else 1 for k in range(np.ndim(input))]
        ends = np.ones(size)
        ends[0], ends[size - 1] = 0.5, 0.5
        weights = np.reshape(ends, shape)
        return ndimage.spline_filter1d(ct / weights, order, axis, np.float64, mode) * weights
    matrix = ndimage.spline_filter1d(np.eye(size), order, 0, np.float64, mode)
    return np.moveaxis(np.tensordot(matrix, ct, axes=((0,), (axis,))), 0, axis)


linear(
    ndimage.spline_filter1d,
    _filtered_back,
    arrays=("input",),
    cases=[case(sample(6)), case(sample(4, 5), 2, 0), case(sample(3, 4), mode="reflect"), case(sample(1))],
)


def _spline_filter(input, order=3, output=np.float64, mode="mirror"):
    filtered = np.asarray(input) * 1.0
    for axis in range(np.ndim(input)):
        filtered = ndimage.spline_filter1d(filtered, order, axis, np.float64, mode)
    return filtered


definition(
    ndimage.spline_filter,
    _spline_filter,
    arrays=("input",),
    cases=[case(sample(6)), case(sample(4, 5), 2), case(sample(4, 3), mode="reflect")],
)


def _weights(at, order):
    """The first node of which the B-spline is not zero at each place, and the values of these B-splines there."""
    cell = np.floor(at + 0.5 * (1 - order % 2))
    t = at + 0.5 * (1 - order % 2) - cell
    values = [np.ones(np.shape(at))]
    for degree in range(1, order + 1):
        left = [np.zeros(np.shape(at)), *values]
        right = [*values, np.zeros(np.shape(at))]
        values = [((t + (degree - k)) * left[k] + ((k + 1) - t) * right[k]) / degree for k in range(degree + 1)]
    return cell.astype(int) - order // 2, np.stack(values)


def _inside(at, size, mode):
    """Places beyond the ends, brought back to where they are read."""
    if mode == "mirror":
        period = max(2.0 * size - 2.0, 1.0)
        rest = np.abs(at) % period
        return np.where(rest > size - 1.0, period - rest, rest)
    if mode == "reflect":
        rest = (at + 0.5) % (2.0 * size)
        return np.where(rest > size, 2.0 * size - rest, rest) - 0.5
    return at


def _node(place, size, mode):
    """The same for the nodes around a place."""
    if mode == "nearest":
        return np.clip(place, 0, size - 1)
    if mode == "reflect":
        rest = place % (2 * size)
        return np.where(rest >= size, 2 * size - 1 - rest, rest)
    if mode == "grid-wrap":
        return place % size
    rest = place % max(2 * size - 2, 1)
    return np.where(rest >= size, 2 * size - 2 - rest, rest)


def _map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    if output is not None and not isinstance(output, np.ndarray):
        raise NotImplementedError("a type for the result")
    mode = "reflect" if mode == "grid-mirror" else mode
    if mode not in ("constant", "nearest", "mirror", "reflect", "grid-wrap"):
        raise NotImplementedError("this mode")
    coefficients, beyond = np.asarray(input) * 1.0, 0
    if prefilter and order > 1:
        if mode == "nearest":
            coefficients, beyond = np.pad(coefficients, NEAR, mode="edge"), NEAR
        coefficients = ndimage.spline_filter(coefficients, order, np.float64, mode)
    given = np.asarray(coordinates)
    rank = np.ndim(input)
    rows = np.reshape(given, (rank, -1))
    count = np.shape(rows)[1]
    outside = np.zeros(count, bool)
    nodes, weights = [], []
    for axis in range(rank):
        size = np.shape(coefficients)[axis]
        at = rows[axis]
        if mode == "constant":
            outside = np.logical_or(outside, np.logical_or(at < 0, at > size - 1))
        first, values = _weights(_inside(at + beyond, size, mode), order)
        nodes.append(_node(first + np.arange(order + 1)[:, None], size, mode))
        weights.append(values)
    found = np.zeros(count)
    for corner in itertools.product(range(order + 1), repeat=rank):
        weight = np.ones(count)
        for axis in range(rank):
            weight = weight * weights[axis][corner[axis]]
        found = found + coefficients[tuple([near[step] for near, step in zip(nodes, corner, strict=True)])] * weight
    result = np.where(outside, cval, found)
    values = np.reshape(result, np.shape(given)[1:])
    if output is None:
        return as_result(values)
    output[...] = values
    return output


PLACES = np.array([[0.3, 2.2, 1.7], [1.2, 0.6, 2.4]])
definition(
    ndimage.map_coordinates,
    _map_coordinates,
    only=True,
    arrays=("input", "coordinates"),
    cases=[
        case(sample(4, 5), PLACES),
        case(sample(5), np.array([[0.4, 2.7, -0.3]]), order=1),
        case(sample(4, 5), PLACES + 1.2, order=2, mode="nearest"),
        case(sample(4, 5), PLACES - 1.1, order=3, mode="mirror"),
        case(sample(4, 5), PLACES - 1.1, order=3, mode="grid-wrap"),
        case(sample(4, 5), PLACES - 1.1, order=5, mode="reflect"),
        case(sample(4, 5), PLACES, order=3, prefilter=False),
        case(sample(5), np.array([[0.4, 2.7, 9.3]]), cval=1.5),
    ],
)


def _shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    rank = np.ndim(input)
    by = np.broadcast_to(shift, (rank,))
    places = np.indices(np.shape(input)) - np.reshape(by, (-1,) + (1,) * rank)
    return _map_coordinates(input, places, output, order, mode, cval, prefilter)


def _affine_transform(
    input,
    matrix,
    offset=0.0,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    rank = np.ndim(input)
    shape = np.shape(input) if output_shape is None else output_shape
    if output_shape is None and isinstance(output, np.ndarray):
        shape = np.shape(output)
    matrix = np.asarray(matrix)
    if np.ndim(matrix) == 1:
        linear_part = np.diag(matrix)
    else:
        linear_part = matrix[:rank, :rank]
    if np.ndim(matrix) == 2 and np.shape(matrix)[1] == rank + 1:
        moved = matrix[:rank, rank]
    else:
        moved = np.broadcast_to(offset, (rank,))
    grid = np.reshape(np.indices(shape), (rank, -1))
    places = np.reshape(linear_part @ grid + moved[:, None], (rank, *shape))
    return _map_coordinates(input, places, output, order, mode, cval, prefilter)


definition(
    ndimage.shift,
    _shift,
    only=True,
    arrays=("input", "shift"),
    cases=[
        case(sample(4, 5), np.array([0.3, -1.2])),
        case(sample(5), 0.4, order=1, mode="nearest"),
        case(sample(4, 3), 1.3, mode="mirror"),
    ],
)
definition(
    ndimage.affine_transform,
    _affine_transform,
    only=True,
    arrays=("input", "matrix", "offset"),
    cases=[
        case(sample(4, 5), np.array([[0.9, 0.2], [-0.1, 1.1]]), np.array([0.25, 0.17])),
        case(sample(4, 5), np.array([[0.9, 0.2, 0.3], [-0.1, 1.1, 0.1]]), mode="reflect"),
        case(sample(5), np.array([0.7]), 0.3, order=1),
        case(sample(4, 5), np.array([[0.9, 0.2], [-0.1, 1.1]]), output_shape=(3, 2)),
    ],
)


def _zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    if grid_mode:
        raise NotImplementedError("grid_mode=True")
    rank = np.ndim(input)
    before = np.array(np.shape(input))
    after = np.rint(before * np.broadcast_to(zoom, (rank,))).astype(int)
    steps = np.where(after > 1, (before - 1) / np.maximum(after - 1, 1), 1.0)
    places = np.indices(tuple([int(size) for size in after])) * np.reshape(steps, (-1,) + (1,) * rank)
    return _map_coordinates(input, places, output, order, mode, cval, prefilter)


definition(
    ndimage.zoom,
    _zoom,
    only=True,
    arrays=("input", "zoom"),
    cases=[case(sample(4, 5), 1.6), case(sample(4, 3), np.array([0.7, 2.0]), order=1, mode="nearest")],
)
