"""Points where a derivative is not what the formula says: kinks, ties, zeros, infinities."""

import math
import warnings

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right


def assert_gradient(f, x, expected):
    """Reverse and forward mode give ``expected`` at ``x``; nothing is raised or warned about."""
    with np.errstate(all="raise"):
        np.testing.assert_allclose(ad.grad(f)(x), expected, atol=1e-12)
        _, tangent = ad.jvp(f, (x,), (1.0 if isinstance(x, float) else np.ones_like(x),))
    np.testing.assert_allclose(tangent, np.sum(expected), atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_integer_powers_at_zero(n: int) -> None:
    assert_gradient(lambda x: x**n, 0.0, 1.0 if n == 1 else 0.0)


@pytest.mark.parametrize("n", [0.0, 1.0, 2.0])
def test_float_powers_at_zero(n: float) -> None:
    assert_gradient(lambda x: x**n, 0.0, 1.0 if n == 1 else 0.0)


def test_power_of_negative_base() -> None:
    assert_gradient(lambda x: x**3, -2.0, 12.0)
    assert_gradient(lambda x: x**2.0, -2.0, -4.0)


def test_base_of_zero_to_a_varying_power() -> None:
    assert_gradient(lambda n: 0.0**n, 2.0, 0.0)


def test_array_power_at_zero() -> None:
    assert_gradient(lambda x: np.sum(x**2), np.zeros(3), np.zeros(3))
    assert_gradient(lambda x: np.sum(x**1), np.zeros(3), np.ones(3))
    assert_gradient(lambda x: np.sum(x**0), np.zeros(3), np.zeros(3))


def test_square_root_at_zero_does_not_raise() -> None:
    gradient = ad.grad(lambda x: math.sqrt(x))(0.0)
    assert not (gradient < 0)
    ad.jvp(lambda x: math.sqrt(x), (0.0,), (1.0,))


def test_square_root_at_zero_with_a_zero_cotangent() -> None:
    assert ad.grad(lambda x: 0.0 * math.sqrt(x) + x)(0.0) == 1.0


def test_array_square_root_at_zero_with_a_zero_cotangent() -> None:
    with np.errstate(all="ignore"):
        gradient = ad.grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(np.array([0.0, 4.0]))
    np.testing.assert_allclose(gradient, [0.0, 0.25])


def test_norm_at_zero() -> None:
    gradient = ad.grad(lambda x: np.linalg.norm(x))(np.zeros(3))
    np.testing.assert_array_equal(gradient, np.zeros(3))


def test_hypot_at_zero_does_not_raise() -> None:
    assert not math.isinf(ad.grad(lambda x: math.hypot(x, 0.0))(0.0))


def test_where_that_guards_a_logarithm() -> None:
    with np.errstate(all="ignore"):
        gradient = ad.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0)))(np.array([-1.0, 0.0, 2.0]))
    np.testing.assert_allclose(gradient, [0.0, 0.0, 0.5])


def test_where_that_guards_a_division() -> None:
    with np.errstate(all="ignore"):
        gradient = ad.grad(lambda x: np.sum(np.where(x != 0, 1.0 / x, 0.0)))(np.array([0.0, 2.0]))
    np.testing.assert_allclose(gradient, [0.0, -0.25])


def test_branch_that_guards_a_division() -> None:
    def f(x):
        return 1.0 / x if x != 0 else 0.0

    assert ad.grad(f)(0.0) == 0.0
    assert ad.grad(f)(2.0) == -0.25


def test_maximum_ties_go_to_the_first() -> None:
    assert ad.grad(lambda x, y: max(x, y), wrt=(0, 1))(2.0, 2.0) == (1.0, 0.0)
    assert ad.grad(lambda x, y: min(x, y), wrt=(0, 1))(2.0, 2.0) == (1.0, 0.0)


def test_element_wise_ties_go_to_the_first() -> None:
    x, y = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    a, b = ad.grad(lambda p, q: np.sum(np.maximum(p, q)), wrt=(0, 1))(x, y)
    np.testing.assert_array_equal(a, [1.0, 0.0])
    np.testing.assert_array_equal(b, [0.0, 1.0])


def test_element_wise_ties_in_forward_mode() -> None:
    _, tangent = ad.jvp(np.maximum, (2.0, 2.0), (1.0, 10.0))
    assert tangent == 1.0
    _, tangent = ad.jvp(lambda x, y: max(x, y), (2.0, 2.0), (1.0, 10.0))
    assert tangent == 1.0


