"""Helpers of derivatives at the places where ordinary arithmetic raises or spoils what does not matter."""

import math

import numpy as np
import pytest

from adjoint.rules.registry import rule_for
from adjoint.runtime.arithmetic.numbers import divide, log, polygamma, power, sign, sqrt, times
from adjoint.runtime.array_functions.arrays import prod_others, spread, unbroadcast

INF = math.inf


def test_division_never_raises() -> None:
    assert divide(0.0, 0.0) == 0.0
    assert divide(1.0, 0.0) == INF
    assert divide(1.0, -0.0) == -INF
    assert divide(6.0, 3.0) == 2.0
    np.testing.assert_array_equal(divide(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 4.0])), [0.0, INF, 0.5])
    assert isinstance(divide(np.float32(0), np.float32(0)), np.float32)


def test_strong_zero() -> None:
    assert times(0.0, INF) == 0.0
    assert times(0.0, math.nan) == 0.0
    assert times(2.0, INF) == INF
    np.testing.assert_array_equal(times(np.array([0.0, 1.0]), np.array([INF, 2.0])), [0.0, 2.0])
    assert times(np.zeros(2, np.float32), np.full(2, np.inf, np.float32)).dtype == np.float32


def test_powers_and_logarithms() -> None:
    assert power(0.0, -1.0) == INF
    assert power(2.0, 3.0) == 8.0
    assert power(1e200, 2.0) == INF
    assert math.isnan(power(-1.0, 0.5))
    assert log(0.0) == -INF
    assert math.isnan(log(-1.0))
    assert math.isnan(sqrt(-1.0))
    assert [sign(-2.0), sign(0.0), sign(3.0)] == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("n", "x", "expected"),
    [
        (0, 1.0, -0.5772156649015329),
        (1, 1.0, math.pi**2 / 6),
        (0, -0.5, 0.03648997397857652),
        (2, 1.0, -2.404113806319188),
    ],
)
def test_polygamma(n: int, x: float, expected: float) -> None:
    assert polygamma(n, x) == pytest.approx(expected, rel=1e-12)


def test_unbroadcast_gives_the_kind_of_its_model() -> None:
    ct = np.ones((4, 3))
    assert unbroadcast(ct, 1.0) == 12.0 and type(unbroadcast(ct, 1.0)) is float
    assert type(unbroadcast(ct, np.float32(1))) is np.float32
    assert unbroadcast(ct, np.zeros((4, 1), np.float32)).dtype == np.float32
    np.testing.assert_array_equal(unbroadcast(ct, np.zeros(3)), [4.0, 4.0, 4.0])
    assert unbroadcast(1j * ct, np.zeros(3)).dtype == float
    assert unbroadcast(np.float64(2), 1.0) == 2.0


def test_spread_owns_its_memory() -> None:
    out = spread(np.ones(3), np.zeros((4, 3)), 0)
    out[0, 0] = 5.0
    assert out.sum() == 16.0


def test_products_with_zeros() -> None:
    np.testing.assert_array_equal(prod_others(np.array([2.0, 0.0, 3.0])), [0.0, 6.0, 0.0])


@pytest.mark.parametrize("x", [np.zeros(3), np.zeros((2, 2))])
def test_norm_at_zero(x: np.ndarray) -> None:
    rule = rule_for(np.linalg.norm)
    assert rule is not None and rule.derivative is not None
    (bar,) = rule.derivative(1.0, np.float64(0.0), x)
    assert not bar.any()


def test_power_at_zero() -> None:
    rule = rule_for(pow)
    assert rule is not None and rule.derivative is not None
    assert rule.derivative(1.0, 0.0, 0.0, 1.0)[0] == 0.0
    assert rule.derivative(1.0, 0.0, 2.0, 0.0) == (0.0, 0.0)
