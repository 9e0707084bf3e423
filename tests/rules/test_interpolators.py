"""Classes of `scipy.interpolate`: values beside SciPy's, derivatives by values, nodes, coefficients and places."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate
from scipy.sparse.linalg import spsolve

import adjoint as ad
from sampling import IN_DEPTH, THOROUGH, check_grads, is_chosen

X = np.array([0.0, 0.5, 1.1, 2.0, 2.3, 3.1])
Y = np.array([0.1, 0.7, 0.2, -0.4, 0.3, 0.35])
ROWS = np.stack([Y, np.cos(X)], axis=1)
AT = np.array([-0.2, 0.3, 1.0, 2.2, 3.3])
MAKERS: dict[str, Callable[..., Any]] = {
    "not a knot": interpolate.CubicSpline,
    "natural": lambda x, y: interpolate.CubicSpline(x, y, bc_type="natural"),
    "clamped": lambda x, y: interpolate.CubicSpline(x, y, bc_type=("clamped", (2, 0.3))),
    "inside": lambda x, y: interpolate.CubicSpline(x, y, extrapolate=False),
    "pchip": interpolate.PchipInterpolator,
    "akima": lambda x, y: interpolate.Akima1DInterpolator(x, y, extrapolate=True),
    "makima": lambda x, y: interpolate.Akima1DInterpolator(x, y, method="makima"),
    "hermite": lambda x, y: interpolate.CubicHermiteSpline(x, y, np.sin(y)),
    "linear spline": lambda x, y: interpolate.make_interp_spline(x, y, k=1),
    "quadratic spline": lambda x, y: interpolate.make_interp_spline(x, y, k=2),
    "cubic spline": interpolate.make_interp_spline,
}


@pytest.mark.parametrize("name", [name for name in MAKERS if name == "not a knot" or is_chosen(name, 4)])
def test_made_of_what_varies(name: str) -> None:
    maker = MAKERS[name]
    at = AT[1:-1] if name in ("inside", "makima") else AT

    def values(x: Any, y: Any, at: Any) -> Any:
        spline = maker(x, y)
        return spline(at) * 1.5, spline(at[1], 1)

    given = (X, Y, at)
    got, _ = ad.value_and_grad(lambda *a: np.sum(values(*a)[0]))(*given)
    np.testing.assert_allclose(got, np.sum(values(*given)[0]), rtol=1e-12)
    check_grads(values, given, order=1)


@pytest.mark.parametrize("name", [name for name in MAKERS if name == "cubic spline" or is_chosen(name, 3)])
def test_integrals_of_what_varies(name: str) -> None:
    maker = MAKERS[name]

    def values(x: Any, y: Any, a: float, b: float) -> Any:
        spline = maker(x, y)
        whole = spline.antiderivative()
        return spline.integrate(a, b) * 1.5, spline.integrate(b, a), whole(b), whole.derivative()(a)

    given = (X, Y, 0.3, 2.7)
    got = ad.vjp(values, *given)[0]
    np.testing.assert_allclose(got, values(*given), rtol=1e-12)
    check_grads(values, given, order=1)


@pytest.mark.parametrize("count", [2, 3, 4] if THOROUGH else [3])
def test_of_few_nodes_and_of_rows(count: int) -> None:
    for maker in (interpolate.CubicSpline, interpolate.PchipInterpolator):
        check_grads(lambda y, at, m=maker: m(X[:count], y)(at), (ROWS[:count], AT), order=1)  # type: ignore[misc]
        check_grads(lambda y, at, m=maker: m(X[:count], y, axis=1)(at), (ROWS[:count].T, AT[:2]), order=1)  # type: ignore[misc]


SPLINE = interpolate.CubicSpline(X, Y)
MADE = [
    SPLINE,
    SPLINE.derivative(),
    interpolate.PchipInterpolator(X, ROWS),
    interpolate.Akima1DInterpolator(X, Y),
    interpolate.make_interp_spline(X, ROWS),
    interpolate.BSpline(np.arange(9.0) - 3.5, Y[:5], 3, extrapolate=False),
    interpolate.CubicSpline(X, np.append(Y[:-1], Y[0]), bc_type="periodic"),
]


@pytest.mark.parametrize(
    "spline",
    [each for i, each in enumerate(MADE) if i == 0 or is_chosen(str(i), 3)],
    ids=lambda spline: type(spline).__name__,
)
def test_from_outside(spline: Any) -> None:
    at = AT[1:-2] if spline.extrapolate is not True else AT
    np.testing.assert_allclose(ad.vjp(lambda at: spline(at), at)[0], spline(at), rtol=1e-12)
    check_grads(lambda at: spline(at), (at,), order=1)
    if spline.extrapolate != "periodic":
        whole = spline.antiderivative(2)
        check_grads(lambda at: spline.integrate(at[0], at[1]) * whole(at[0]), (at[:2],), order=1)
        np.testing.assert_allclose(
            ad.vjp(lambda a, b: spline.integrate(a, b), -1.0, 2.0)[0], spline.integrate(-1.0, 2.0), rtol=1e-12
        )
    if isinstance(spline, interpolate.CubicSpline):
        check_grads(lambda at: spline.derivative()(at) * spline(at, 2), (at,), order=1)


def test_grids() -> None:
    z = np.sin(np.outer(X, np.arange(4.0)))
    at = np.array([[0.3, 1.2], [1.9, 2.7], [3.0, 0.1]])
    made = interpolate.RegularGridInterpolator((X, np.arange(4.0)), z)
    np.testing.assert_allclose(ad.vjp(lambda at: made(at), at)[0], made(at), rtol=1e-13)
    check_grads(lambda at: made((at[:, 0], at[:, 1])), (at,), order=1)

    def values(x: Any, z: Any, at: Any) -> Any:
        open_ended = interpolate.RegularGridInterpolator((x, np.arange(4.0)), z, bounds_error=False, fill_value=None)
        return open_ended(at) * interpolate.interpn((x, np.arange(4.0)), z, at, method="nearest", bounds_error=False)

    check_grads(values, (X, z, at), order=1)
    with pytest.raises(ValueError, match="out of bounds"):
        ad.grad(lambda at: np.sum(made(at)))(at + 2.0)


def test_integrals_of_periodic_curves_are_refused() -> None:
    def f(y: Any) -> Any:
        return interpolate.CubicSpline(X, y, extrapolate="periodic").integrate(0.3, 4.0)

    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(f)(Y)
    assert [each.code for each in refusal.value.diagnostics] == ["AD0204"]


@IN_DEPTH
def test_splines_on_grids() -> None:
    rng = np.random.default_rng(0)
    y, values = np.arange(7.0), rng.normal(size=(6, 7))
    at = np.stack([rng.uniform(X[0], X[-1], 4), rng.uniform(0, 6, 4)], 1)

    def straight(values: Any, at: Any) -> Any:
        return interpolate.RegularGridInterpolator((X, y), values, method="slinear")(at)

    def cubic(values: Any, at: Any) -> Any:
        return interpolate.RegularGridInterpolator((X, y), values, method="cubic", solver=spsolve)(at)

    for f in (straight, cubic):
        np.testing.assert_allclose(ad.vjp(f, values, at)[0], f(values, at), rtol=1e-10, atol=1e-12)
        check_grads(f, (values, at), order=1)

    def iterated(values: Any, at: Any) -> Any:
        return interpolate.RegularGridInterpolator((X, y), values, method="cubic")(at)

    # SciPy finds these coefficients by iteration: its values are as they are, and move as the exact ones do
    value, pullback = ad.vjp(iterated, values, at)
    np.testing.assert_array_almost_equal(value, iterated(values, at), decimal=12)
    for mine, exact in zip(pullback(np.ones(4)), ad.vjp(cubic, values, at)[1](np.ones(4)), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-4, atol=1e-4)


@IN_DEPTH
def test_places_where_a_curve_has_a_value() -> None:
    def roots(y: Any) -> Any:
        return interpolate.CubicSpline(X, y).roots(extrapolate=False)

    np.testing.assert_allclose(ad.vjp(roots, Y)[0], roots(Y), rtol=1e-12)
    check_grads(roots, (Y,))
    check_grads(lambda v: SPLINE.solve(v[0], extrapolate=False)[0] * v[1], (np.array([0.15, 2.0]),), order=1)
    with pytest.raises(ValueError, match="along a whole interval"):
        ad.grad(lambda y: np.sum(interpolate.PchipInterpolator(X, y).roots()))(0.0 * Y)


def test_a_whole_number_is_clipped_between_numbers_that_vary() -> None:
    def f(y: Any) -> Any:
        through = interpolate.UnivariateSpline(X, y, s=0)
        return through(0.7), interpolate.UnivariateSpline(X, 2.0 * y, s=0).integral(0, 1)

    check_grads(f, (Y,), order=1)
