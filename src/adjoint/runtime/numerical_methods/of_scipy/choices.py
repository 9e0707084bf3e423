"""Which of several things a solver of SciPy chooses: what changes by steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import cluster, interpolate, optimize


def assignment_rows(costs: Any, maximize: Any = False) -> Any:
    """The rows of the assignment that costs least."""
    return optimize.linear_sum_assignment(costs, maximize)[0]


def assignment_columns(costs: Any, maximize: Any = False) -> Any:
    """The columns that belong to them."""
    return optimize.linear_sum_assignment(costs, maximize)[1]


def columns_above_zero(a: Any, b: Any) -> Any:
    """Which unknowns of a problem of least squares are above zero where none may be below."""
    return np.flatnonzero(optimize.nnls(a, b)[0] > 0)


def bounded_least_squares(a: Any, b: Any, low: Any, high: Any, options: Any) -> Any:
    """The solution that ``scipy.optimize.lsq_linear`` finds, and as a second row which ends hold unknowns: -1, 0 or 1.

    Raises
    ------
    ValueError
        If it does not find one, or if several are as good.

    >>> bounded_least_squares(np.eye(2), np.array([1.0, 3.0]), np.zeros(2), np.full(2, 2.0), {}).round(9).tolist()
    [[1.0, 2.0], [0.0, 1.0]]
    """
    found = optimize.lsq_linear(a, b, (low, high), **options)
    exact = optimize.lsq_linear(a, b, (low, high), method="bvls", tol=1e-14)
    if not (found.success and np.allclose(found.x, exact.x, rtol=1e-4, atol=1e-4)):
        raise ValueError(f"lsq_linear finds no solution, or one of several: {found.message}")
    return np.array([found.x, exact.active_mask])


def by_order(test: Any, samples: Any, options: Any) -> Any:
    """The statistic and the p-value of a test that looks at the order of samples only."""
    found = test(*samples, **options)
    return np.array([found.statistic, found.pvalue], dtype=float)


def nearest_codes(observations: Any, code_book: Any) -> Any:
    """The place of the code that is nearest to each observation.

    >>> nearest_codes(np.array([[0.1], [0.9]]), np.array([[1.0], [0.0]])).tolist()
    [1, 0]
    """
    return cluster.vq.vq(observations, code_book)[0]


def curve_solutions(c: Any, x: Any, y: Any, discontinuity: bool, extrapolate: Any) -> Any:
    """Where a piecewise polynomial has a value; raises where it has it all along.

    >>> curve_solutions(np.array([[1.0], [-1.0]]), np.array([0.0, 3.0]), 0.5, True, True).tolist()
    [1.5]
    """
    found = interpolate.PPoly(c, x).solve(y, discontinuity, extrapolate)
    if np.isnan(found).any():
        raise ValueError("the curve has this value along a whole interval, which has no derivative")
    return found


def grid_coefficients(points: Any, values: Any, method: str) -> Any:
    """The coefficients of ``scipy.interpolate.RegularGridInterpolator``, which it finds by iteration.

    >>> line = np.arange(4.0)
    >>> bool(np.abs(grid_coefficients((line,), line, "cubic") - [0.0, 1.0, 2.0, 3.0]).max() < 1e-4)
    True
    """
    return interpolate.RegularGridInterpolator(points, values, method)._spline.c


def quadrature(family: Any, n: Any, *parameters: Any) -> Any:
    """The nodes and weights that SciPy finds.

    >>> from scipy import special
    >>> quadrature(special.roots_genlaguerre, 1, 0.5).round(6).tolist()
    [[1.5], [0.886227]]
    """
    return np.array(family(n, *parameters))


def smoothing_knots(fit: str, x: Any, y: Any, w: Any, k: int, s: Any) -> Any:
    """At which points the knots of a spline stand that FITPACK smooths with.

    Raises
    ------
    ValueError
        If FITPACK finds none, or one through all values.

    >>> x = np.arange(8.0)
    >>> smoothing_knots("splrep", x, x * x, np.ones(8), 2, 0.5).tolist()
    [0, 0, 0, 7, 7, 7]
    """
    t, _ = _smoothing_spline(fit, x, y, w, k, s)
    places = np.searchsorted(x, t)
    if not np.array_equal(x[np.minimum(places, len(x) - 1)], t):
        raise ValueError("derivatives are known of splines that smooth, not of this one, which goes through all values")
    return places


def smoothed_coefficients(fit: str, x: Any, y: Any, w: Any, k: int, s: Any) -> Any:
    """The coefficients of that spline.

    >>> x = np.arange(8.0)
    >>> smoothed_coefficients("splrep", x, 2.0 * x, np.ones(8), 1, 0.5).round(6).tolist()
    [0.0, 14.0]
    """
    return _smoothing_spline(fit, x, y, w, k, s)[1]


def _smoothing_spline(fit: str, x: Any, y: Any, w: Any, k: int, s: Any) -> tuple[Any, Any]:
    if fit == "make_splrep":
        found = interpolate.make_splrep(x, y, w=w, k=k, s=s)
        return found.t, found.c
    if fit == "UnivariateSpline":
        t, c, _ = interpolate.UnivariateSpline(x, y, w=w, k=k, s=s)._eval_args
    else:
        t, c, _ = interpolate.splrep(x, y, w=w, k=k, s=s)
    return t, c[: len(t) - k - 1]