def test_reduction_ties_are_shared() -> None:
    np.testing.assert_array_equal(ad.grad(lambda x: np.max(x))(np.array([2.0, 1.0, 2.0])), [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(ad.grad(lambda x: np.min(x))(np.array([2.0, 2.0, 3.0])), [0.5, 0.5, 0.0])


def test_reduction_ties_in_forward_mode() -> None:
    _, tangent = ad.jvp(lambda x: np.max(x), (np.array([2.0, 1.0, 2.0]),), (np.array([1.0, 5.0, 3.0]),))
    assert tangent == 2.0


def test_absolute_value_at_zero() -> None:
    for f in (abs, math.fabs, np.abs):
        assert ad.grad(f)(0.0) == 0.0
        assert ad.jvp(f, (0.0,), (1.0,))[1] == 0.0


def test_relu_at_zero() -> None:
    assert ad.grad(lambda x: np.where(x > 0, x, 0.0))(0.0) == 0.0


def test_clip_at_its_bounds_does_not_raise() -> None:
    gradient = ad.grad(lambda x: np.sum(np.clip(x, 0.0, 1.0)))(np.array([-1.0, 0.5, 2.0]))
    np.testing.assert_array_equal(gradient, [0.0, 1.0, 0.0])


def test_product_with_zeros() -> None:
    np.testing.assert_array_equal(ad.grad(lambda x: np.prod(x))(np.array([2.0, 0.0, 5.0])), [0.0, 10.0, 0.0])
    np.testing.assert_array_equal(ad.grad(lambda x: np.prod(x))(np.array([0.0, 0.0, 5.0])), [0.0, 0.0, 0.0])


def test_cumulative_product_with_a_zero() -> None:
    gradient = ad.grad(lambda x: np.sum(np.cumprod(x)))(np.array([2.0, 0.0, 5.0]))
    np.testing.assert_allclose(gradient, [1.0, 2.0 + 10.0, 0.0])


def test_standard_deviation_of_a_constant_does_not_raise() -> None:
    with np.errstate(all="ignore"):
        gradient = ad.grad(lambda x: 0.0 * np.std(x) + np.sum(x))(np.ones(3))
    np.testing.assert_array_equal(gradient, np.ones(3))


def test_inverse_sine_at_one_does_not_raise() -> None:
    ad.grad(lambda x: math.asin(x))(1.0)
    ad.grad(lambda x: math.acos(x))(-1.0)
    assert ad.grad(lambda x: 0.0 * math.asin(x) + x)(1.0) == 1.0


def test_arctangent_of_two_zeros_does_not_raise() -> None:
    ad.grad(lambda x: math.atan2(x, 0.0))(0.0)


def test_overflow_in_the_derivative_does_not_raise() -> None:
    assert ad.grad(lambda x: math.log1p(math.exp(-x)))(700.0) == pytest.approx(0.0)
    assert ad.grad(lambda x: math.tanh(x))(1000.0) == 0.0


def test_power_with_zero_cotangent() -> None:
    assert ad.grad(lambda x: 0.0 * x**0.5 + x)(0.0) == 1.0


def test_piecewise_constants() -> None:
    for f in (math.floor, math.ceil, round, int, math.trunc, np.floor, np.ceil, np.sign):
        assert ad.grad(lambda x: x * x + float(f(x)))(2.5) == 5.0


def test_softmax_of_large_numbers() -> None:
    def softmax(x):
        e = np.exp(x - np.max(x))
        return e / np.sum(e)

    gradient = ad.grad(lambda x: softmax(x)[0])(np.array([1000.0, 1000.0]))
    np.testing.assert_allclose(gradient, [0.25, -0.25])


def test_absolute_value_second_derivative_is_zero() -> None:
    assert ad.grad(ad.grad(lambda x: abs(x) * x))(2.0) == pytest.approx(2.0)
    assert ad.grad(ad.grad(lambda x: abs(x)))(2.0) == 0.0


def test_sqrt_at_zero_raises_no_more_than_the_function() -> None:
    with pytest.raises(ValueError, match=r"math domain|nonnegative"):
        ad.grad(lambda x: math.sqrt(x))(-1.0)
    with pytest.raises(ZeroDivisionError):
        ad.grad(lambda x: 1.0 / x)(0.0)


def test_fits_of_fewer_points_than_coefficients() -> None:
    """NumPy gives the shortest of the polynomials that go through them."""

    def parabola(x, y):
        return np.sum(np.polyfit(x, y, 2) ** 2)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's RankWarning
        right(parabola, np.array([0.7]), np.array([2.0]))
        right(parabola, np.array([0.7, 1.9]), np.array([2.0, -1.0]))


def test_fits_of_equal_points_have_no_derivative() -> None:
    def line(x, y):
        return np.sum(np.polyfit(x, y, 1) ** 2)

    x, y = np.full(3, 0.3), np.array([3.0, 1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, gradients = ad.value_and_grad(line, wrt=(0, 1))(x, y)
        assert value == pytest.approx(line(x, y))
    assert all(np.isnan(gradient).all() for gradient in gradients)
