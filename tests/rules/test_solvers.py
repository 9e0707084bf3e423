"""Solvers, integrals and differential equations: derivatives by what they solve, in every mode; what is told."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

import adjoint as ad
from sampling import IN_DEPTH, check_grads

TIGHT = {"rtol": 1e-10, "atol": 1e-10}
POINT = (2.0, 1.0)
PROGRAMS: dict[str, Callable[..., Any]] = {}


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS[function.__name__] = function
    return function


def cubic(x, a, c):
    return x**3 - a * np.sin(c) - c


@program
def by_bracket(a, c):
    return optimize.brentq(lambda x: x**3 - a * np.sin(c) - c, 0.0, 3.0) * a


@program
def by_bisection(a, c):
    return optimize.bisect(cubic, 0.0, 3.0, args=(a, c), xtol=1e-14)


@program
def by_toms748(a, c):
    return optimize.toms748(cubic, 0.0, 3.0, (a, c), xtol=1e-14)


@program
def by_newton(a, c):
    return optimize.newton(lambda x, p: x**3 - p * np.sin(c) - c, 1.0, args=(a,), tol=1e-13)


@program
def by_newton_with_slope(a, c):
    return optimize.newton(lambda x: x**3 - a * np.sin(c) - c, 1.0, fprime=lambda x: 3 * x * x)


@program
def by_root_scalar(a, c):
    found = optimize.root_scalar(cubic, args=(a, c), bracket=[0.0, 3.0], xtol=1e-14)
    assert found.converged
    return found.root + found["root"]


@program
def one_after_the_other(a, c):
    x, total = 1.0, 0.0
    for i in range(3):
        x = optimize.brentq(lambda y: y**3 + y - a * x - i * c, 0.0, 5.0, xtol=1e-14)
        total += x
    return total


@program
def by_fsolve(a, c):
    x = optimize.fsolve(lambda x: [x[0] * a + x[1] - 1.0, x[0] - c * x[1] ** 2], [1.0, 1.0], xtol=1e-13)
    return x @ x


@program
def by_root(a, c):
    def residual(x, k):
        return np.array([x[0] * k + x[1] - 1.0, x[0] - c * x[1] ** 2])

    found = optimize.root(residual, np.ones(2), args=(a,), tol=1e-13)
    return found.x @ found.x + np.sum(found.fun)


@program
def by_root_with_jacobian(a, c):
    found = optimize.root(
        lambda x: np.array([x[0] * a + x[1] - 1.0, x[0] - c * x[1] ** 2]),
        np.ones(2),
        jac=lambda x: np.array([[a, 1.0], [1.0, -2 * c * x[1]]]),
        tol=1e-13,
    )
    return found["x"][0]


@program
def by_fixed_point(a, c):
    return np.sum(optimize.fixed_point(lambda x: np.sqrt(a + c * x), np.ones(2), xtol=1e-13))


@program
def by_minimize(a, c):
    def loss(x):
        return (x[0] - a) ** 2 + (x[1] - c * x[0]) ** 4 + 0.5 * (x[1] - 1.0) ** 2

    found = optimize.minimize(loss, np.zeros(2), jac=ad.grad(loss), method="BFGS", options={"gtol": 1e-11})
    return found.x[0] * found.x[1] + found.fun


@program
def by_root_that_gives_its_jacobian(a, c):
    def both(x, k):
        return [x[0] * k + x[1] - 1.0, x[0] - c * x[1] ** 2], np.array([[k, 1.0], [1.0, -2 * c * x[1]]])

    return optimize.root(both, np.ones(2), args=(a,), jac=True, tol=1e-13).x[0]


@program
def by_root_of_more_equations_than_unknowns(a, c):
    found = optimize.root(lambda x: [x[0] * a - 1.0, x[0] - c, x[0] ** 2 - 0.5], [1.0], method="lm", tol=1e-15)
    return found.x[0] + found.fun @ found.fun


@program
def by_minimize_of_value_and_gradient(a, c):
    def both(x, k):
        return (x[0] - k) ** 2 + c * x[0] ** 4, np.array([2.0 * (x[0] - k) + 4.0 * c * x[0] ** 3])

    found = optimize.minimize(both, np.zeros(1), args=a, jac=True, options={"gtol": 1e-12})
    return found.x[0] * found.fun


TIMES = np.linspace(0.0, 2.0, 5)
EXACT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}


def decaying(t, height, rate):
    return height * np.exp(-rate * t)


def slopes(x):
    return np.stack([np.exp(-x[1] * TIMES), -TIMES * decaying(TIMES, x[0], x[1])], axis=1)


def measured(a, c):
    """No model fits this: the second derivatives of the residuals count."""
    return a * np.exp(-TIMES) + 0.02 * np.sin(4.0 * c * TIMES)


@program
def by_least_squares(a, c):
    y = measured(a, c)
    found = optimize.least_squares(lambda x: decaying(TIMES, x[0], x[1]) - y, [1.0, 1.0], slopes, **EXACT)
    return found.x[0] * found.x[1] + found.cost + found["fun"][0]


@program
def by_leastsq(a, c):
    y = measured(a, c)
    slope = lambda x, k: slopes(x) * k
    residuals = lambda x, k: (decaying(TIMES, x[0], x[1]) - y) * k
    return optimize.leastsq(residuals, [1.0, 1.0], (2.0,), slope, ftol=1e-15, xtol=1e-15)[0][1]


@program
def by_quad(a, c):
    return integrate.quad(lambda t: np.exp(-a * t * t) * c, 0.0, a)[0]


@program
def by_quad_without_end(a, c):
    area, error = integrate.quad(lambda t, k: np.exp(-k * t * t) * c, 0.0, np.inf, args=(a,))
    assert error < 1e-6
    return area


@program
def by_quad_of_arrays(a, c):
    w = np.array([a, c])
    return integrate.quad(lambda t: np.sum(np.sin(w * t)), c, 2.0)[0]


@program
def by_solve_ivp(a, c):
    found = integrate.solve_ivp(lambda t, y: [y[1], -a * y[0] - 0.1 * c * y[1]], (0.0, 2.0), [1.0, c], **TIGHT)
    assert found.success
    return found.y[0, -1]


@program
def by_solve_ivp_at_times(a, c):
    times = np.array([0.0, 0.5, 0.9])
    found = integrate.solve_ivp(lambda t, y, k: -k * y * t, (0.0, 1.0), [c, a], t_eval=times, args=(a,), **TIGHT)
    return np.sum(found.y**2)


@program
def by_solve_ivp_between_moving_times(a, c):
    return integrate.solve_ivp(lambda t, y: -a * y * t, (0.1 * a, c), [1.0], **TIGHT).y[0, -1]


def ground(t, y):
    return y[0]


ground.terminal = True
ground.direction = -1


@program
def by_a_terminal_event(a, c):
    found = integrate.solve_ivp(lambda t, y: [y[1], -c - 0.1 * y[1]], (0.0, 10.0), [a, 0.0], events=ground, **TIGHT)
    assert found.status == 1
    return found.t[-1] * found.y[1, -1] + found.t_events[0][0]


@program
def by_odeint(a, c):
    y = integrate.odeint(lambda y, t: -a * y + np.sin(c * t), 1.0, np.linspace(0.0, 2.0, 4), **TIGHT)
    return np.sum(y * y)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_mode_in_both_orders(name: str) -> None:
    f = PROGRAMS[name]
    value, gradient = ad.value_and_grad(f, wrt=(0, 1))(*POINT)
    assert abs(value - f(*POINT)) < 1e-9
    tangents = [ad.jvp(f, POINT, direction)[1] for direction in ((1.0, 0.0), (0.0, 1.0))]
    np.testing.assert_allclose(tangents, gradient, rtol=1e-8, atol=1e-9)
    _, curvature = ad.jvp(ad.grad(f, wrt=(0, 1)), POINT, (0.6, -0.8))
    step, slope = 1e-4, ad.grad(f, wrt=(0, 1))

    def moved(k: float) -> Any:
        return POINT[0] + 0.6 * k * step, POINT[1] - 0.8 * k * step

    difference = (f(*moved(1)) - f(*moved(-1))) / (2 * step)
    assert abs(np.dot(gradient, (0.6, -0.8)) - difference) < 2e-6
    differences = np.subtract(slope(*moved(1)), slope(*moved(-1))) / (2 * step)
    np.testing.assert_allclose(curvature, differences, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["by_bracket", "by_fsolve", "by_quad", "by_solve_ivp"])
def test_gradients_of_gradients(name: str) -> None:
    f = PROGRAMS[name]
    twice = ad.grad(lambda a: ad.grad(lambda b: f(b, 1.0))(a))(2.0)
    assert abs(twice - ad.hessian(f)(*POINT)) < 1e-8


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_robust_losses(loss: str) -> None:
    def location(a: float) -> float:
        y, options = np.array([0.5, 0.4 * a, 0.6]), {"loss": loss, "f_scale": 0.2 * a, **EXACT}
        return optimize.least_squares(lambda x, y: x - y, 0.5, args=(y,), **options).x[0]

    difference = (location(2.001) - location(1.999)) / 2e-3
    assert abs(ad.grad(location)(2.0) - difference) < 1e-4
    assert abs(ad.jvp(location, (2.0,), (1.0,))[1] - difference) < 1e-4


@pytest.mark.parametrize(
    ("sigma", "options"),
    [
        (None, {}),
        (TIMES + 0.5, {}),
        (np.diag(TIMES + 0.5) + 0.1, {"method": "trf", "p0": [1.0, 1.0], "absolute_sigma": True}),
    ],
)
def test_curves_are_fitted(sigma: Any, options: dict[str, Any]) -> None:
    """Against Newton's method for the normal equations, all of them: SciPy's Jacobian is one of differences."""

    def fit(y: Any) -> Any:
        found, covariance = optimize.curve_fit(decaying, TIMES, y, sigma=sigma, xtol=1e-15, ftol=1e-15, **options)
        return found[1] + np.sqrt(covariance[0, 0])

    if sigma is None or sigma.ndim == 1:
        weights = np.eye(5) if sigma is None else np.diag(sigma**-2.0)
    else:
        weights = np.linalg.inv(sigma)

    def by_hand(y: Any) -> Any:
        x = np.array([2.0, 0.9])
        for _ in range(60):
            r = decaying(TIMES, x[0], x[1]) - y
            e = np.exp(-x[1] * TIMES)
            bends = np.array([[0.0 * e, -TIMES * e], [-TIMES * e, TIMES**2 * x[0] * e]])
            normal, slope = slopes(x).T @ weights @ slopes(x), slopes(x).T @ weights @ r
            x = x - np.linalg.solve(normal + bends @ (weights @ r), slope)
        scale = 1.0 if options else r @ weights @ r / 3.0
        return x[1] + np.sqrt(np.linalg.inv(slopes(x).T @ weights @ slopes(x))[0, 0] * scale)

    y, towards = measured(*POINT), np.array([0.3, -1.0, 0.5, 0.2, 0.7])
    value, gradient = ad.value_and_grad(fit)(y)
    assert abs(value - by_hand(y)) < 1e-6
    difference = (by_hand(y + 1e-5 * towards) - by_hand(y - 1e-5 * towards)) / 2e-5
    assert abs(gradient @ towards - difference) < 1e-5
    assert abs(ad.jvp(fit, (y,), (towards,))[1] - gradient @ towards) < 1e-9


def test_units_of_unknowns_do_not_make_a_fit_singular() -> None:
    def fit(height: float) -> float:
        y = height * np.exp(-TIMES)
        unit = np.array([1.0, 1e-9])
        slope = lambda x: slopes(x * unit) * unit
        residuals = lambda x: decaying(TIMES, x[0], 1e-9 * x[1]) - y
        return optimize.least_squares(residuals, [1.0, 0.8e9], slope, x_scale=[1.0, 1e9], **EXACT).x[0]

    assert abs(ad.grad(fit)(1.5) - 1.0) < 1e-8


def test_minimisers_by_their_formula() -> None:
    """What SciPy finds without a gradient is too coarse for differences."""

    def least(a: float, c: float) -> float:
        return optimize.minimize_scalar(lambda x: (x - a) ** 2 + c * np.exp(x), tol=1e-12).x

    x = least(2.0, 1.0)
    curvature = 2.0 + np.exp(x)
    np.testing.assert_allclose(
        ad.grad(least, wrt=(0, 1))(2.0, 1.0), (2.0 / curvature, -np.exp(x) / curvature), rtol=1e-6
    )

    def without_gradient(a: float) -> float:
        return optimize.minimize(lambda x: (x[0] - a) ** 2 + x[0] ** 4, np.zeros(1)).x[0]

    x = without_gradient(2.0)
    assert abs(ad.grad(without_gradient)(2.0) - 2.0 / (2.0 + 12.0 * x * x)) < 1e-5


@dataclass
class Line:
    slope: float
    offset: np.ndarray


def test_what_functions_capture() -> None:
    def of_object(line: Line) -> float:
        return optimize.brentq(lambda x: line.slope * x - np.sum(line.offset), 0.0, 9.0)

    found = ad.grad(of_object)(Line(2.0, np.array([1.0, 2.0])))
    assert abs(found.slope + 0.75) < 1e-9
    np.testing.assert_allclose(found.offset, [0.5, 0.5])

    def of_default(a: float) -> float:
        return optimize.brentq(lambda x, c=a: x * x - c, 0.0, 3.0)

    assert abs(ad.grad(of_default)(2.0) - 0.5 / math.sqrt(2.0)) < 1e-9

    def of_several(a: float) -> float:
        return sum(optimize.brentq(f, 0.0, 3.0) for f in [lambda x: x - a, lambda x: x * x - a])

    assert abs(ad.grad(of_several)(2.0) - 1.0 - 0.5 / math.sqrt(2.0)) < 1e-9


def test_derivatives_taken_inside() -> None:
    def stationary(a: float) -> float:
        return optimize.brentq(ad.grad(lambda x: (x - a) ** 2 + x**4), 0.0, 3.0, xtol=1e-14)

    check_grads(stationary, (1.5,))


# --- one's own solvers


def sqrt_opaque(a: float) -> float:
    return math.sqrt(a)


def sqrt_read(a):
    x = 1.0
    while abs(x * x - a) > 1e-14:
        x = 0.5 * (x + a / x)
    return x


def linear_opaque(a, b) -> np.ndarray:
    return np.linalg.solve(a, b)


@pytest.mark.parametrize("solve", [sqrt_opaque, sqrt_read])
def test_implicit_functions(solve: Callable[..., Any]) -> None:
    root = ad.implicit(solve, lambda x, a: x * x - a)
    assert root(2.0) == solve(2.0)
    check_grads(lambda a: root(a) * a, (2.0,))
    check_grads(root, (2.0,))


def test_implicit_functions_of_arrays() -> None:
    solution = ad.implicit(linear_opaque, lambda x, a, b: a @ x - b)
    check_grads(lambda a, b: np.sum(solution(a, b) ** 2), (np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, 2.0])))


def test_implicit_functions_that_capture() -> None:
    def loss(a: float, b: float) -> float:
        def objective(x, k):
            return (x[0] - k) ** 2 + (x[1] - b * x[0]) ** 2 + x[0] ** 4

        def solve(k):
            x = np.zeros(2)
            for _ in range(60):
                x = x - np.linalg.solve(ad.hessian(objective)(x, k), ad.grad(objective)(x, k))
            return x

        return np.sum(ad.implicit(solve, ad.grad(objective))(a))

    slope = ad.grad(loss, wrt=(0, 1))(1.2, 0.4)
    differences = [
        (loss(*above) - loss(*below)) / 2e-6
        for above, below in (
            ((1.2 + 1e-6, 0.4), (1.2 - 1e-6, 0.4)),
            ((1.2, 0.4 + 1e-6), (1.2, 0.4 - 1e-6)),
        )
    ]
    np.testing.assert_allclose(slope, differences, rtol=1e-6)


def test_the_text_is_the_theorem() -> None:
    root = ad.implicit(sqrt_opaque, lambda x, a: x * x - a)
    text = str(ad.source(ad.grad(lambda a: root(a)), 2.0))
    assert "root(function, answered, (sqrt_opaque, a), 1, a)" in text
    assert "/ slope" in text


# --- events


def by_events_that_happen_several_times(a, c):
    def level(t, y, k):
        return y[0] - 0.3 * k

    def turn(t, y, k):
        return y[1]

    rate = lambda t, y, k: [y[1], -k * y[0]]
    found = integrate.solve_ivp(rate, (0.0, 6.0), [a, 0.0], events=[level, turn], args=(c,), **TIGHT)
    return np.sum(found.t_events[0]) + np.sum(found.y_events[0][:, 1] ** 2) * found.t_events[1][1]


def by_an_event_before_the_end_of_the_known(a, c):
    def empty(t, y):
        return y[0] - 0.1 * c

    empty.terminal = True
    rate = lambda t, y: -c * np.sqrt(y)
    found = integrate.solve_ivp(rate, (0.0, 9.0), [a], events=empty, t_eval=np.linspace(0.0, 9.0, 10), **TIGHT)
    return np.sum(found.y**2) + found.t_events[0][0]


@IN_DEPTH
@pytest.mark.parametrize("f", [by_events_that_happen_several_times, by_an_event_before_the_end_of_the_known])
def test_events(f: Callable[..., Any]) -> None:
    check_grads(f, POINT, order=1)


def test_events_as_scipy_finds_them() -> None:
    """The same steps, so the same values, with tolerances that are not small."""

    def fall(a: float) -> float:
        events = [ground, lambda t, y: t - 20]
        found = integrate.solve_ivp(lambda t, y: [y[1], -a], (0.0, 10.0), [1.0, 0.1], events=events)
        assert len(found.t_events[1]) == 0
        return found.t[-1] + found.y_events[0][0, 1] * found.y[1, -1]

    value, slope = ad.value_and_grad(fall)(2.0)
    assert value == fall(2.0)
    assert abs(slope - (fall(2.0 + 1e-4) - fall(2.0 - 1e-4)) / 2e-4) < 1e-6


def test_attributes_of_functions_that_are_made_here() -> None:
    def f(x):
        def g(y):
            return y * x

        h = g
        h.scale = 3.0
        return g(x) * getattr(g, "scale", 1.0) * getattr(h, "other", 2.0) * hasattr(g, "scale")

    assert ad.grad(f)(2.0) == 24.0

    def on_a_path(x):
        def g(y):
            return y * x

        if x > 0.0:
            g.scale = 3.0
        return g(x)

    label = "an attribute of a function, which it did not have before, is assigned on some paths only"
    refused(on_a_path, "AD0301", label)


# --- what raises


def raising(error: type[Exception], words: str, f: Callable[..., Any], *modes: str) -> None:
    for derivative in (ad.grad(f), lambda a: ad.jvp(f, (a,), (1.0,))):
        with pytest.raises(error, match=words):
            derivative(1.5)


def test_what_does_not_converge_raises() -> None:
    raising(RuntimeError, "converge", lambda a: optimize.fsolve(lambda x: x * x + a * a, [1.0])[0])
    raising(RuntimeError, "converge", lambda a: optimize.newton(lambda x: x * x + a * a, 1.0))
    raising(RuntimeError, "root did not converge", lambda a: optimize.root(lambda x: x * x + a * a, [1.0]).x[0])
    raising(ValueError, "different signs", lambda a: optimize.brentq(lambda x: x * x + a, 0.0, 1.0))
    early = {"maxiter": 1}
    f = lambda a: optimize.minimize(lambda x: np.sum((x - a) ** 4), [0.0], options=early).x[0]
    raising(RuntimeError, "minimize did not converge", f)
    raising(ArithmeticError, "converge", lambda a: integrate.quad(lambda t: a / t, 0.0, 1.0)[0])
    raising(
        RuntimeError, "solve_ivp failed", lambda a: integrate.solve_ivp(lambda t, y: a * y**2, (0, 9), [1.0]).y[0, -1]
    )


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2, bounds=(0.0, 1.0)).x, 0.0),
        (lambda a: optimize.minimize_scalar(lambda x: (x - a / 1.4999) ** 2, bounds=(0.0, 1.0)).x, 0.0),
        (lambda a: optimize.minimize_scalar(lambda x: (x - a / 1.502) ** 2, bounds=(0.0, 1.0)).x, 1.0 / 1.502),
        (lambda a: optimize.minimize_scalar(lambda x: (x - 5.0) ** 2, bounds=(0.0, a)).x, 1.0),
        (lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2, bounds=(2.0 * a, 9.0)).x, 2.0),
        (
            lambda a: (
                optimize.minimize_scalar(
                    lambda x: (x - a) ** 2, bounds=(2.0 * a, 9.0), method="bounded", options={"xatol": 1e-8}
                ).fun
            ),
            2.0 * 1.5,
        ),
        (lambda a: optimize.fminbound(lambda x: (x - 1.0) ** 2, 0.0, a), 0.0),
        (lambda a: optimize.fminbound(lambda x, b: (x - b) ** 2, 0.0, 9.0, (a * a,), xtol=1e-9), 3.0),
    ],
)
def test_a_bound_takes_the_minimum_along(f: Callable[[float], float], slope: float) -> None:
    for derivative in (ad.grad(f)(1.5), ad.jvp(f, (1.5,), (1.0,))[1]):
        assert derivative == pytest.approx(slope, abs=1e-5)


def test_what_is_no_solution_raises() -> None:
    wrong = ad.implicit(lambda a: 0.5 * a, lambda x, a: x * x - a)
    raising(ValueError, "no solution: the residual there is -0.9375", lambda a: wrong(a))


def test_singular_jacobians_raise() -> None:
    singular = "the Jacobian of the residual is singular at the solution"
    raising(
        np.linalg.LinAlgError, singular, lambda a: optimize.fsolve(lambda x: np.ones(2) * (x[0] - a), [1.0, 1.0])[0]
    )
    double = ad.implicit(lambda a: a, lambda x, a: (x - a) ** 2)
    raising(np.linalg.LinAlgError, singular, lambda a: double(a))


# --- what is refused


def refused(f: Callable[..., Any], code: str, label: str) -> None:
    for derivative in (ad.grad(f), lambda a: ad.jvp(f, (a,), (1.0,))):
        with pytest.raises(ad.DifferentiationError) as caught:
            derivative(1.5)
        problem = caught.value.diagnostics[0]
        assert (problem.code, problem.labels[0].text) == (code, label)
        assert problem.span is not None
        assert problem.span.file == __file__


def test_reports_of_roots() -> None:
    def f(a):
        bracketed, report = optimize.brentq(lambda x: x * x - a, 0.0, 3.0, full_output=True)
        found, other = optimize.newton(lambda x: x**3 - a, 1.0, full_output=True)
        return bracketed * found * (2.0 if report.converged and other.converged else 3.0) + report.root * other.root

    check_grads(f, (1.7,), order=2)
    assert ad.value_and_grad(f)(1.7)[0] == pytest.approx(f(1.7), rel=1e-12)


def test_reports_of_systems() -> None:
    def f(a, limit=0):
        equations = lambda x: [x[0] ** 2 - a, x[0] * x[1] - 1.0]
        x, report, flag, message = optimize.fsolve(equations, [1.0, 1.0], full_output=True, maxfev=limit)
        if flag != 1:
            raise ValueError(message)
        slope = lambda y: [[3.0 * y[0] ** 2]]
        other = optimize.fsolve(lambda y: y**3 - a, 1.0, fprime=slope, full_output=1)
        return x[0] * x[1] ** 2 + np.sum(report["fvec"]) + other[0][0] * other[2]

    check_grads(f, (1.7,), order=2)
    assert ad.value_and_grad(f)(1.7)[0] == pytest.approx(f(1.7), rel=1e-12)
    with pytest.raises(RuntimeError, match="converge"):
        ad.grad(f)(1.7, 3)


def test_a_root_that_is_not_found_raises_whatever_disp_says() -> None:
    f = lambda a, n: optimize.bisect(lambda x: x * x - a, 0.0, 3.0, maxiter=n, disp=False)
    assert ad.grad(f)(2.0, 100) == pytest.approx(0.5 / np.sqrt(2.0))
    with pytest.raises(RuntimeError, match="converge"):
        ad.grad(f)(2.0, 3)


def test_options_that_are_not_covered_are_refused_by_name() -> None:
    known = "no derivative of {!r} is known with {}"
    f = lambda a: optimize.newton(lambda x: x - a, 0.0, fprime2=lambda x: 0.0)
    refused(f, "AD0204", known.format("newton", "fprime2"))
    f = lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, np.zeros(1), bounds=[(0, 1)], jac="2-point").x[0]
    refused(f, "AD0204", known.format("minimize", "bounds and jac"))
    f = lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, np.zeros(1), constraints={"type": "eq"}).x[0]
    refused(f, "AD0204", known.format("minimize", "constraints"))
    f = lambda a: optimize.least_squares(lambda x: x - a, [1.0], bounds=(0.0, 1.0)).x[0]
    refused(f, "AD0204", known.format("least_squares", "bounds"))
    f = lambda a: optimize.least_squares(lambda x: x - a, [1.0], loss=lambda z: np.stack([z, z, z])).x[0]
    refused(f, "AD0204", known.format("least_squares", "a loss of one's own"))
    f = lambda a: optimize.least_squares(lambda x: x - a, [1.0], jac="cs").x[0]
    refused(f, "AD0204", known.format("least_squares", "jac='cs'"))
    f = lambda a: optimize.leastsq(lambda x: x - a, [1.0], full_output=True)[0][0]
    refused(f, "AD0204", known.format("leastsq", "full_output"))
    f = lambda a: optimize.curve_fit(lambda t, b: a * b * t, TIMES, TIMES, bounds=(0.0, 1.0))[0][0]
    refused(f, "AD0204", known.format("curve_fit", "bounds"))
    f = lambda a: optimize.curve_fit(lambda t, b: a * b * t, TIMES, TIMES, method="trf", loss="huber")[0][0]
    refused(f, "AD0204", known.format("curve_fit", "loss"))
    f = lambda a: optimize.curve_fit(lambda t, b: a * b * t, TIMES, TIMES, jac=lambda t, b: t[:, None] * a)[0][0]
    refused(f, "AD0204", known.format("curve_fit", "a jac of one's own"))
    f = lambda a: integrate.quad(lambda t: a * t, 0.0, 1.0, weight="cos", wvar=1.0)[0]
    refused(f, "AD0204", known.format("quad", "weight"))
    f = lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), [1.0], vectorized=True).y[0, -1]
    refused(f, "AD0204", known.format("solve_ivp", "vectorized"))
    f = lambda a: integrate.odeint(lambda y, t: -a * y, 1.0, [0.0, 1.0], full_output=True)[0][-1, 0]
    refused(f, "AD0204", known.format("odeint", "full_output"))


def test_solvers_that_are_not_covered_are_refused_by_name() -> None:
    f = lambda a: optimize.direct(lambda x: (x[0] - a) ** 2, [(0.0, 1.0)]).x[0]
    refused(f, "AD0204", "no derivative of 'direct' is known with any argument")
    f = lambda a: integrate.quad_vec(lambda t: np.ones(2) * a * t, 0.0, 1.0, workers=2)[0][0]
    refused(f, "AD0204", "no derivative of 'quad_vec' is known with workers")


def test_what_a_solver_tells_of_its_way_is_refused() -> None:
    f = lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, np.zeros(1)).nit * a
    refused(f, "AD0204", "derivatives know the solution that a solver returns, not its 'nit'")


def test_complex_roots_are_refused() -> None:
    f = lambda a: optimize.newton(lambda z: z * z + a, 1j).imag
    refused(f, "AD0204", "derivatives are known of real roots, and this starts from a complex number")


def test_functions_with_effects_are_refused() -> None:
    def counting(a: float) -> float:
        count = 0

        def f(x):
            nonlocal count
            count += 1
            return x - a

        return optimize.brentq(f, 0.0, 3.0)

    def storing(a: float) -> float:
        buffer = np.zeros(2)

        def f(x):
            buffer[0] = x * a
            return buffer[0] - 1.0

        return optimize.brentq(f, 0.0, 3.0)

    what = "the function that a solver is handed"
    refused(counting, "AD0302", f"{what} changes a variable or object from outside")
    refused(storing, "AD0303", f"{what} writes an array that it captures")
    refused(
        lambda a: optimize.brentq(lambda x: [x - a], 0.0, 3.0),
        "AD0407",
        f"{what} returns a list, not a number or an array",
    )


def test_machine_code_calls_solvers() -> None:
    assert ad.grad(by_bracket, native="strict")(*POINT) == pytest.approx(ad.grad(by_bracket)(*POINT), rel=1e-13)


def test_exported_derivatives_need_only_the_runtime(tmp_path: Path) -> None:
    ad.export(tmp_path / "exported.py", ad.grad(by_quad), *POINT)
    code = "import exported, sys; print(exported.by_quad_grad(2.0, 1.0), 'adjoint.frontend' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    value, loaded = done.stdout.split()
    assert (float(value), loaded) == (ad.grad(by_quad)(*POINT), "False")


def test_a_fixed_point_of_a_number_is_an_array_that_may_be_written() -> None:
    def summed(v: Any, a: float) -> Any:
        found = optimize.fixed_point(lambda x: math.cos(x * a), 0.36, xtol=1e-13)
        total = found
        for e in v:
            total += e * found
        return float(found)

    v = np.array([0.3, -0.4])
    assert ad.value_and_grad(summed, wrt=(0, 1))(v, 0.7)[0] == summed(v, 0.7)
    check_grads(summed, (v, 0.7))


def test_minima_within_bounds() -> None:
    """Unknowns that a bound holds move with it; where it does not quite hold, there is no derivative."""

    def within(p, bounds, method=None):
        cost = lambda x: np.sum((x - p) ** 2) + x[0] * x[1]
        return optimize.minimize(cost, [0.5, 0.5], method=method, bounds=bounds, tol=1e-14).x

    p = np.array([1.0, 1.5])
    inside = ad.jacobian(lambda p: within(p, [(0, 5), (0, None)], "L-BFGS-B"))(p)
    np.testing.assert_allclose(inside, np.array([[4.0, -2.0], [-2.0, 4.0]]) / 3.0, rtol=1e-6)
    held = ad.jacobian(lambda p: within(p, [(0.5 * p[0], 5), (0, 5)]))(np.array([0.8, 1.5]))
    np.testing.assert_allclose(held, [[0.5, 0.0], [-0.25, 1.0]], rtol=1e-6)
    both = ad.jacobian(lambda p: within(p, optimize.Bounds([0, 0], [0.1, 0.2])))(p)
    assert both.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match="a bound that does not hold it"):
        ad.jacobian(lambda p: within(p, [(0, 5), (0, 5)]))(np.array([1.0, 2.0]))


OLDER = {
    "fmin": lambda p: optimize.fmin(curved, [0.5, 0.5], (p,), xtol=1e-9, ftol=1e-12, disp=0),
    "fmin_cg": lambda p: optimize.fmin_cg(lambda x: curved(x, p), [0.5, 0.5], gtol=1e-9, disp=False),
    "brent": lambda p: optimize.brent(lambda x: (x - p[0]) ** 2 + p[1] * x),
    "newton_krylov": lambda p: optimize.newton_krylov(lambda x: [x[0] ** 3 + x[0] - p[0]], [0.5], f_tol=1e-11),
    "broyden1": lambda p: optimize.broyden1(lambda x: x**3 + x - p, np.array([0.5, 0.5]), f_tol=1e-11),
}


def curved(x, p):
    return (x[0] - p[0]) ** 2 + 2 * (x[1] - p[1] * p[0]) ** 2 + (x[0] - p[0]) ** 4


@pytest.mark.parametrize("name", OLDER)
def test_older_forms(name: str) -> None:
    check_grads(OLDER[name], (np.array([1.1, 0.7]),), order=1, tol=1e-4)


def test_integrals_whose_derivatives_have_an_infinite_slope_at_an_end():
    def quarter_of_a_disk(r):
        return integrate.quad(lambda x: math.sqrt(r * r - x * x), 0.0, r)[0]

    def angles(r, c):
        return integrate.quad(lambda x, w: math.acos(x / w), -r, c * r, args=(r,))[0]

    assert np.isclose(ad.grad(quarter_of_a_disk)(0.7), math.pi * 0.7 / 2, rtol=1e-9)
    slopes = ad.grad(angles, wrt=(0, 1))(0.3, 1.0)
    assert np.isclose(slopes[0], math.pi, rtol=1e-8) and abs(slopes[1]) < 1e-9
