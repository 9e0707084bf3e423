"""Surfaces of FITPACK on grids: ``RectBivariateSpline`` through all values, and given ones, by places."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import interpolate

from adjoint.rules.declare import definition
from adjoint.rules.scipy.interpolation.interpolate import _basis
from adjoint.rules.scipy.interpolation.interpolators import Spline, _make_interp_spline, _spline_derivative

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
