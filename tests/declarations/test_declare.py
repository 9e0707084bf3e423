"""Derivatives of one's own, and values that count as constants."""

import math

import numpy as np
import pytest

import adjoint as ad


def softplus(x):
    return math.log1p(math.exp(-abs(x))) + max(x, 0.0)


@ad.derivative_of(softplus)
def softplus_derivative(x):
    def pullback(ct):
        return ct / (1.0 + math.exp(-x))

    return softplus(x), pullback


def plain_blend(x, y, weight):
    return weight * x + (1.0 - weight) * y


@ad.derivative_of(plain_blend)
def blend_derivative(x, y, weight):
    def pullback(ct):
        return ct * weight, ct * (1.0 - weight), None

    return plain_blend(x, y, weight), pullback


def test_one_argument() -> None:
    assert ad.grad(softplus)(0.0) == 0.5


def test_inside_other_code() -> None:
    def f(x):
        return softplus(2.0 * x) * x

    x = 0.3
    expected = softplus(2 * x) + x * 2.0 / (1.0 + math.exp(-2 * x))
    assert ad.grad(f)(x) == pytest.approx(expected, rel=1e-12)


def test_several_arguments() -> None:
    assert ad.grad(plain_blend, wrt=(0, 1))(1.0, 2.0, 0.25) == (0.25, 0.75)


def test_forward_mode_transposes_the_pullback() -> None:
    value, tangent = ad.jvp(softplus, (0.5,), (2.0,))
    assert (value, tangent) == (softplus(0.5), pytest.approx(2.0 * ad.grad(softplus)(0.5), rel=1e-12))


def test_stop_gradient() -> None:
    def f(x):
        return x * ad.stop_gradient(x)

    assert ad.grad(f)(3.0) == 3.0
    assert ad.jvp(f, (3.0,), (1.0,)) == (9.0, 3.0)


def test_stop_gradient_of_an_array() -> None:
    def f(x):
        return np.sum(x * ad.stop_gradient(x))

    x = np.array([1.0, 2.0])
    assert np.array_equal(ad.grad(f)(x), x)


@pytest.mark.parametrize("written", ["y", "x"])
def test_stop_gradient_of_an_array_that_is_written_afterwards(written: str) -> None:
    """The value was that of a copy, and one mode stopped where the other went on."""

    def through_y(x):
        x = x * 1.0
        y = ad.stop_gradient(x)
        y[0] = 3.0 * x[1]
        return np.sum(x * x * y)

    def through_x(x):
        x = x * 1.0
        y = ad.stop_gradient(x)
        x[0] = 3.0 * x[1]
        return np.sum(x * y)

    f, x = {"y": through_y, "x": through_x}[written], np.array([1.0, 2.0, 3.0])
    for derive in (lambda: ad.grad(f)(x), lambda: ad.jvp(f, (x,), (x,))):
        with pytest.raises(ad.DifferentiationError, match="AD0303"):
            derive()


def test_stop_gradient_of_an_array_that_was_written_before() -> None:
    def f(x):
        y = np.zeros(3)
        y[0] = x[0] * x[1]
        y[1:] = x[1:]
        stopped = ad.stop_gradient(y)
        return np.sum(y * stopped)

    x = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(ad.grad(f)(x), [4.0, 4.0, 3.0])
    assert ad.jvp(f, (x,), (np.array([1.0, 0.0, 0.0]),))[1] == 4.0
