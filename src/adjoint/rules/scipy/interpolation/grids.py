"""Values on grids, and splines through them, in several directions: by values and places."""

import numpy as np
from scipy import interpolate

# mypy: allow-untyped-defs, allow-untyped-calls
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, definition, no_derivative, sample
from adjoint.rules.scipy.interpolation.interpolate import _basis
from adjoint.rules.scipy.interpolation.interpolators import Spline, X, _make_interp_spline, _pchip, _spline_derivative
from adjoint.runtime.numerical_methods.of_scipy.choices import grid_coefficients

SPLINES = ("slinear", "cubic", "quintic")
"""Methods that go on with splines."""


def _degree(method):
    return 1 if method == "slinear" else 3 if method == "cubic" else 5


def _points(xi, rank):
    """Points in rows, and the shape of what they stand for."""
    rows = np.stack(np.broadcast_arrays(*xi), axis=-1) if isinstance(xi, tuple) else np.asarray(xi)
    if np.ndim(rows) < 2:
        rows = np.reshape(rows, (-1, rank))
    return np.reshape(rows, (-1, rank)), np.shape(rows)[:-1]


def _grid_value(grid, values, xi, method, bounds_error, fill_value, spline, nu):
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
    if nu is not None and method not in SPLINES:
        raise ValueError("Can only compute derivatives for splines")
    if method == "linear":
        found = _sum_over_corners(values, [(place, np.stack([1.0 - share, share])) for place, share, _ in along])
    elif method == "nearest":
        found = values[tuple([np.where(share <= 0.5, place, place + 1) for place, share, _ in along])]
    elif method in SPLINES:
        found = _tensor_value(spline, rows, nu)
    elif method == "pchip":
        found = _pchip_on_grid(grid, values, rows)
    else:
        raise NotImplementedError("this method")
    if not bounds_error and fill_value is not None:
        found = np.where(np.reshape(inside, (-1, *later)), found, fill_value)
    return np.reshape(found, shape + np.shape(values)[rank:])


def _ascends(grid):
    for line in grid:
        if np.any(np.diff(line) <= 0.0):
            raise ValueError("derivatives are known of splines on grids that ascend")


class Tensor:
    """``NdBSpline``: a sum of products of B-splines, one of each direction."""

    def __init__(self, t, c, k, *, extrapolate=None):
        self.t, self.c = t, np.asarray(c) * 1.0
        self.k = (k,) * len(t) if isinstance(k, int) else k
        self.extrapolate = True if extrapolate is None else extrapolate

    def __call__(self, xi, *, nu=None, extrapolate=None):
        return _tensor_at(self, xi, nu=nu, extrapolate=extrapolate)


def _tensor_at(self, xi, *, nu=None, extrapolate=None):
    rank = len(self.t)
    given = np.asarray(xi)
    rows = np.reshape(given, (-1, rank))
    found = _tensor_value(self, rows, nu)
    if not (self.extrapolate if extrapolate is None else extrapolate):
        inside = np.ones(len(rows), bool)
        for axis, (t, k) in enumerate(zip(self.t, self.k)):  # noqa: B905
            inside = np.logical_and(inside, (rows[:, axis] >= t[k]) & (rows[:, axis] <= t[len(t) - k - 1]))
        found = np.where(np.reshape(inside, (-1,) + (1,) * (np.ndim(found) - 1)), found, np.nan)
    return np.reshape(found, np.shape(given)[:-1] + np.shape(self.c)[rank:])


def _tensor_value(self, rows, nu):
    """At points in rows, ``nu`` times differentiated along each axis."""
    c, along = self.c, []
    for axis, (t, k) in enumerate(zip(self.t, self.k)):  # noqa: B905
        line = Spline(np.asarray(t), np.moveaxis(c, axis, 0), int(k))
        if nu is not None:
            line = _spline_derivative(line, nu[axis])
        c = np.moveaxis(line.c, 0, axis)
        along.append(_basis(rows[:, axis], line.t, line.k))
    return _sum_over_corners(c, along)


