"""Splines of FITPACK that smooth: where no knot is needed to be as near to values as is asked for, polynomials.

Where there are knots, FITPACK smooths to a thousandth of what is asked for: how that moves is not known.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import interpolate

from adjoint import ir
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import definition, no_derivative
from adjoint.rules.scipy.interpolation.interpolators import Spline, _make_interp_spline
from adjoint.rules.scipy.interpolation.lines import Fitted, least_squares, number_of, padded, through
from adjoint.runtime.numerical_methods.of_scipy.choices import smoothing_knots

no_derivative(smoothing_knots, typed=lambda arguments: (ir.Array(np.dtype(np.int64), ("any",)),))


def _smooth(fit, x, y, w, k, s):
    """The spline that a function of SciPy finds."""
    points, values = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    weights = np.ones(len(points)) if w is None else np.asarray(w)
    knots = points[smoothing_knots(fit, *stop_gradient((points, values, weights)), k, stop_gradient(s))]
    if len(knots) > 2 * k + 2:
        raise ValueError(
            "FITPACK smooths to a thousandth of s, and how far it goes has no derivative that is known: "
            "make_smoothing_spline(x, y, lam=...) solves equations, LSQUnivariateSpline(x, y, t) has given knots"
        )
    knots, c = least_squares(points, values, knots, k, weights)
    return Spline(knots, c, k)


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
definition(interpolate.UnivariateSpline, _univariate, arrays=())
if hasattr(interpolate, "make_splrep"):  # since SciPy 1.15
    definition(interpolate.make_splrep, _make_splrep, only=True, arrays=())
