"""Curves and surfaces of `scipy.interpolate`, and what `scipy.spatial` chooses: values beside SciPy's, derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, interpolate, optimize, signal, spatial, special, stats

import adjoint as ad
from sampling import check_grads, is_chosen

X = np.array([0.0, 0.5, 1.1, 2.0, 2.3, 3.1])
Y = np.array([0.1, 0.7, 0.2, -0.4, 0.3, 0.35])
AT = np.array([0.3, 1.0, 2.2, 2.9])
BEYOND = np.array([-0.4, 0.3, 1.0, 3.4])
POINTS = np.array(
    [[0.1, 0.2], [0.9, 0.1], [0.8, 0.9], [0.0, 1.1], [0.45, 0.5], [-0.7, -0.3], [-0.2, -0.9], [0.7, -0.6], [-0.9, 0.5]]
)
Z = np.array([0.3, -0.2, 0.8, 0.1, 0.5, 0.9, -0.4, 0.6, 0.2])
PLACES = np.array([[0.3, 0.3], [0.2, -0.25], [-0.35, 0.15]])
SMOOTHED = interpolate.UnivariateSpline(X, Y, s=0.05)
HELD = interpolate.UnivariateSpline(X, Y, s=0.05, ext=3)
RADIAL = interpolate.RBFInterpolator(POINTS, Z)
TREE = spatial.cKDTree(POINTS)
OTHER_TREE = spatial.KDTree(POINTS)
LINE = interpolate.interp1d(X, Y)
BERNSTEIN = interpolate.BPoly(np.stack([Y[:5], Y[1:], Y[:5] ** 2]), X)
SURFACE = interpolate.RectBivariateSpline(np.arange(5.0), np.arange(4.0), np.sin(np.outer(np.arange(5.0), Z[:4])))
DENSITY = stats.gaussian_kde(Z)
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 1.5, 3.1, 3.1, 3.1, 3.1])


def _hull(points: Any) -> Any:
    hull = spatial.ConvexHull(points)
    return hull.volume, hull.area, np.sum(points[hull.vertices] ** 3)


def _assigned(costs: Any) -> Any:
    rows, columns = optimize.linear_sum_assignment(costs)
    return costs[rows, columns]


def _peaks(x: Any) -> Any:
    places, found = signal.find_peaks(x, height=0.3, prominence=0.1)
    return x[places] ** 2, found["peak_heights"], found["prominences"]


pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values")

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "line": (lambda x, y, at: interpolate.interp1d(x, y)(at), (X, Y, AT)),
    "cubic": (lambda x, y, at: interpolate.interp1d(x, y, kind="cubic")(at), (X, Y, AT)),
    "quadratic, in rows": (
        lambda y, at: interpolate.interp1d(X, y, kind="quadratic", axis=0)(at),
        (np.stack([Y, Y**2], axis=1), AT),
    ),
    "nearest": (lambda y, at: interpolate.interp1d(X, y, kind="nearest")(at), (Y, AT)),
    "previous": (lambda y, at: interpolate.interp1d(X, y, kind="previous")(at), (Y, AT)),
    "filled": (
        lambda y, at: interpolate.interp1d(X, y, bounds_error=False, fill_value=(y[0], 2.0 * y[-1]))(at),
        (Y, BEYOND),
    ),
    "extrapolated": (lambda x, y, at: interpolate.interp1d(x, y, fill_value="extrapolate")(at), (X, Y, BEYOND)),
    "unsorted": (lambda x, y, at: interpolate.interp1d(x, y)(at), (X[::-1], Y, AT)),
    "a given line": (lambda at: LINE(at) ** 2, (AT,)),
    "splrep": (lambda x, y, at: interpolate.splev(at, interpolate.splrep(x, y)), (X, Y, AT)),
    "through all": (lambda x, y, at: interpolate.UnivariateSpline(x, y, s=0)(at), (X, Y, AT)),
    "its slope and integral": (
        lambda y, a, b: (lambda s: (s(a, 1), s.derivative()(b), s.integral(a, b)))(
            interpolate.InterpolatedUnivariateSpline(X, y)
        ),
        (Y, 0.4, 2.1),
    ),
    "smoothed before": (lambda at: (SMOOTHED(at), SMOOTHED(at, 1), SMOOTHED.derivative()(at)), (BEYOND,)),
    "held at its ends": (lambda at: HELD(at), (BEYOND,)),
    "its integral": (lambda a, b: SMOOTHED.integral(a, b) * SMOOTHED.antiderivative()(b), (0.4, 2.1)),
    "natural ends": (lambda x, y, at: interpolate.make_interp_spline(x, y, bc_type="natural")(at), (X, Y, AT)),
    "clamped ends": (lambda y, at: interpolate.make_interp_spline(X, y, bc_type="clamped")(at), (Y, AT)),
    "a period": (
        lambda x, y, at: interpolate.CubicSpline(x, np.append(y[:-1], y[0]), bc_type="periodic")(at),
        (X, Y, np.array([0.3, 2.2, 4.0])),
    ),
    "weighed curvature": (lambda x, y, l: interpolate.make_smoothing_spline(x, y, lam=l)(AT), (X, Y, 0.1)),
    "polynomial": (lambda x, y, at: interpolate.BarycentricInterpolator(x, y)(at), (X, Y, np.append(AT, X[2]))),
    "of a family": (lambda x: special.legendre(3)(x) * special.genlaguerre(2, 0.5)(x), (AT,)),
    "surface": (
        lambda z, x, y: interpolate.RectBivariateSpline(np.arange(5.0), np.arange(4.0), np.reshape(z, (5, 4)))(x, y),
        (np.sin(np.arange(20.0)), np.array([1.2, 2.3]), np.array([0.4, 1.7])),
    ),
    "a given surface": (
        lambda x, y: (SURFACE.ev(x, y), SURFACE(x, y, dx=1, grid=False), SURFACE(x, y)),
        (np.array([1.2, 2.3]), np.array([0.4, 1.7])),
    ),
    "density": (lambda a, w, x: stats.gaussian_kde(a, weights=w)(x), (Z, Z**2, AT)),
    "logarithm of a density": (
        lambda a, x: stats.gaussian_kde(a.T, bw_method="silverman").logpdf(x.T),
        (POINTS, PLACES),
    ),
    "a given density": (lambda x: (DENSITY(x), DENSITY.logpdf(x), DENSITY.integrate_box_1d(x[0], x[1])), (AT,)),
    "least squares": (lambda x, y, at: interpolate.make_lsq_spline(0.9 * x + 0.1, y, KNOTS)(at), (X, Y, AT)),
    "least squares of FITPACK": (lambda y, at: interpolate.LSQUnivariateSpline(X, y, [1.5])(at), (Y, AT)),
    "Bernstein": (lambda at: BERNSTEIN(at), (AT,)),
    "Bernstein made": (lambda c, at: interpolate.BPoly(c, X[:3])(at), (np.stack([Y[:2], Y[2:4], Y[3:5]]), AT[:2])),
    "Rbf": (lambda p, z, q: interpolate.Rbf(p[:, 0], p[:, 1], z)(q[:, 0], q[:, 1]), (POINTS, Z, PLACES)),
    "radial": (lambda p, z, q: interpolate.RBFInterpolator(p, z)(q), (POINTS, Z, PLACES)),
    "radial with a scale": (
        lambda z, e: interpolate.RBFInterpolator(POINTS, z, kernel="gaussian", epsilon=e, smoothing=0.1)(PLACES),
        (Z, 1.3),
    ),
    "radial, given": (lambda q: RADIAL(q), (PLACES,)),
    "triangles": (lambda p, z, q: interpolate.griddata(p, z, q), (POINTS, Z, PLACES)),
    "triangles by name": (lambda z, q: interpolate.LinearNDInterpolator(POINTS, z)(q), (Z, PLACES)),
    "nearest of all": (lambda z: interpolate.griddata(POINTS, z, PLACES, method="nearest"), (Z,)),
    "distances": (lambda q: TREE.query(q, 2)[0], (PLACES,)),
    "distances in another tree": (lambda q: OTHER_TREE.query(q)[0], (PLACES,)),
    "distances in a tree made": (lambda p, q: spatial.KDTree(p).query(q)[0], (POINTS, PLACES)),
    "neighbours": (lambda p, q: (p[TREE.query(q)[1]] - q) ** 2, (POINTS, PLACES)),
    "hull": (_hull, (POINTS,)),
    "assignment": (_assigned, (np.abs(POINTS[:3] @ POINTS[3:7].T),)),
    "peaks": (_peaks, (np.array([0.1, 0.7, 0.3, 0.9, -0.2, 0.4, 0.35, 1.2, 0.0]),)),
    "double integral": (
        lambda a, b: integrate.dblquad(lambda y, x: np.exp(-a * x * y), 0.0, b, 0.0, lambda x: x)[0],
        (0.4, 1.3),
    ),
}
ALWAYS = ("cubic", "through all", "radial", "triangles")


@pytest.mark.parametrize("name", [name for name in CALLS if name in ALWAYS or is_chosen(name, 4)])
def test_by_all_that_varies(name: str) -> None:
    function, given = CALLS[name]
    before = [np.copy(each) for each in given]
    expected, got = function(*given), ad.vjp(function, *given)[0]
    if not isinstance(expected, tuple):
        expected, got = (expected,), (got,)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    check_grads(function, given, order=2 if is_chosen(name, 8) else 1)
    for each, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(each, copy)


LINE, PLACES_ON_IT = np.linspace(0.0, 3.0, 16), np.array([0.3, 1.2, 2.1])
NOISY = np.sin(2.0 * LINE) + 0.1 * np.cos(37.0 * LINE)
CLOSE = 1.0 + 0.1 * np.arange(16.0)
"""Weights."""


def by_weights(x: Any, y: Any, w: Any, s: Any) -> Any:
    return interpolate.UnivariateSpline(x, y, w=w, s=s)(PLACES_ON_IT)


def as_tuples(x: Any, y: Any, w: Any, s: Any) -> Any:
    return interpolate.splev(PLACES_ON_IT, interpolate.splrep(x, y, 9.0 * w, k=2))


def as_objects(x: Any, y: Any, w: Any, s: Any) -> Any:
    return interpolate.make_splrep(x, y, w=w, s=s, k=3)(PLACES_ON_IT)


@pytest.mark.parametrize("function", [by_weights, as_tuples, as_objects])
def test_splines_that_smooth(function: Any) -> None:
    """Knots and the weight of smoothness are FITPACK's; where none is needed, what comes is a polynomial."""
    for s in (0.2, 900.0):
        np.testing.assert_allclose(
            ad.vjp(function, LINE, NOISY, CLOSE, s)[0], function(LINE, NOISY, CLOSE, s), rtol=1e-9, atol=1e-11
        )
        check_grads(function, (LINE, NOISY, CLOSE, s), order=1)


def test_places_outside_are_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        ad.grad(lambda y: np.sum(interpolate.interp1d(X, y)(BEYOND)))(Y)


def test_other_questions_to_a_tree_are_refused() -> None:
    with pytest.raises(ad.DifferentiationError):
        ad.grad(lambda q: float(len(TREE.query_ball_point(q, 0.5))) * q[0])(PLACES[0])