def _spline_on_grid(grid, values, method):
    """The spline through all values: coefficients along one axis after another."""
    _ascends(grid)
    c, knots, k = values * 1.0, [], _degree(method)
    for axis in range(len(grid)):
        line = _make_interp_spline(np.asarray(grid[axis]) * 1.0, c, k=k, axis=axis)
        c = np.moveaxis(line.c, 0, axis)
        knots.append(line.t)
    return Tensor(tuple(knots), c, k)


def _spline_as_found(grid, values, method):
    """The same with the coefficients that SciPy finds by iteration, to five digits; they move as the exact ones do."""
    exact = _spline_on_grid(grid, values, method)
    found = grid_coefficients(stop_gradient(tuple(grid)), stop_gradient(values), method)
    return Tensor(exact.t, exact.c + stop_gradient(found - exact.c), _degree(method))


no_derivative(grid_coefficients)


def _pchip_on_grid(grid, values, rows):
    """Cubics that keep the order of values, along one axis after another from the last, as SciPy has them."""
    _ascends(grid)
    rank = len(grid)
    found = np.broadcast_to(values, (len(rows), *np.shape(values)))
    every = np.arange(len(rows))
    for step in range(rank):
        axis = rank - 1 - step
        curve = _pchip(np.asarray(grid[axis]), np.moveaxis(found, axis + 1, 0))
        at = rows[:, axis]
        place = np.clip(np.searchsorted(curve.x, at, side="right") - 1, 0, len(curve.x) - 2)
        own = curve.c[:, place, every]
        s = np.reshape(at - curve.x[place], (-1,) + (1,) * (np.ndim(own) - 2))
        found = ((own[0] * s + own[1]) * s + own[2]) * s + own[3]
    return found


def _interval(line, at):
    """Between which points of an axis some places lie, at which share of it, and whether they are inside."""
    sign = np.where(line[0] > line[-1], -1.0, 1.0)
    inside = np.logical_and(sign * at >= sign * line[0], sign * at <= sign * line[-1])
    place = np.clip(np.searchsorted(sign * line, sign * at) - 1, 0, len(line) - 2)
    return place, (at - line[place]) / (line[place + 1] - line[place]), inside


def _sum_over_corners(values, along):
    """The values around some points, times products of what the functions along each axis are there.

    ``along`` has for each axis the place of the first value, and the functions in rows.
    """
    rank, places, weight = len(along), [], np.ones(())
    for axis, (start, functions) in enumerate(along):
        count = np.shape(functions)[0]
        shape = (-1, *[count if other == axis else 1 for other in range(rank)])
        places.append(np.reshape(start[:, None] + np.arange(count), shape))
        weight = weight * np.reshape(np.transpose(functions), shape)
    weights = np.reshape(weight, np.shape(weight) + (1,) * (np.ndim(values) - rank))
    return np.sum(values[tuple(places)] * weights, axis=tuple(range(1, rank + 1)))


class Grid:
    """Values on a grid of points; ``is_exact`` is whether a spline is to be found by a direct solver."""

    def __init__(self, grid, values, method, bounds_error, fill_value, is_exact):
        self.grid, self.values, self.method = grid, values, method
        self.bounds_error, self.fill_value = bounds_error, fill_value
        self._spline = _spline_by_name(grid, values, method, is_exact)

    def __call__(self, xi, method=None, *, nu=None):
        return _regular_grid_value(self, xi, method, nu=nu)


def _spline_by_name(grid, values, method, is_exact):
    if method not in SPLINES:
        return None
    return (_spline_on_grid if is_exact else _spline_as_found)(grid, np.asarray(values), method)


def _regular_grid_value(self, xi, method=None, *, nu=None):
    chosen = self.method if method is None else method
    spline = self._spline if chosen == self.method else _spline_by_name(self.grid, self.values, chosen, False)
    return _grid_value(self.grid, self.values, xi, chosen, self.bounds_error, self.fill_value, spline, nu)


