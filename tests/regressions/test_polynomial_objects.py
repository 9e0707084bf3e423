"""Polynomials as objects: made of what varies, given, or not varying, and handed to NumPy's functions of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, polynomial

import adjoint as ad
from regressions.differences import refused, right, second
from sampling import check_grads

C = np.array([0.7, -1.2, 0.4])
GIVEN = np.poly1d([2.0, -1.0, 3.0])


def values(c):
    p = np.poly1d(c)
    return p(1.5) + np.sum(p(c)) * p(c[0]) + p(np.poly1d([1.0, 2.0]))(0.3)


def derivatives(c):
    p = np.poly1d(c)
    return p.deriv()(0.5) + p.deriv(2)(1.0) + p.integ()(c[0]) + p.integ(2, k=c[1])(0.3) + np.sum(p.deriv().coeffs)


def operators(c):
    p, q = np.poly1d(c), np.poly1d([c[1], 2.0])
    mixed = p * q + p**2 - q * 3.0 + (-p) / 2.0 - (+q)
    return mixed(0.7) + (2.0 * p)(c[2]) + (1.0 - q)(0.2) + (1 + q)(0.1) + (p + [c[0], 1.0])(0.3)


def coefficients(c):
    p = np.poly1d(c)
    return p[0] * p[2] + p[7] + p.c[0] * p.coef[1] + p.coefficients[2] * p.order + len(p) * p.o * c[0] + sum(p)


def roots(c):
    p = np.poly1d([c[0], c[1], -np.abs(c[2]) - 1.0])
    return p.r[0] ** 3 + np.sum(np.poly1d([c[0], 2.0], True)(3.0)) + np.roots(p)[1]


def with_functions(c):
    p = np.poly1d(c)
    parts = np.polyder(p)(0.3) * np.polyint(p)(0.7) + np.polyval(p, c[1])
    return parts + np.polyadd(p, [1.0, c[0]])(0.2) + np.polymul(GIVEN, p)(0.4) - np.polysub(p, GIVEN)(0.1)


def with_a_constant(c):
    parts = GIVEN(c[0]) * GIVEN.deriv()(c[1]) + GIVEN.order * c[2] + GIVEN.c[1] * c[0]
    return parts + (GIVEN * c[1])(0.4) + (GIVEN + 1.0)(c[2]) + np.polyval(GIVEN, c[0]) + np.polyder(GIVEN)(c[1])


@pytest.mark.parametrize("f", [values, derivatives, operators, coefficients, roots, with_functions, with_a_constant])
def test_polynomials_made_of_what_varies(f: Callable[[Any], Any]) -> None:
    right(f, C)
    second(f, C)


def test_a_coefficient_in_front_that_is_zero_has_a_derivative() -> None:
    np.testing.assert_array_equal(ad.grad(lambda c: np.poly1d(c)(2.0))(np.array([0.0, 1.0, 2.0])), [4.0, 2.0, 1.0])
    assert ad.value_and_grad(lambda x: np.poly1d([0.0, x, 1.0]).order * x)(3.0) == (3.0, 1.0)


def test_polynomials_that_are_given_or_changed() -> None:
    def applied(p, x):
        return p(x) * p.c[0]

    derivative = ad.grad(applied, wrt=1)
    assert [derivative(np.poly1d([2.0, 1.0]), 3.0), derivative(np.poly1d([5.0, 1.0]), 3.0)] == [4.0, 25.0]
    changing = np.poly1d([1.0, 2.0])
    derivative = ad.grad(lambda x: (changing * x)(x))
    assert derivative(2.0) == 6.0
    changing.coeffs[0] = 7.0
    assert derivative(2.0) == 30.0


def test_numbers_of_numpy_to_the_left_make_arrays() -> None:
    refused(lambda: ad.grad(lambda x: (x * np.poly1d([x, 2.0]))[0])(np.float64(1.5)))
    refused(lambda: ad.grad(lambda c: np.sum(np.array(np.poly1d(c))))(C))


def test_coefficients_that_are_brought_to_one_dtype() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.5])
    check_grads(lambda a, b: polynomial.polymul(a, polynomial.polyadd(a, b)), (a, b))
    check_grads(lambda a, b: polynomial.polydiv(a, b), (a, b))
    check_grads(lambda a, b: chebyshev.chebmul(a, b), (a, b))
    check_grads(lambda a: np.common_type(a, np.arange(2))(2.0) * a, (a,))


Series = np.polynomial.Polynomial
POWERS = Series([1.0, 2.0, 3.0], domain=[0.0, 2.0])
OF_SERIES: dict[str, Callable[[Any], Any]] = {
    "value": lambda c: Series(coef=c)(c[0]) + np.sum(Series(c)(c)),
    "domain": lambda c: Series(c, domain=[0.0, c[0] + 2.0], window=[0.0, 1.0])(0.3),
    "roots": lambda c: np.sum(Series([c[0], -3.0, 1.0]).roots() ** 2) + np.max(Series(c, [0.0, 3.0]).roots().real),
    "calculus": lambda c: Series(c).integ(2, k=[c[0]], lbnd=c[1])(0.3) + Series(c, [0.0, 2.0]).deriv(2)(1.1),
    "operators": lambda c: (2.0 - Series(c) * c[0] + Series([0.0, c[1], c[0]]) ** 2 - (-Series(c) / 3.0))(c[0]),
    "what is given": lambda c: (POWERS * c[0] + 1.0 - Series([c[1], 1.0], [0.0, 2.0]))(c[0]) + POWERS.deriv()(c[0]),
    "one in another": lambda c: Series(c, [0.0, 2.0])(Series([c[1], 1.0]) ** 2)(0.7),
    "another domain": lambda c: (
        np.sum(Series(c, [0.0, 3.0]).convert().coef ** 2) + Series(c).convert([1.0, 4.0], window=[0.0, 1.0]).coef[1]
    ),
    "fit": lambda c: np.sum(Series.fit(np.array([0.0, 1.0, 2.5, 3.0]), np.append(c, c[0] * c[1]), 2).convert().coef),
    "parts": lambda c: np.sum(Series(c).coef ** 2) * Series(c).degree() + sum(Series(c)) * len(Series(c)),
    "what cancels": lambda c: len(Series(c) - Series([0.0, 0.0, 0.4])) * c[0] * isinstance(Series(c), Series),
}


@pytest.mark.parametrize("name", OF_SERIES)
def test_power_series(name: str) -> None:
    f = OF_SERIES[name]
    assert f(C) == pytest.approx(ad.value_and_grad(f)(C)[0])
    if name != "what cancels":  # a coefficient that is zero is left out, and moves are not zero
        check_grads(f, (C,))


def test_power_series_of_other_domains() -> None:
    with pytest.raises(TypeError, match="Domains differ"):
        ad.grad(lambda c: (Series(c) + Series(c, [0.0, 2.0]))(0.3))(C)
