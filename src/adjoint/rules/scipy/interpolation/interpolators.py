"""Classes of ``scipy.interpolate``: splines by values, nodes and coefficients (de Boor 1978; Fritsch, Butland 1984).

A call of an object means a function of its attributes, so that objects from outside are read as they are. An object
that is made of what varies is one of these classes.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
from scipy import interpolate

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.rules.declare import case, definition, no_derivative, number, sample
from adjoint.rules.scipy.interpolation.interpolate import _basis
from adjoint.runtime.numerical_methods.implicit import answered, root, taken
from adjoint.runtime.numerical_methods.of_scipy.choices import curve_solutions
from adjoint.runtime.numerical_methods.of_scipy.linalg import banded_solution

_PIECE = np.ones((1, 1)), np.array([0.0, 1.0])
_MADE = interpolate.PPoly(*_PIECE), interpolate.BPoly(*_PIECE), interpolate.BSpline(_PIECE[1], _PIECE[0], 0)
_PPOLY, _BPOLY, _BSPLINE = ({type(made), type(vars(made).get("_delegate_to", made))} for made in _MADE)
"""The public classes; since SciPy 1.18, each has an inner one that works for it."""


def _defines(classes, name, means):
    """Declares what a method means that some of the classes have."""
    for function in {getattr(cls, name) for cls in classes if hasattr(cls, name)}:
        definition(function, means, arrays=())


# --- piecewise polynomials --------------------------------------------------------------------------------------------


def _piecewise_value(self, x, nu=0, extrapolate=None):
    if isinstance(self, _BERNSTEIN):
        return _bernstein_value(self, x, nu, extrapolate)
    if nu < 0:
        return _piecewise_value(_antiderivative(self, -nu), x, 0, extrapolate)
    outside = self.extrapolate if extrapolate is None else extrapolate
    breaks, c = np.asarray(self.x), np.asarray(self.c)
    sign = np.where(breaks[0] > breaks[-1], -1.0, 1.0)
    columns = np.reshape(c, (np.shape(c)[0], np.shape(c)[1], -1))
    points = np.ravel(x)
    if outside == "periodic":
        points = breaks[0] + (points - breaks[0]) % (breaks[-1] - breaks[0])
    place = np.clip(np.searchsorted(sign * breaks, sign * points, side="right") - 1, 0, len(breaks) - 2)
    s = (points - breaks[place])[:, None]
    found = np.zeros((len(points), np.shape(columns)[2]))
    for row in range(np.shape(c)[0] - nu):
        power = np.shape(c)[0] - 1 - row
        factor = 1.0
        for k in range(nu):
            factor = factor * (power - k)
        found = found * s + factor * columns[row][place]
    if outside is False:
        inside = np.logical_and(sign * points >= sign * breaks[0], sign * points <= sign * breaks[-1])
        found = np.where(inside[:, None], found, np.nan)
    return _with_axis(np.reshape(found, np.shape(x) + np.shape(c)[2:]), np.ndim(x), self.axis)


def _bernstein_value(self, x, nu, extrapolate):
    """A call of what has its coefficients in the basis of Bernstein, of as many places as there are."""
    outside = self.extrapolate if extrapolate is None else extrapolate
    breaks, c = np.asarray(self.x), np.asarray(self.c)
    if nu != 0 or outside == "periodic":
        raise NotImplementedError("derivatives, or a period")
    sign = np.where(breaks[0] > breaks[-1], -1.0, 1.0)
    columns = np.reshape(c, (np.shape(c)[0], np.shape(c)[1], -1))
    points = np.ravel(x)
    place = np.clip(np.searchsorted(sign * breaks, sign * points, side="right") - 1, 0, len(breaks) - 2)
    s = ((points - breaks[place]) / (breaks[place + 1] - breaks[place]))[:, None]
    order = np.shape(c)[0] - 1
    found = np.zeros((len(points), np.shape(columns)[2]))
    for row in range(order + 1):
        found = found + math.comb(order, row) * s**row * (1.0 - s) ** (order - row) * columns[row][place]
    if outside is False:
        inside = np.logical_and(sign * points >= sign * breaks[0], sign * points <= sign * breaks[-1])
        found = np.where(inside[:, None], found, np.nan)
    return _with_axis(np.reshape(found, np.shape(x) + np.shape(c)[2:]), np.ndim(x), self.axis)


def _with_axis(found, rank, axis):
    """The axes of the points in the place of the one that was interpolated along."""
    if axis == 0:
        return found
    return np.moveaxis(found, tuple(range(rank)), tuple(range(axis, axis + rank)))


class Piecewise:
    """A polynomial between each two breakpoints, with its coefficients from the highest power down."""

    def __init__(self, c, x, extrapolate, axis):
        self.c, self.x, self.extrapolate, self.axis = c, x, extrapolate, axis

    def __call__(self, x, nu=0, extrapolate=None):
        return _piecewise_value(self, x, nu, extrapolate)

    def derivative(self, nu=1):
        return _derivative(self, nu)

    def antiderivative(self, nu=1):
        return _antiderivative(self, nu)

    def integrate(self, a, b, extrapolate=None):
        return _piecewise_integral(self, a, b, extrapolate)

    def solve(self, y=0.0, discontinuity=True, extrapolate=None):
        return _solve(self, y, discontinuity, extrapolate)

    def roots(self, discontinuity=True, extrapolate=None):
        return _solve(self, 0.0, discontinuity, extrapolate)


def _derivative(self, nu=1):
    if nu < 0:
        return _antiderivative(self, -nu)
    c = np.asarray(self.c)
    for _ in range(nu):
        powers = np.arange(np.shape(c)[0] - 1, 0, -1)
        c = c[:-1] * np.reshape(powers, (-1,) + (1,) * (np.ndim(c) - 1))
    return Piecewise(c, self.x, self.extrapolate, self.axis)


def _antiderivative(self, nu=1):
    if nu < 0:
        return _derivative(self, -nu)
    c = np.asarray(self.c)
    for _ in range(nu):
        c = c / np.reshape(np.arange(np.shape(c)[0], 0, -1), (-1,) + (1,) * (np.ndim(c) - 1))
        h = _over_rows(np.diff(self.x), c[0])
        rise = np.zeros(np.shape(c)[1:])
        for row in range(np.shape(c)[0]):
            rise = (rise + c[row]) * h
        start = np.concatenate([np.zeros(np.shape(rise[:1])), np.cumsum(rise, axis=0)[:-1]])
        c = np.concatenate([c, start[None]])
    return Piecewise(c, self.x, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)


def _piecewise_integral(self, a, b, extrapolate=None):
    outside = self.extrapolate if extrapolate is None else extrapolate
    if outside == "periodic":
        raise NotImplementedError("the integral of a periodic curve")
    whole = _antiderivative(self)
    curve = Piecewise(whole.c, whole.x, bool(outside), 0)
    return curve(b) - curve(a)


_BERNSTEIN = tuple(_BPOLY)
_defines(_PPOLY | _BPOLY, "__call__", _piecewise_value)
_defines(_PPOLY, "derivative", _derivative)
_defines(_PPOLY, "antiderivative", _antiderivative)
_defines(_PPOLY, "integrate", _piecewise_integral)


def hermite(x, y, dydx, extrapolate, axis):
    """The cubics with these values and slopes at their ends."""
    h = _over_rows(np.diff(x), y)
    slope = np.diff(y, axis=0) / h
    third = (dydx[:-1] + dydx[1:] - 2.0 * slope) / h
    c = np.stack([third / h, (slope - dydx[:-1]) / h - third, dydx[:-1], y[:-1]])
    return Piecewise(c, x, True if extrapolate is None else extrapolate, axis)


def _over_rows(x, y):
    return np.reshape(x, (-1,) + (1,) * (np.ndim(y) - 1))


def _rows(x, y, axis):
    """Nodes and values with the axis of the nodes in front, and that axis, counted from the front."""
    return np.asarray(x) * 1.0, np.moveaxis(np.asarray(y) * 1.0, axis, 0), axis % np.ndim(y)


def _cubic_hermite_spline(x, y, dydx, axis=0, extrapolate=None):
    x, y, axis = _rows(x, y, axis)
    return hermite(x, y, np.moveaxis(np.asarray(dydx), axis, 0), extrapolate, axis)


def _end(h0, h1, m0, m1):
    """The slope at an end, of the parabola through three values, so that the curve keeps their order."""
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turned = np.not_equal(np.sign(m0), np.sign(m1))
    d = np.where(np.logical_and(turned, np.greater(np.abs(d), 3.0 * np.abs(m0))), 3.0 * m0, d)
    return np.where(np.equal(np.sign(d), np.sign(m0)), d, 0.0)


def _pchip(x, y, axis=0, extrapolate=None):
    x, y, axis = _rows(x, y, axis)
    h = _over_rows(np.diff(x), y)
    m = np.diff(y, axis=0) / h
    if len(x) == 2:
        return hermite(x, y, np.concatenate([m, m]), extrapolate, axis)
    after, before = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    flat = np.logical_or(np.not_equal(np.sign(m[1:]), np.sign(m[:-1])), np.logical_or(m[1:] == 0, m[:-1] == 0))
    left, right = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
    inner = np.where(flat, 0.0, (after + before) / (after / left + before / right))
    first, last = _end(h[0], h[1], m[0], m[1]), _end(h[-1], h[-2], m[-1], m[-2])
    return hermite(x, y, np.concatenate([first[None], inner, last[None]]), extrapolate, axis)


def _akima(x, y, axis=0, *, method="akima", extrapolate=None):
    x, y, axis = _rows(x, y, axis)
    outside = False if extrapolate is None else extrapolate
    h = _over_rows(np.diff(x), y)
    m = np.diff(y, axis=0) / h
    if len(x) == 2:
        return hermite(x, y, np.concatenate([m, m]), outside, axis)
    before, after = 2.0 * m[:1] - m[1:2], 2.0 * m[-1:] - m[-2:-1]
    m = np.concatenate([2.0 * before - m[:1], before, m, after, 2.0 * after - m[-1:]])
    turns = np.abs(np.diff(m, axis=0))
    if method == "makima":
        turns = turns + 0.5 * np.abs(m[1:] + m[:-1])
    first, last = turns[2:], turns[:-2]
    known = first + last > 1e-9 * np.max(first + last)
    share = np.where(known, last, 0.5) / np.where(known, first + last, 1.0)
    slopes = np.where(known, m[1:-2] + share * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))
    return hermite(x, y, slopes, outside, axis)


def _cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    x, y, axis = _rows(x, y, axis)
    if isinstance(bc_type, str):
        start = end = bc_type
    else:
        start, end = bc_type
    n = len(x)
    h = np.diff(x)
    wide = _over_rows(h, y)
    m = np.diff(y, axis=0) / wide
    if start == "periodic":
        return _cubic_ring(x, y, h, wide, m, extrapolate, axis)
    if n == 3 and start == "not-a-knot" and end == "not-a-knot":
        low, high = 2.0 * m[0], 2.0 * m[1]
        middle = (h[0] * m[1] + h[1] * m[0]) / (h[0] + h[1])
        return hermite(x, y, np.stack([low - middle, middle, high - middle]), extrapolate, axis)
    bands = np.zeros((3, n))
    bands[2, : n - 2], bands[1, 1 : n - 1], bands[0, 2:] = h[1:], 2.0 * (h[:-1] + h[1:]), h[:-1]
    a, b, first = _condition(n, start, h[0], h[1] if n > 2 else h[0], wide[0], m[0], m[1] if n > 2 else m[0])
    bands[1, 0], bands[0, 1] = a, b
    a, b, last = _condition(n, end, -h[-1], -h[-2] if n > 2 else -h[-1], -wide[-1], m[-1], m[-2] if n > 2 else m[-1])
    bands[1, n - 1], bands[2, n - 2] = a, b
    right = 3.0 * (wide[1:] * m[:-1] + wide[:-1] * m[1:])
    sides = np.concatenate([np.broadcast_to(first, np.shape(y[:1])), right, np.broadcast_to(last, np.shape(y[:1]))])
    slopes = np.reshape(banded_solution(bands, np.reshape(sides, (n, -1)), 1, 1), np.shape(y))
    return hermite(x, y, slopes, extrapolate, axis)


def _cubic_ring(x, y, h, wide, m, extrapolate, axis):
    """The same where the curve goes on as it began."""
    n = len(x) - 1
    if not np.allclose(y[0], y[n], rtol=1e-15, atol=1e-15):
        raise ValueError("The first and last `y` point along axis 0 must be identical (within machine precision).")
    places = np.arange(n)
    before, after = h[places - 1], h
    matrix = np.zeros((n, n))
    matrix[places, places] = 2.0 * (before + after)
    matrix[places, places - 1] += after
    matrix[places, (places + 1) % n] += before
    last, following = m[places - 1], m
    sides = 3.0 * (wide * last + wide[places - 1] * following)
    slopes = np.reshape(np.linalg.solve(matrix, np.reshape(sides, (n, -1))), np.shape(y[:n]))
    closed = np.concatenate([slopes, slopes[:1]])
    return hermite(x, y, closed, "periodic" if extrapolate is None else extrapolate, axis)


def _condition(n, kind, h0, h1, wide, m0, m1):
    """The equation of an end: the factors of its slope and of the next one, and the right side."""
    if kind == "not-a-knot":
        if n == 2:
            return 1.0, 0.0, m0
        d = h0 + h1
        return h1, d, ((h0 + 2.0 * d) * h1 * m0 + h0 * h0 * m1) / d
    if kind == "natural":
        order, value = 2, 0.0
    elif kind == "clamped":
        order, value = 1, 0.0
    elif isinstance(kind, str):
        raise NotImplementedError("these conditions at the ends")
    else:
        order, value = kind
    if order == 1:
        return 1.0, 0.0, value
    return 2.0 * h0, h0, 3.0 * wide * m0 - 0.5 * value * wide * wide


# --- B-splines --------------------------------------------------------------------------------------------------------


def _spline_value(self, x, nu=0, extrapolate=None):
    outside = self.extrapolate if extrapolate is None else extrapolate
    t, k = np.asarray(self.t), self.k
    c = np.asarray(self.c)[: len(self.t) - k - 1]
    columns = np.reshape(c, (np.shape(c)[0], -1))
    first, last = t[k], t[len(t) - k - 1]
    points = np.ravel(x)
    if outside == "periodic":
        points = first + (points - first) % (last - first)
    if nu > k:
        return np.zeros(np.shape(x) + np.shape(c)[1:])
    for _ in range(nu):
        columns = k * (columns[1:] - columns[:-1]) / (t[k + 1 : -1] - t[1 : -k - 1])[:, None]
        t = t[1:-1]
        k = k - 1
    start, values = _basis(points, t, k)
    found = np.sum(columns[start + np.arange(k + 1)[:, None]] * values[:, :, None], axis=0)
    if outside is False:
        inside = np.logical_and(np.greater_equal(points, first), np.less_equal(points, last))
        found = np.where(inside[:, None], found, np.nan)
    return _with_axis(np.reshape(found, np.shape(x) + np.shape(c)[1:]), np.ndim(x), self.axis)


class Spline:
    """A sum of B-splines."""

    def __init__(self, t, c, k, extrapolate=True, axis=0):
        self.t, self.c, self.k, self.extrapolate, self.axis = t, c, k, extrapolate, axis

    def __call__(self, x, nu=0, extrapolate=None):
        return _spline_value(self, x, nu, extrapolate)

    def derivative(self, nu=1):
        return _spline_derivative(self, nu)

    def antiderivative(self, nu=1):
        return _spline_antiderivative(self, nu)

    def integrate(self, a, b, extrapolate=None):
        return _spline_integral(self, a, b, extrapolate)


def _spline_derivative(self, nu=1):
    t, k, c = np.asarray(self.t), self.k, np.asarray(self.c)[: len(self.t) - self.k - 1]
    for _ in range(nu):
        c = k * (c[1:] - c[:-1]) / _over_rows(t[k + 1 : -1] - t[1 : -k - 1], c)
        t, k = t[1:-1], k - 1
    return Spline(t, c, k, self.extrapolate, self.axis)


def _spline_antiderivative(self, nu=1):
    t, k, c = np.asarray(self.t), self.k, np.asarray(self.c)[: len(self.t) - self.k - 1]
    for _ in range(nu):
        sums = np.cumsum(c * _over_rows(t[k + 1 :] - t[: -k - 1], c), axis=0) / (k + 1)
        c = np.concatenate([np.zeros(np.shape(c[:1])), sums])
        t, k = np.concatenate([t[:1], t, t[-1:]]), k + 1
    return Spline(t, c, k, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)


def _spline_integral(self, a, b, extrapolate=None):
    outside = self.extrapolate if extrapolate is None else extrapolate
    if outside == "periodic":
        raise NotImplementedError("the integral of a periodic curve")
    whole = _spline_antiderivative(self)
    curve = Spline(whole.t, whole.c, whole.k, True, 0)
    if outside:
        return curve(b) - curve(a)
    first, last = self.t[self.k], self.t[len(self.t) - self.k - 1]
    return curve(np.clip(b, first, last)) - curve(np.clip(a, first, last))


_defines(_BSPLINE, "__call__", _spline_value)
_defines(_BSPLINE, "derivative", _spline_derivative)
_defines(_BSPLINE, "antiderivative", _spline_antiderivative)
_defines(_BSPLINE, "integrate", _spline_integral)


def _b_spline(t, c, k, extrapolate=True, axis=0):
    return Spline(t, np.moveaxis(np.asarray(c), axis, 0), k, extrapolate, axis % np.ndim(c))


def _make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    if t is not None or k == 0:
        raise NotImplementedError("knots of one's own")
    x, y, axis = _rows(x, y, axis)
    if bc_type not in (None, "not-a-knot"):
        return _cubic_with_ends(x, y, k, bc_type, axis)
    if k == 1:
        inner = x[1:-1]
    elif k % 2 == 1:
        inner = x[(k + 1) // 2 : -(k + 1) // 2]
    else:
        inner = ((x[1:] + x[:-1]) / 2.0)[k // 2 : -(k // 2)]
    knots = np.concatenate([np.full(k + 1, x[0]), inner, np.full(k + 1, x[-1])])
    start, values = _basis(x, knots, k)
    columns = start + np.arange(k + 1)[:, None]
    bands = np.zeros((2 * k + 1, len(x)))
    bands[k + np.arange(len(x)) - columns, columns] = values
    c = banded_solution(bands, np.reshape(y, (len(x), -1)), k, k)
    return Spline(knots, np.reshape(c, np.shape(y)), k, True, axis)


def _cubic_with_ends(x, y, k, kind, axis):
    """A cubic spline whose knots are all nodes, with a slope or a curvature of zero at both ends."""
    if k != 3 or kind not in ("natural", "clamped"):
        raise NotImplementedError("these conditions at the ends")
    n = len(x)
    knots = np.concatenate([np.full(k, x[0]), x, np.full(k, x[-1])])
    start, values = _basis(x, knots, k)
    columns = start + np.arange(k + 1)[:, None]
    bands = np.zeros((2 * k + 1, n + 2))
    bands[k + 1 + np.arange(n) - columns, columns] = values
    bands[k, 0], bands[k - 1, 1], bands[k - 2, 2] = _flat_end(knots[4] - x[0], knots[5] - x[0], kind)
    bands[k, n + 1], bands[k + 1, n], bands[k + 2, n - 1] = _flat_end(x[-1] - knots[-5], x[-1] - knots[-6], kind)
    none = np.zeros(np.shape(y[:1]))
    sides = np.concatenate([none, y, none])
    c = banded_solution(bands, np.reshape(sides, (n + 2, -1)), k, k)
    return Spline(knots, np.reshape(c, np.shape(sides)), k, True, axis)


def _flat_end(near, far, kind):
    """The factors of the outermost coefficients, of which the sum is to be zero; of the distances of two knots."""
    if kind == "clamped":
        return -1.0, 1.0, 0.0
    return 1.0 / near, -1.0 / near - 1.0 / far, 1.0 / far


# --- roots ------------------------------------------------------------------------------------------------------------


def _solve(self, y=0.0, discontinuity=True, extrapolate=None):
    """Where the curve has a value: each place moves as the implicit function theorem says."""
    outside = self.extrapolate if extrapolate is None else extrapolate
    c, breaks = np.asarray(self.c) * 1.0, np.asarray(self.x) * 1.0
    if np.ndim(c) != 2:
        raise NotImplementedError("several curves")
    given = (stop_gradient(c), stop_gradient(breaks), stop_gradient(y), discontinuity, outside)
    places = stop_gradient(curve_solutions(*given))
    if np.size(places) == 0:
        return places
    missing = lambda x: Piecewise(c, breaks, True, 0)(x) - y
    return solved(root, missing, (places,), answered, (taken, places))


def _roots(self, discontinuity=True, extrapolate=None):
    return _solve(self, 0.0, discontinuity, extrapolate)


no_derivative(curve_solutions)
_defines(_PPOLY, "solve", _solve)
_defines(_PPOLY, "roots", _roots)
X, Y = np.array([0.0, 0.5, 1.1, 2.0, 2.3]), np.array([0.1, 0.7, 0.2, -0.4, 0.3])
definition(interpolate.CubicSpline, _cubic_spline, arrays=())
definition(interpolate.PchipInterpolator, _pchip, arrays=())
definition(interpolate.Akima1DInterpolator, _akima, arrays=())
definition(interpolate.CubicHermiteSpline, _cubic_hermite_spline, arrays=())
definition(interpolate.BSpline, _b_spline, arrays=())
definition(interpolate.make_interp_spline, _make_interp_spline, arrays=())
definition(
    interpolate.pchip_interpolate,
    lambda xi, yi, x, der=0, axis=0: _pchip(xi, yi, axis)(x, der),
    when=lambda given: isinstance(given.get("der", 0), int),
    arrays=(),
    cases=[case(X, sample(5), number()), case(X, sample(5), np.array([0.3, 1.9]), 1)],
)
