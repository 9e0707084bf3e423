"""Values on grids, and splines through them, in several directions: by values and places."""

# mypy: allow-untyped-defs, allow-untyped-calls

import itertools

import numpy as np
from scipy import interpolate

from adjoint.rules.declare import case, definition, sample
from adjoint.rules.scipy.interpolation.interpolate import _basis
from adjoint.rules.scipy.interpolation.interpolators import X, _make_interp_spline

SPLINES = ("slinear", "cubic", "quintic")
"""Methods that go on with splines."""


def _points(xi, rank):
    """Points in rows, and the shape of what they stand for."""
    rows = np.stack(np.broadcast_arrays(*xi), axis=-1) if isinstance(xi, tuple) else np.asarray(xi)
    if np.ndim(rows) < 2:
        rows = np.reshape(rows, (-1, rank))
    return np.reshape(rows, (-1, rank)), np.shape(rows)[:-1]


def _grid_value(grid, values, xi, method, bounds_error, fill_value):
    rank = len(grid)
    values = np.asarray(values)
    rows, shape = _points(xi, rank)
    along = [_interval(np.asarray(grid[axis]), rows[:, axis]) for axis in range(rank)]
    inside = np.ones(len(rows), bool)
    for axis in range(rank):
        inside = np.logical_and(inside, along[axis][2])
    if bounds_error and not np.all(np.logical_or(inside, np.isnan(np.sum(rows, axis=1)))):
        raise ValueError("One of the requested xi is out of bounds")
    later = (1,) * (np.ndim(values) - rank)
    if method == "linear":
        found = _sum_over_corners(values, [(place, (1.0 - share, share)) for place, share, _ in along], rank, 2)
    elif method == "nearest":
        found = values[tuple([np.where(share <= 0.5, place, place + 1) for place, share, _ in along])]
    elif method in SPLINES:
        order = 1 if method == "slinear" else 3 if method == "cubic" else 5
        if (order + 1) ** rank > 100:
            raise NotImplementedError("splines in so many directions")
        found = _spline_on_grid(grid, values, rows, order)
    else:
        raise NotImplementedError("this method")
    if not bounds_error and fill_value is not None:
        found = np.where(np.reshape(inside, (-1, *later)), found, fill_value)
    return np.reshape(found, shape + np.shape(values)[rank:])


def _spline_on_grid(grid, values, rows, order):
    """A spline in all directions: coefficients along one axis after another, and products of their B-splines."""
    rank = len(grid)
    c, knots = values * 1.0, []
    for axis in range(rank):
        line = np.asarray(grid[axis]) * 1.0
        if np.any(np.diff(line) <= 0.0):
            raise ValueError("derivatives are known of splines on grids that ascend")
        spline = _make_interp_spline(line, c, k=order, axis=axis)
        c = np.moveaxis(spline.c, 0, axis)
        knots.append(spline.t)
    bases = [_basis(rows[:, axis], np.asarray(knots[axis]), order) for axis in range(rank)]
    return _sum_over_corners(c, bases, rank, order + 1)


def _interval(line, at):
    """Between which points of an axis some places lie, at which share of it, and whether they are inside."""
    sign = np.where(line[0] > line[-1], -1.0, 1.0)
    inside = np.logical_and(sign * at >= sign * line[0], sign * at <= sign * line[-1])
    place = np.clip(np.searchsorted(sign * line, sign * at) - 1, 0, len(line) - 2)
    return place, (at - line[place]) / (line[place + 1] - line[place]), inside


def _sum_over_corners(values, along, rank, count):
    """The values around some points, times products of what the ``count`` functions along each axis are there.

    ``along`` has for each of ``rank`` axes the place of the first value, and the functions.
    """
    points = len(along[0][0])
    found = np.zeros((points, *np.shape(values)[rank:]))
    later = (1,) * (np.ndim(values) - rank)
    for corner in itertools.product(range(count), repeat=rank):
        weight = np.ones(points)
        for axis in range(rank):
            weight = weight * along[axis][1][corner[axis]]
        at_corner = values[tuple([start + step for (start, _), step in zip(along, corner, strict=True)])]
        found = found + at_corner * np.reshape(weight, (-1, *later))
    return found


class Grid:
    """Values on a grid of points."""

    def __init__(self, grid, values, method, bounds_error, fill_value):
        self.grid, self.values, self.method = grid, values, method
        self.bounds_error, self.fill_value = bounds_error, fill_value

    def __call__(self, xi, method=None, *, nu=None):
        return _regular_grid_value(self, xi, method, nu=nu)


def _regular_grid_value(self, xi, method=None, *, nu=None):
    if nu is not None:
        raise NotImplementedError("derivatives")
    chosen = self.method if method is None else method
    if chosen in SPLINES and isinstance(self, interpolate.RegularGridInterpolator):
        raise NotImplementedError("a spline that was made outside of what is differentiated")
    return _grid_value(self.grid, self.values, xi, chosen, self.bounds_error, self.fill_value)


definition(interpolate.RegularGridInterpolator.__call__, _regular_grid_value, only=True, arrays=())


def _regular_grid(points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None):
    if method in ("cubic", "quintic") and solver is None:
        raise NotImplementedError("coefficients that SciPy finds to five digits; solver=scipy.sparse.linalg.spsolve")
    return Grid(points, values, method, bounds_error, fill_value)


definition(interpolate.RegularGridInterpolator, _regular_grid, only=True, arrays=())


def _interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    if method in ("cubic", "quintic"):
        raise NotImplementedError("coefficients that SciPy finds to five digits")
    return _grid_value(points, values, xi, method, bounds_error, fill_value)


definition(
    interpolate.interpn,
    _interpn,
    arrays=(),
    cases=[
        case((X, np.arange(4.0)), sample(5, 4), np.array([[0.3, 1.2], [1.9, 2.7]])),
        case((X, np.arange(4.0)), sample(5, 4), np.array([[0.3, 1.2], [1.9, 2.7]]), "slinear"),
    ],
)
