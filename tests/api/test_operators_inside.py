"""Operators inside code that is differentiated itself."""

import math

import numpy as np
import pytest

import adjoint as ad


def test_vjp_inside() -> None:
    def f(x):
        value, pullback = ad.vjp(lambda y: x * y * y, x)
        (slope,) = pullback(1.0)
        return value + slope  # x**3 + 2 * x**2

    assert ad.grad(f)(1.5) == pytest.approx(3 * 1.5**2 + 4 * 1.5)
    assert ad.grad(ad.grad(f))(1.5) == pytest.approx(6 * 1.5 + 4)
    assert ad.jvp(f, (1.5,), (2.0,))[1] == pytest.approx(2 * (3 * 1.5**2 + 4 * 1.5))


def test_pullback_of_arrays_called_twice() -> None:
    def f(x):
        _, pullback = ad.vjp(lambda a, n: np.sin(a) * n, x, 3)
        first, none = pullback(x)
        second, _ = pullback(np.ones_like(x))
        assert none is None
        return np.sum(first * second)  # sum(9 * x * cos(x)**2)

    x = np.array([0.3, 0.7])
    expected = 9 * (np.cos(x) ** 2 - 2 * x * np.cos(x) * np.sin(x))
    np.testing.assert_allclose(ad.grad(f)(x), expected, rtol=1e-12)


def test_jvp_inside() -> None:
    def f(x):
        return ad.jvp(math.sin, (x,), (x,))[1]  # x * cos(x)

    assert ad.grad(f)(0.4) == pytest.approx(math.cos(0.4) - 0.4 * math.sin(0.4))


def test_value_and_grad_inside() -> None:
    def f(x):
        value, slope = ad.value_and_grad(lambda y: y * y * y)(x)
        return value * slope  # 3 * x**5

    assert ad.grad(f)(1.2) == pytest.approx(15 * 1.2**4)


def test_jacobian_inside() -> None:
    def f(x):
        return np.sum(ad.jacobian(lambda a: a * a * a)(x))  # sum(3 * x**2)

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(ad.grad(f)(x), 6 * x, rtol=1e-12)


def test_hessian_inside() -> None:
    def f(x):
        return np.sum(ad.hessian(lambda a: np.sum(a**3))(x))  # sum(6 * x)

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(ad.grad(f)(x), [6.0, 6.0], rtol=1e-12)


def test_hvp_inside() -> None:
    def f(x):
        return ad.hvp(lambda y: y**4, (x,), (x,))[0]  # 12 * x**3

    assert ad.grad(f)(0.5) == pytest.approx(36 * 0.25)
