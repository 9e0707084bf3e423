"""``interp1d``, and the splines of FITPACK, made of what varies: by values, nodes and places.

Their objects are calls of curves that :mod:`adjoint.rules.scipy.interpolation.interpolators` knows. Where a spline
goes through all values, its knots follow from the nodes; those that smooth are a module of their own.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import interpolate

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, definition, number, sample
from adjoint.rules.scipy.interpolation.interpolate import _basis
from adjoint.rules.scipy.interpolation.interpolators import Spline, _make_interp_spline, _spline_value, _with_axis

# --- interp1d ---------------------------------------------------------------------------------------------------------

_NO_SPLINES = ("linear", "nearest", "nearest-up", "previous", "next")
_ORDERS = {"slinear": 1, "quadratic": 2, "cubic": 3}


class Line:
    """A curve through values, of which the places count from the first node to the last.

    A ``spline`` is made with it, of the kinds that are splines: it is asked for many values.
    """

    def __init__(self, x, y, kind, axis, bounds_error, fill_value):
        self.x, self.y, self.kind, self.axis = x, y, kind, axis
        self.bounds_error, self.fill_value = bounds_error, fill_value
        self.spline = _spline_of(x, y, kind, axis)

    def __call__(self, x):
        return _line_value(self.x, self.y, self.spline, self.kind, self.axis, self.bounds_error, self.fill_value, x)


def _spline_of(nodes, values, kind, axis):
    if kind in _NO_SPLINES:
        return None
    order = _ORDERS[kind] if isinstance(kind, str) else kind
    return _make_interp_spline(nodes, _in_columns(values, axis), k=order)


def _in_columns(values, axis):
    return np.reshape(np.moveaxis(values, axis, 0), (np.shape(values)[axis], -1))


def _interp1d(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False):
    nodes, values = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    if not assume_sorted:
        order = np.argsort(nodes, kind="mergesort")
        nodes, values = nodes[order], np.take(values, order, axis=axis)
    if isinstance(kind, str):
        if kind not in (*_NO_SPLINES, "slinear", "quadratic", "cubic"):
            raise NotImplementedError("this kind")
    elif kind not in (1, 2, 3, 4, 5):
        raise NotImplementedError("this kind")
    if isinstance(fill_value, str):
        if bounds_error:
            raise ValueError("Cannot extrapolate and raise at the same time.")
        strict = False
    else:
        strict = True if bounds_error is None else bounds_error
    return Line(nodes, values, kind, axis % np.ndim(y), strict, fill_value)


def _line_value(nodes, values, spline, kind, axis, bounds_error, fill_value, x):
    points, n = np.ravel(x), len(nodes)
    flat = _in_columns(values, axis)
    if kind == "linear":
        place = np.clip(np.searchsorted(nodes, points), 1, n - 1)
        low, high = nodes[place - 1], nodes[place]
        share = ((points - low) / (high - low))[:, None]
        found = flat[place - 1] + share * (flat[place] - flat[place - 1])
    elif kind == "nearest" or kind == "nearest-up":
        middles = nodes[:-1] / 2.0 + nodes[1:] / 2.0
        place = np.searchsorted(middles, points, side="left" if kind == "nearest" else "right")
        found = flat[np.clip(place, 0, n - 1)]
    elif kind == "previous":
        found = flat[np.clip(np.searchsorted(nodes, points, side="right") - 1, 0, n - 1)]
    elif kind == "next":
        found = flat[np.clip(np.searchsorted(nodes, points, side="left"), 0, n - 1)]
    else:
        found = spline(points)
    below, above = points < nodes[0], points > nodes[n - 1]
    if bounds_error and np.any(np.logical_or(below, above)):
        raise ValueError("A value in x_new is outside of the interpolation range.")
    if isinstance(fill_value, str):
        if kind == "previous":
            found = np.where(below[:, None], np.nan, found)
        elif kind == "next":
            found = np.where(above[:, None], np.nan, found)
    elif isinstance(fill_value, tuple):
        found = np.where(below[:, None], np.ravel(fill_value[0]), found)
        found = np.where(above[:, None], np.ravel(fill_value[1]), found)
    else:
        found = np.where(np.logical_or(below, above)[:, None], np.ravel(fill_value), found)
    return _with_axis(np.reshape(found, np.shape(x) + np.shape(np.moveaxis(values, axis, 0))[1:]), np.ndim(x), axis)


definition(interpolate.interp1d, _interp1d, arrays=())

# --- splines of FITPACK -----------------------------------------------------------------------------------------------


class Fitted:
    """A spline with its knots and coefficients, and what it is beyond the ends."""

    def __init__(self, tck, ext):
        self._eval_args, self.ext = tck, ext

    def __call__(self, x, nu=0, ext=None):
        return _fitted_value(self, x, nu, ext)

    def derivative(self, n=1):
        return _fitted_derivative(self, n)

    def antiderivative(self, n=1):
        return _fitted_antiderivative(self, n)

    def integral(self, a, b):
        return _fitted_integral(self, a, b)

    def derivatives(self, x):
        return _fitted_derivatives(self, x)

    def get_coeffs(self):
        t, c, k = self._eval_args
        return c[: len(t) - k - 1]

    def get_knots(self):
        t, _, k = self._eval_args
        return t[k : len(t) - k]


_MODES = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
"""What a spline of FITPACK is beyond its ends, by name; objects hold the number."""


def number_of(ext):
    return _MODES[ext] if isinstance(ext, str) else ext


def _fitted_value(self, x, nu=0, ext=None):
    return _value_of(x, self._eval_args, nu, self.ext if ext is None else number_of(ext))


def _value_of(x, tck, nu, beyond):
    t, _, k = tck
    first, last = t[k], t[len(t) - k - 1]
    points = np.asarray(x)
    outside = np.logical_or(points < first, points > last)
    if beyond == 2 and np.any(outside):
        raise ValueError("Error code returned by splev: 1")
    if nu == 0:
        points = np.where(beyond == 3, np.clip(points, first, last), points)
    found = _spline_value(_curve(tck), points, nu)
    return np.where(np.logical_and(outside, beyond == 1), 0.0, found)


def _curve(tck):
    t, c, k = tck
    return Spline(np.asarray(t), np.asarray(c)[: len(t) - k - 1], k, True, 0)


def padded(spline):
    """Knots, coefficients and degree as FITPACK has them: with zeros behind the coefficients."""
    missing = len(spline.t) - len(spline.c)
    return spline.t, np.concatenate([spline.c, np.zeros(missing)]), spline.k


def _fitted_derivative(self, n=1):
    return Fitted(padded(_curve(self._eval_args).derivative(n)), 1 if self.ext == 3 else self.ext)


def _fitted_antiderivative(self, n=1):
    return Fitted(padded(_curve(self._eval_args).antiderivative(n)), self.ext)


def _splint(a, b, tck, full_output=0):
    if full_output != 0:
        raise NotImplementedError("the integrals of the basis")
    t, _, k = tck
    whole = _curve(tck).antiderivative()
    first, last = t[k], t[len(t) - k - 1]
    return as_result(whole(np.clip(b, first, last)) - whole(np.clip(a, first, last)))


def _fitted_integral(self, a, b):
    return _splint(a, b, self._eval_args)


def _fitted_derivatives(self, x):
    k = self._eval_args[2]
    return np.stack([_spline_value(_curve(self._eval_args), np.asarray(x), nu) for nu in range(k + 1)])


_CLASS = interpolate.UnivariateSpline
definition(_CLASS.__call__, _fitted_value, arrays=())
definition(_CLASS.derivative, _fitted_derivative, arrays=())
definition(_CLASS.antiderivative, _fitted_antiderivative, arrays=())
definition(_CLASS.integral, _fitted_integral, arrays=())
definition(_CLASS.derivatives, _fitted_derivatives, arrays=())


def through(x, y, k):
    """The spline through all values, whose knots are nodes, or lie between them."""
    return padded(_make_interp_spline(x, y, k=k))


def _interpolated(x, y, w=None, bbox=(None, None), k=3, ext=0, check_finite=False):
    if bbox[0] is not None or bbox[1] is not None:
        raise NotImplementedError("'bbox'")
    return Fitted(through(x, y, k), number_of(ext))


definition(interpolate.InterpolatedUnivariateSpline, _interpolated, arrays=())
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 0.7, 1.3, 2.0, 2.0, 2.0, 2.0])
definition(
    interpolate.splint,
    _splint,
    arrays=(),
    cases=[case(number(), number(), (KNOTS, sample(6), 3)), case(-1.0, 1.1, (KNOTS, sample(6), 3))],
)

# --- polynomials ------------------------------------------------------------------------------------------------------


class Polynomial:
    """``BarycentricInterpolator``: the polynomial through all values, a sum of products."""

    def __init__(self, xi, yi=None, axis=0, *, wi=None, rng=None, random_state=None):
        if yi is None or wi is not None:
            raise NotImplementedError("weights, or values that come later")
        self.xi, self.axis = np.asarray(xi) * 1.0, axis % np.ndim(yi)
        self.yi = np.moveaxis(np.asarray(yi) * 1.0, self.axis, 0)

    def __call__(self, x):
        n = len(self.xi)
        away = np.ravel(x)[:, None] - self.xi
        one = np.ones((len(away), 1))
        before = np.cumprod(np.concatenate([one, away[:, : n - 1]], axis=1), axis=1)
        after = np.flip(np.cumprod(np.concatenate([one, np.flip(away[:, 1:], 1)], axis=1), axis=1), 1)
        among = self.xi[:, None] - self.xi + np.eye(n)
        found = (before * after / np.prod(among, axis=1)) @ np.reshape(self.yi, (n, -1))
        return _with_axis(np.reshape(found, np.shape(x) + np.shape(self.yi)[1:]), np.ndim(x), self.axis)


def _barycentric_interpolate(xi, yi, x, axis=0, *, der=0, rng=None):
    if der != 0:
        raise NotImplementedError("derivatives")
    return Polynomial(xi, yi, axis)(x)


definition(interpolate.BarycentricInterpolator, Polynomial, arrays=())
definition(interpolate.barycentric_interpolate, _barycentric_interpolate, arrays=())

# --- smoothing --------------------------------------------------------------------------------------------------------


def _make_smoothing_spline(x, y, w=None, lam=None, *, axis=0):
    """The natural spline whose curvature is weighed against its distance from values (Reinsch 1967)."""
    if lam is None or axis != 0 or np.ndim(y) != 1:
        raise NotImplementedError("a weight of the curvature that is to be found, or several curves")
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    n, h = len(x), np.diff(x)
    places = np.arange(n - 2)
    slopes = np.zeros((n, n - 2))
    slopes[places, places] = 1.0 / h[:-1]
    slopes[places + 1, places] = -1.0 / h[:-1] - 1.0 / h[1:]
    slopes[places + 2, places] = 1.0 / h[1:]
    curvatures = np.diag((h[:-1] + h[1:]) / 3.0) + np.diag(h[1:-1] / 6.0, 1) + np.diag(h[1:-1] / 6.0, -1)
    weights = np.ones(n) if w is None else np.asarray(w)
    penalty = slopes @ np.linalg.solve(curvatures, np.transpose(slopes))
    values = np.linalg.solve(np.diag(weights) + lam * penalty, weights * y)
    return _make_interp_spline(x, values, k=3, bc_type="natural")


definition(interpolate.make_smoothing_spline, _make_smoothing_spline, arrays=())

# --- least squares ----------------------------------------------------------------------------------------------------


def matrix_of_basis(points, knots, k):
    """The values of all B-splines at some points, in columns."""
    start, values = _basis(points, knots, k)
    matrix = np.zeros((len(points), len(knots) - k - 1))
    matrix[np.arange(len(points)), start + np.arange(k + 1)[:, None]] = values
    return matrix


def least_squares(x, y, t, k, w):
    """The coefficients of the spline with given knots that comes closest to values."""
    points, knots = np.asarray(x) * 1.0, np.asarray(t) * 1.0
    matrix = matrix_of_basis(points, knots, k)
    weights = np.ones(len(points)) if w is None else np.asarray(w)
    right = np.reshape(np.asarray(y) * 1.0, (len(points), -1)) * weights[:, None]
    found = np.linalg.lstsq(matrix * weights[:, None], right)[0]
    return knots, np.reshape(found, (-1, *np.shape(y)[1:]))


def _make_lsq_spline(x, y, t, k=3, w=None, axis=0, check_finite=True, *, method="qr"):
    if axis != 0:
        raise NotImplementedError("another axis")
    knots, c = least_squares(x, y, t, k, w)
    return Spline(knots, c, k, True, 0)


def _lsq_univariate(x, y, t, w=None, bbox=(None, None), k=3, ext=0, check_finite=False):
    if bbox[0] is not None or bbox[1] is not None:
        raise NotImplementedError("'bbox'")
    ends = np.asarray(x)[np.array([0] * (k + 1))], np.asarray(x)[np.array([-1] * (k + 1))]
    knots, c = least_squares(x, y, np.concatenate([ends[0], np.asarray(t), ends[1]]), k, w)
    return Fitted(padded(Spline(knots, c, k)), number_of(ext))


definition(interpolate.make_lsq_spline, _make_lsq_spline, arrays=())
definition(interpolate.LSQUnivariateSpline, _lsq_univariate, arrays=())