definition(interpolate.RegularGridInterpolator.__call__, _regular_grid_value, only=True, arrays=())
definition(interpolate.NdBSpline.__call__, _tensor_at, only=True, arrays=())
definition(interpolate.NdBSpline, Tensor, only=True, arrays=())


def _regular_grid(
    points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None, solver_args=None
):
    if solver_args is not None:
        raise NotImplementedError("arguments for the solver")
    return Grid(points, values, method, bounds_error, fill_value, solver is not None or method == "slinear")


definition(interpolate.RegularGridInterpolator, _regular_grid, only=True, arrays=())


def _interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    return _regular_grid(points, values, method, bounds_error, fill_value)(xi)


definition(
    interpolate.interpn,
    _interpn,
    arrays=(),
    cases=[
        case((X, np.arange(4.0)), sample(5, 4), np.array([[0.3, 1.2], [1.9, 2.7]])),
        case((X, np.arange(4.0)), sample(5, 4), np.array([[0.3, 1.2], [1.9, 2.7]]), "slinear"),
    ],
)


# Surfaces of FITPACK on grids: ``RectBivariateSpline`` through all values, and given ones, by places


_CLASS = interpolate.BivariateSpline


def _value(tck, degrees, x, y, dx, dy, grid):
    """The sum of products of B-splines, whose coefficients lie in a matrix."""
    tx, ty, c = tck
    kx, ky = degrees
    rows = np.reshape(np.asarray(c), (len(tx) - kx - 1, len(ty) - ky - 1))
    along_x = Spline(tx, rows, kx)
    if dx > 0:
        along_x = _spline_derivative(along_x, dx)
    along_y = Spline(ty, np.transpose(along_x.c), ky)
    if dy > 0:
        along_y = _spline_derivative(along_y, dy)
    matrix = np.transpose(along_y.c)
    at_x, in_x = _weights(x, along_x.t, along_x.k)
    at_y, in_y = _weights(y, along_y.t, along_y.k)
    if grid:
        chosen = matrix[at_x[:, None, :, None], at_y[None, :, None, :]]
        return np.sum(chosen * in_x[:, None, :, None] * in_y[None, :, None, :], axis=(2, 3))
    chosen = matrix[at_x[:, :, None], at_y[:, None, :]]
    return np.sum(chosen * in_x[:, :, None] * in_y[:, None, :], axis=(1, 2))


def _weights(x, t, k):
    """Of each place, which B-splines are not zero, and how large they are; beyond the ends as at them."""
    points = np.clip(np.ravel(x), t[k], t[len(t) - k - 1])
    start, values = _basis(points, t, k)
    return start[:, None] + np.arange(k + 1), np.transpose(values)


def _surface_value(self, x, y, dx=0, dy=0, grid=True):
    if grid:
        return _value(self.tck, self.degrees, x, y, dx, dy, True)
    first, second = np.broadcast_arrays(np.asarray(x), np.asarray(y))
    return np.reshape(_value(self.tck, self.degrees, first, second, dx, dy, False), np.shape(first))


def _surface_at(self, xi, yi, dx=0, dy=0):
    return _surface_value(self, xi, yi, dx, dy, False)


class Surface:
    """A surface made of values that vary."""

    def __init__(self, x, y, z, bbox=(None, None, None, None), kx=3, ky=3, s=0, maxit=20):
        if s != 0 or any(each is not None for each in bbox):
            raise NotImplementedError("'s' above zero, or 'bbox'")
        first = _make_interp_spline(x, z, k=kx)
        second = _make_interp_spline(y, np.transpose(first.c), k=ky)
        self.tck = (first.t, second.t, np.ravel(np.transpose(second.c)))
        self.degrees = (kx, ky)

    def __call__(self, x, y, dx=0, dy=0, grid=True):
        return _surface_value(self, x, y, dx, dy, grid)

    def ev(self, xi, yi, dx=0, dy=0):
        return _surface_value(self, xi, yi, dx, dy, False)


definition(_CLASS.__call__, _surface_value, arrays=())
definition(_CLASS.ev, _surface_at, arrays=())
definition(interpolate.RectBivariateSpline, Surface, arrays=())
