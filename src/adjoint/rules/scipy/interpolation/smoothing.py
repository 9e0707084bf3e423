"""Splines of FITPACK that smooth: of few knots, and as near to values as is asked for (Dierckx 1975).

Of all splines with its knots, it is the one for which the sum of squared distances and that of jumps in the highest
derivative, times a weight, is least. FITPACK looks for the weight until the distances are a thousandth near to what is
asked for: derivatives are those of its steps. Which values stand at knots stays; without knots it is a polynomial.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
from scipy import interpolate

from adjoint import ir
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import definition, no_derivative
from adjoint.rules.scipy.interpolation.interpolators import Spline, _make_interp_spline, _spline_derivative
from adjoint.rules.scipy.interpolation.lines import Fitted, least_squares, matrix_of_basis, number_of, padded, through
from adjoint.runtime.numerical_methods.of_scipy.choices import smoothed_coefficients, smoothing_knots

no_derivative(smoothing_knots, typed=lambda arguments: (ir.Array(np.dtype(np.int64), ("any",)),))

no_derivative(smoothed_coefficients, typed=lambda arguments: (ir.Array(np.dtype(np.float64), ("any",)),))
ENOUGH = 1e-3
"""How near, relative, the distances are to be to what is asked for."""
STEPS = 20


def _smooth(fit, x, y, w, k, s):
    """The spline that a function of SciPy finds."""
    points, values = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    weights = np.ones(len(points)) if w is None else np.asarray(w) * 1.0
    given = fit, *stop_gradient((points, values, weights)), k, stop_gradient(s)
    knots = points[smoothing_knots(*given)]
    knots, nearest = least_squares(points, values, knots, k, weights)
    if len(knots) == 2 * k + 2:
        return Spline(knots, nearest, k)
    matrix, count = weights[:, None] * matrix_of_basis(points, knots, k), len(knots) - k - 1
    parts = count - k
    scale = ((knots[count] - knots[k]) / parts) ** k / math.factorial(k)
    jumps = scale * np.diff(_spline_derivative(Spline(knots, np.eye(count), k), k).c, axis=0)
    ends = np.concatenate([knots[: k + 1], knots[count:]])
    _, polynomial = least_squares(points, values, ends, k, weights)
    sides = np.concatenate([weights * values, np.zeros(parts - 1)])

    def coefficients(p):
        return np.linalg.lstsq(np.concatenate([matrix, jumps / p]), sides)[0]

    def excess(c):
        return np.sum((weights * values - matrix @ c) ** 2) - s

    start = count / np.sum(np.diagonal(np.linalg.cholesky(np.transpose(matrix) @ matrix)))
    without = np.sum((weights * (values - matrix_of_basis(points, ends, k) @ polynomial)) ** 2) - s
    p = _weight(lambda p: excess(coefficients(p)), start, without, excess(nearest), ENOUGH * s)
    found = coefficients(p)
    if not np.all(np.abs(stop_gradient(found) - smoothed_coefficients(*given)) <= 1e-6 * np.max(np.abs(found))):
        raise ValueError(
            "FITPACK has taken other steps to this spline than are known: "
            "make_smoothing_spline(x, y, lam=...) solves equations, LSQUnivariateSpline(x, y, t) has given knots"
        )
    return Spline(knots, found, k)


def _weight(excess, p, f1, f3, enough):
    """Where the excess is nearly zero, by rational functions through three points, as FITPACK's ``fpcurf`` has them.

    It is ``f1`` at zero, and ``f3`` where the weight of the distances has no end.
    """
    p1, p3, is_low, is_high = 0.0, np.inf, False, False
    for _ in range(STEPS):
        f2 = excess(p)
        if abs(f2) < enough:
            break
        p2 = p
        if not is_high and f2 - f3 <= enough:
            p3, f3, p = p2, f2, 0.04 * p
            if p <= p1:
                p = 0.9 * p1 + 0.1 * p2
            continue
        is_high = is_high or f2 < 0.0
        if not is_low and f1 - f2 <= enough:
            p1, f1, p = p2, f2, p / 0.04
            if p >= p3:
                p = 0.1 * p2 + 0.9 * p3
            continue
        is_low = is_low or f2 > 0.0
        h1, h2, h3 = f1 * (f2 - f3), f2 * (f3 - f1), f3 * (f1 - f2)
        if np.isinf(p3):
            p = -(p2 * h1 + p1 * h2) / h3
        else:
            p = -(p1 * p2 * h3 + p2 * p3 * h1 + p1 * p3 * h2) / (p1 * h1 + p2 * h2 + p3 * h3)
        if f2 < 0.0:
            p3, f3 = p2, f2
        else:
            p1, f1 = p2, f2
    return p


def _splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    if task != 0 or t is not None or full_output != 0 or per != 0 or xb is not None or xe is not None:
        raise NotImplementedError("these options")
    if s is None:
        if w is None:
            return through(x, y, k)
        return padded(_smooth("splrep", x, y, w, k, len(x) - np.sqrt(2.0 * len(x))))
    if s == 0:
        return through(x, y, k)
    return padded(_smooth("splrep", x, y, w, k, s))


def _splprep(
    x, w=None, u=None, ub=None, ue=None, k=3, task=0, s=None, t=None, full_output=0, nest=None, per=0, quiet=1
):
    """A curve through points: a spline for each coordinate, by how long the lines between the points are."""
    if task != 0 or t is not None or full_output != 0 or per != 0 or ub is not None or ue is not None:
        raise NotImplementedError("these options")
    points = np.asarray(x) * 1.0
    if u is None:
        lengths = np.cumsum(np.sqrt(np.sum(np.diff(points, axis=1) ** 2, axis=0)))
        places = np.concatenate([np.zeros(1), lengths / lengths[-1]])
    else:
        places = np.asarray(u)
    lines = [through(places, points[line], k) for line in range(np.shape(points)[0])]
    knots = lines[0][0]
    return [knots, [line[1][: len(knots) - k - 1] for line in lines], k], places


def _univariate(x, y, w=None, bbox=(None, None), k=3, s=None, ext=0, check_finite=False):
    if bbox[0] is not None or bbox[1] is not None:
        raise NotImplementedError("'bbox'")
    if s is None:
        return Fitted(padded(_smooth("UnivariateSpline", x, y, w, k, float(len(x)))), number_of(ext))
    if s == 0:
        return Fitted(through(x, y, k), number_of(ext))
    return Fitted(padded(_smooth("UnivariateSpline", x, y, w, k, s)), number_of(ext))


def _make_splrep(x, y, *, w=None, xb=None, xe=None, k=3, s=0, t=None, nest=None):
    if xb is not None or xe is not None or t is not None or nest is not None:
        raise NotImplementedError("these options")
    if s == 0:
        return _make_interp_spline(x, y, k=k)
    return _smooth("make_splrep", x, y, w, k, s)


definition(interpolate.splrep, _splrep, arrays=())
definition(
    interpolate.splprep,
    _splprep,
    arrays=(),
    when=lambda given: given.get("s") == 0,
)
definition(interpolate.UnivariateSpline, _univariate, arrays=())
if hasattr(interpolate, "make_splrep"):  # since SciPy 1.15
    definition(interpolate.make_splrep, _make_splrep, only=True, arrays=())
