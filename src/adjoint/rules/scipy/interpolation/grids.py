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
    places, shares = [], []
    inside = np.ones(len(rows), bool)
    for axis in range(rank):
        line, at = np.asarray(grid[axis]), rows[:, axis]
        sign = np.where(line[0] > line[-1], -1.0, 1.0)
        inside = np.logical_and(inside, np.logical_and(sign * at >= sign * line[0], sign * at <= sign * line[-1]))
        place = np.clip(np.searchsorted(sign * line, sign * at) - 1, 0, len(line) - 2)
        places.append(place)
        shares.append((at - line[place]) / (line[place + 1] - line[place]))
    if bounds_error and not np.all(np.logical_or(inside, np.isnan(np.sum(rows, axis=1)))):
        raise ValueError("One of the requested xi is out of bounds")
    later = (1,) * (np.ndim(values) - rank)
    if method == "linear":
        found = np.zeros((len(rows), *np.shape(values)[rank:]))
        for corner in itertools.product((0, 1), repeat=rank):
            weight = np.ones(len(rows))
            for axis in range(rank):
                weight = weight * (shares[axis] if corner[axis] == 1 else 1.0 - shares[axis])
            at_corner = values[tuple([place + step for place, step in zip(places, corner, strict=True)])]
            found = found + at_corner * np.reshape(weight, (-1, *later))
    elif method == "nearest":
        found = values[tuple([np.where(s <= 0.5, p, p + 1) for p, s in zip(places, shares, strict=True)])]
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
    return _spline_value_on_grid(rank, knots, c, rows, order)


def _spline_value_on_grid(rank, knots, c, rows, order):
    starts, bases = [], []
    for axis in range(rank):
        start, basis = _basis(rows[:, axis], np.asarray(knots[axis]), order)
        starts.append(start)
        bases.append(basis)
    found = np.zeros((len(rows), *np.shape(c)[rank:]))
    later = (1,) * (np.ndim(c) - rank)
    for corner in itertools.product(range(order + 1), repeat=rank):
        weight = np.ones(len(rows))
        for axis in range(rank):
            weight = weight * bases[axis][corner[axis]]
        at_corner = c[tuple([start + step for start, step in zip(starts, corner, strict=True)])]
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
