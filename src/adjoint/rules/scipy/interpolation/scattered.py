"""Values between scattered points: radial basis functions, triangulations, nearest neighbours.

Which triangle a place lies in, and which points are its neighbours, changes by steps: it counts as given.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import itertools

import numpy as np
from scipy import interpolate

from adjoint.rules.declare import definition
from adjoint.runtime.numerical_methods.of_scipy.spatial import corners, neighbours

# --- radial basis functions: as they were first -----------------------------------------------------------------------


def _root(squares):
    """The distances; the slope of one that is zero is zero."""
    none = squares == 0
    return np.where(none, 0.0, np.sqrt(np.where(none, 1.0, squares)))


def _thin_plate(squares):
    return 0.5 * squares * np.log(np.where(squares == 0, 1.0, squares))


def _old_radial(function, squares, epsilon):
    name = function.lower()
    if name == "multiquadric":
        return np.sqrt(squares / epsilon**2 + 1.0)
    if name in ("inverse_multiquadric", "inverse", "inverse multiquadric"):
        return 1.0 / np.sqrt(squares / epsilon**2 + 1.0)
    if name == "gaussian":
        return np.exp(-squares / epsilon**2)
    if name == "linear":
        return _root(squares)
    if name == "cubic":
        return squares * _root(squares)
    if name == "quintic":
        return squares**2 * _root(squares)
    if name in ("thin_plate", "thin-plate"):
        return _thin_plate(squares)
    raise NotImplementedError("this function")


class OldRadial:
    """``Rbf``: values by the distances from all points."""

    def __init__(self, *args, function="multiquadric", epsilon=None, smooth=0.0, norm="euclidean", mode="1-D"):
        if not isinstance(function, str) or mode != "1-D" or norm != "euclidean":
            raise NotImplementedError("a function, a distance or several values of one's own")
        self.xi = np.stack([np.ravel(arg) for arg in args[:-1]])
        self.di = np.ravel(args[-1])
        self.function = function
        count = np.shape(self.xi)[1]
        if epsilon is None:
            edges = np.max(self.xi, axis=1) - np.min(self.xi, axis=1)
            there = edges != 0
            whole = np.prod(np.where(there, edges, 1.0)) / count
            self.epsilon = whole ** (1.0 / np.sum(there))
        else:
            self.epsilon = epsilon
        squares = _squares(np.transpose(self.xi), np.transpose(self.xi))
        matrix = _old_radial(function, squares, self.epsilon) - np.eye(count) * smooth
        self.nodes = np.linalg.solve(matrix, self.di)

    def __call__(self, *args):
        points = np.stack([np.ravel(arg) for arg in args], axis=1)
        squares = _squares(points, np.transpose(self.xi))
        return np.reshape(_old_radial(self.function, squares, self.epsilon) @ self.nodes, np.shape(args[0]))


def _squares(a, b):
    return np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)


definition(interpolate.Rbf, OldRadial, arrays=())

# --- radial basis functions -------------------------------------------------------------------------------------------

_LEAST_DEGREES = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}
_WITHOUT_SCALE = ("linear", "thin_plate_spline", "cubic", "quintic")


def _radial(kernel, squares):
    """A kernel by the squares of distances."""
    if kernel == "linear":
        return -_root(squares)
    if kernel == "thin_plate_spline":
        return _thin_plate(squares)
    if kernel == "cubic":
        return squares * _root(squares)
    if kernel == "quintic":
        return -(squares**2) * _root(squares)
    if kernel == "multiquadric":
        return -np.sqrt(squares + 1.0)
    if kernel == "inverse_multiquadric":
        return 1.0 / np.sqrt(squares + 1.0)
    if kernel == "inverse_quadratic":
        return 1.0 / (squares + 1.0)
    if kernel == "gaussian":
        return np.exp(-squares)
    raise NotImplementedError("this kernel")


def _monomials(x, degree):
    """Products of coordinates up to a degree, as columns."""
    columns = [np.ones(len(x))]
    for number in range(1, degree + 1):
        for factors in itertools.combinations_with_replacement(range(np.shape(x)[1]), number):
            product = np.ones(len(x))
            for place in factors:
                product = product * x[:, place]
            columns.append(product)
    return np.stack(columns, axis=1)


class Radial:
    """``RBFInterpolator`` of all points: a sum of functions of distances, and a polynomial."""

    def __init__(self, y, d, neighbors=None, smoothing=0.0, kernel="thin_plate_spline", epsilon=None, degree=None):
        if neighbors is not None:
            raise NotImplementedError("some of the neighbours")
        kernel = kernel.lower()
        if epsilon is None and kernel not in _WITHOUT_SCALE:
            raise ValueError(f"`epsilon` must be specified if `kernel` is not one of {set(_WITHOUT_SCALE)}.")
        self.y, self.kernel, self.values = np.asarray(y) * 1.0, kernel, np.asarray(d) * 1.0
        self.epsilon = 1.0 if epsilon is None else epsilon
        self.degree = max(_LEAST_DEGREES.get(kernel, -1), 0) if degree is None else degree
        count = len(self.y)
        low, high = np.min(self.y, axis=0), np.max(self.y, axis=0)
        self._shift = 0.5 * (high + low)
        self._scale = np.where(high == low, 1.0, 0.5 * (high - low))
        matrix = _radial(kernel, self.epsilon**2 * _squares(self.y, self.y)) + smoothing * np.eye(count)
        right = np.reshape(self.values, (count, -1))
        if self.degree >= 0:
            tail = _monomials((self.y - self._shift) / self._scale, self.degree)
            none = np.zeros((np.shape(tail)[1], np.shape(tail)[1]))
            upper = np.concatenate([matrix, tail], axis=1)
            lower = np.concatenate([np.transpose(tail), none], axis=1)
            matrix = np.concatenate([upper, lower])
            right = np.concatenate([right, np.zeros((np.shape(tail)[1], np.shape(right)[1]))])
        self._coeffs = np.linalg.solve(matrix, right)

    def __call__(self, x):
        points = np.asarray(x)
        features = _radial(self.kernel, self.epsilon**2 * _squares(points, self.y))
        if self.degree >= 0:
            tail = _monomials((points - self._shift) / self._scale, self.degree)
            features = np.concatenate([features, tail], axis=1)
        return np.reshape(features @ self._coeffs, np.shape(points)[:1] + np.shape(self.values)[1:])


def _known_radial(self, x):
    """A call of an object whose points and values are given."""
    if self.neighbors is not None:
        raise NotImplementedError("some of the neighbours")
    points = np.asarray(x)
    features = _radial(self.kernel, self.epsilon**2 * _squares(points, self.y))
    moved = (points - self._shift) / self._scale
    tail = np.prod(moved[:, None, :] ** self.powers, axis=-1)
    features = np.concatenate([features, tail], axis=1)
    return np.reshape(features @ self._coeffs, np.shape(points)[:1] + tuple(self.d_shape))


definition(interpolate.RBFInterpolator, Radial, arrays=())
definition(interpolate.RBFInterpolator.__call__, _known_radial, arrays=())

# --- triangulations and nearest neighbours ----------------------------------------------------------------------------


def _rows(points, rank):
    """Points in rows, and the shape of what they stand for."""
    if isinstance(points, tuple):
        joined = np.stack(np.broadcast_arrays(*points), axis=-1)
    else:
        joined = np.asarray(points) * 1.0
        if np.ndim(joined) == 1:
            joined = np.reshape(joined, (-1, 1)) if rank == 1 else np.reshape(joined, (1, -1))
    return np.reshape(joined, (-1, np.shape(joined)[-1])), np.shape(joined)[:-1]


def _linear_value(points, values, xi, fill_value):
    known, _ = _rows(points, None)
    asked, shape = _rows(xi, np.shape(known)[1])
    places = corners(known, asked)
    inside = places[:, 0] >= 0
    safe = np.where(inside[:, None], places, corners(known, np.mean(known, axis=0)[None, :])[:1])
    last = known[safe[:, -1]]
    edges = np.swapaxes(known[safe[:, :-1]] - last[:, None, :], -1, -2)
    shares = np.linalg.solve(edges, (asked - last)[:, :, None])[:, :, 0]
    shares = np.concatenate([shares, 1.0 - np.sum(shares, axis=1, keepdims=True)], axis=1)
    flat = np.reshape(np.asarray(values) * 1.0, (len(known), -1))
    found = np.sum(shares[:, :, None] * flat[safe], axis=1)
    found = np.where(inside[:, None], found, fill_value)
    return np.reshape(found, shape + np.shape(values)[1:])


def _nearest_value(points, values, xi):
    known, _ = _rows(points, None)
    asked, shape = _rows(xi, np.shape(known)[1])
    found = np.asarray(values)[neighbours(known, asked)]
    return np.reshape(found, shape + np.shape(values)[1:])


class Linear:
    """``LinearNDInterpolator``"""

    def __init__(self, points, values, fill_value=np.nan, rescale=False):
        if rescale:
            raise NotImplementedError("'rescale'")
        self.points, self.values, self.fill_value = points, values, fill_value

    def __call__(self, *args):
        return _linear_value(self.points, self.values, args[0] if len(args) == 1 else args, self.fill_value)


class Nearest:
    """``NearestNDInterpolator``"""

    def __init__(self, x, y, rescale=False, tree_options=None):
        if rescale or tree_options is not None:
            raise NotImplementedError("these options")
        self.points, self.values = x, y

    def __call__(self, *args):
        return _nearest_value(self.points, self.values, args[0] if len(args) == 1 else args)


def _griddata(points, values, xi, method="linear", fill_value=np.nan, rescale=False):
    if rescale:
        raise NotImplementedError("'rescale'")
    if not isinstance(points, tuple) and np.ndim(points) < 2:
        raise NotImplementedError("one dimension: use np.interp")
    if method == "nearest":
        return _nearest_value(points, values, xi)
    if method == "linear":
        return _linear_value(points, values, xi, fill_value)
    raise NotImplementedError("this method")


definition(interpolate.LinearNDInterpolator, Linear, arrays=())
definition(interpolate.NearestNDInterpolator, Nearest, arrays=())
definition(interpolate.griddata, _griddata, arrays=())
