"""Boundary value problems, multiple integrals and continuous solutions: beside what is known of them in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate

import adjoint as ad
from sampling import IN_DEPTH, check_grads


def sine(a: float, b: float, top: float, t: Any) -> Any:
    found = integrate.solve_bvp(
        lambda x, y: np.vstack((y[1], -a * y[0])),
        lambda first, last: np.array([first[0], last[0] - top]),
        np.linspace(0, b, 5),
        np.zeros((2, 5)),
        tol=1e-8,
    )
    return found.sol(t)[0], found.y[0], found.x


def test_a_boundary_value_problem_moves_with_its_ends_and_parameters() -> None:
    t = np.array([0.2, 0.5, 0.9])

    def exact(a: float, b: float, top: float, t: Any) -> Any:
        return top * np.sin(np.sqrt(a) * t) / np.sin(np.sqrt(a) * b)

    given = (2.0, 1.2, 0.7, t)
    value, pullback = ad.vjp(sine, *given)
    for mine, theirs in zip(value, sine(*given), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)
    ct = np.array([1.0, -2.0, 0.5])
    got = pullback((ct, np.zeros_like(value[1]), np.zeros_like(value[2])))
    for mine, theirs in zip(got, ad.vjp(exact, *given)[1](ct), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    inner = ad.jvp(lambda b: sine(2.0, b, 0.7, t)[2], (1.2,), (1.0,))[1]
    np.testing.assert_allclose(inner, value[2] / 1.2)
    second = ad.hessian(lambda a: np.sum(sine(a, 1.2, 0.7, t)[0]))(2.0)
    np.testing.assert_allclose(second, ad.hessian(lambda a: np.sum(exact(a, 1.2, 0.7, t)))(2.0), rtol=1e-5)


def test_an_eigenvalue_of_a_boundary_value_problem() -> None:
    def frequency(length: float, stiffness: float) -> float:
        found = integrate.solve_bvp(
            lambda x, y, p: [y[1], -stiffness * p[0] ** 2 * y[0]],
            lambda first, last, p: [first[0], last[0], first[1] - p[0]],
            [0.0, length / 2, length],
            [[0.0, 1.0, 0.0], [1.0, 0.0, -1.0]],
            p=[3.0],
            tol=1e-8,
        )
        return found.p[0]

    slopes = ad.grad(frequency, wrt=(0, 1))(1.0, 1.5)
    np.testing.assert_allclose(slopes, (-np.pi / np.sqrt(1.5), -0.5 * np.pi * 1.5**-1.5), rtol=1e-6)


def test_what_a_derivative_of_a_boundary_value_problem_does_not_know() -> None:
    def f(a: float) -> float:
        found = integrate.solve_bvp(
            lambda x, y: np.vstack((y[1], a * y[0])),
            lambda first, last: np.array([first[0], last[0] - 1.0]),
            np.linspace(0, 1, 5),
            np.zeros((2, 5)),
        )
        return found.rms_residuals[0]

    with pytest.raises(ad.DifferentiationError, match="'rms_residuals'"):
        ad.grad(f)(1.0)


@pytest.mark.parametrize("span", [(0.0, 1.0), (1.0, 0.0)])
def test_continuous_solutions(span: tuple[float, float]) -> None:
    def f(k: float, state: Any, t: Any) -> Any:
        found = integrate.solve_ivp(lambda t, y: -k * y, span, state, dense_output=True, rtol=1e-10, atol=1e-12)
        return found.sol(t), found.sol(0.4), found.sol.t_max

    given = (1.5, np.array([1.0, 2.0]), np.array([0.3, 0.9, 0.1]))
    for mine, theirs in zip(ad.vjp(f, *given)[0], f(*given), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8)
    check_grads(f, given, order=1)
    with pytest.raises(ValueError, match="inside of its interval"):
        ad.grad(lambda t: f(1.5, np.ones(1), t)[0][0])(1.5)


def test_integrals_of_arrays() -> None:
    rates = np.array([1.0, 2.0, 0.5])

    def of_arrays(a: float, low: float, high: float, rates: Any) -> Any:
        return integrate.quad_vec(lambda x: np.exp(-a * rates * x), low, high)[0]

    check_grads(of_arrays, (0.7, 0.2, 1.4, rates))
    check_grads(lambda a: integrate.quad_vec(lambda x: np.exp(-a * rates * x), 0, np.inf)[0], (0.7,))
    check_grads(lambda a: integrate.quad_vec(lambda x: a * x * x, 0.0, a)[0], (0.7,))


@IN_DEPTH
def test_integrals_of_three_variables() -> None:
    def volume(a: float) -> Any:
        return integrate.tplquad(lambda z, y, x: a * x * y * z, 0.0, 1.0, 0.0, lambda x: x, lambda x, y: y, 2.0)[0]

    def same(c: float) -> Any:
        ranges = [lambda y, x, a: (y, 2.0), lambda x, a: (0.0, x), (0.0, c)]
        return integrate.nquad(lambda z, y, x, a: a * x * y * z, ranges, args=(0.7,))[0]

    def exact(a: float, c: float) -> float:  # the integral of a * x * (y * (4 - y * y) / 2) over 0 < y < x < c
        return a * (c**4 / 4 - c**6 / 48)

    np.testing.assert_allclose(ad.value_and_grad(volume)(0.7), (exact(0.7, 1.0), exact(1.0, 1.0)))
    along = ad.jvp(same, (1.1,), (1.0,))
    np.testing.assert_allclose(along, (exact(0.7, 1.1), ad.grad(lambda c: exact(0.7, c))(1.1)))


def test_an_integral_that_vanishes_is_found() -> None:
    def f(a: float) -> Any:
        return integrate.quad_vec(lambda x: a * x * np.array([1.0, x]), -1.0, 1.0)[0]

    np.testing.assert_allclose(ad.jacobian(f)(2.0), [0.0, 2.0 / 3.0], atol=1e-12)
