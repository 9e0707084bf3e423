"""Where NumPy divides by a zero of Python, quotients and derivatives are infinite; where Python raises, both raise."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import adjoint as ad

NOTHING = 0.0


def a_sum(x):
    return np.sum(np.array([x, 1.0])) / 0.0


def by_a_whole_number(x):
    return np.exp(x) / 0


def by_a_variable(x):
    return np.exp(x) / NOTHING


def by_a_length(x):
    return np.exp(x) / len([])


def a_quotient_of_a_quotient(x):
    return 2.0 * (np.float64(x) / 0.0) * 3.0 / 0.0


def in_place(x):
    total = np.float64(x)
    total /= 0.0
    return total


def a_norm(x):
    return np.linalg.norm(np.array([x, x])) / 0.0


def an_absolute_value(x):
    return np.abs(x) / 0.0


def a_logarithm(x):
    return np.log(x - 2.0) * 1.0


def a_reciprocal(x):
    return np.reciprocal(x - 2.0)


def a_power(x):
    return np.float64(x - 2.0) ** -1


def a_remainder(x):
    return np.float64(x) % 0.0


def a_quotient_rounded_down(x):
    return np.float64(x) // 0.0 + x


BY_NUMPY = [
    (a_sum, math.inf),
    (by_a_whole_number, math.inf),
    (by_a_variable, math.inf),
    (by_a_length, math.inf),
    (a_quotient_of_a_quotient, math.inf),
    (in_place, math.inf),
    (a_norm, math.inf),
    (an_absolute_value, math.inf),
    (a_logarithm, math.inf),
    (a_reciprocal, -math.inf),
    (a_power, -math.inf),
    (a_remainder, 1.0),
    (a_quotient_rounded_down, 1.0),
]


@pytest.mark.parametrize(("program", "slope"), BY_NUMPY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_numpy(program: Callable[[float], float], slope: float) -> None:
    assert not math.isfinite(program(2.0))
    for native in (False, True):
        value, gradient = ad.value_and_grad(program, native=native)(2.0)
        np.testing.assert_equal((value, gradient), (program(2.0), slope))
    np.testing.assert_equal(ad.jvp(program, (2.0,), (1.0,)), (program(2.0), slope))
    np.testing.assert_equal(ad.vjp(program, 2.0)[1](1.0), (slope,))
    ad.grad(ad.grad(program))(2.0)
    ad.jvp(ad.grad(program), (2.0,), (1.0,))


BY_ARGUMENT = [
    lambda v, n: np.sum(v / n),
    lambda v, n: np.mean(v / n * 2.0),
    lambda v, n: np.sum(v) / n,
    lambda v, n: np.sum(v / n / n),
    lambda v, n: sum(part / n for part in v),
]


@pytest.mark.parametrize("program", BY_ARGUMENT)
@pytest.mark.parametrize("n", [0.0, 0])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_by_an_argument(program: Callable[[np.ndarray, float], float], n: float) -> None:
    v = np.array([1.0, 2.0])
    for native in (False, True):
        value, gradient = ad.value_and_grad(program, native=native)(v, n)
        assert value == math.inf and np.all(gradient == math.inf)


def of_floats(x):
    return x / 0.0


def by_floats(x):
    return 1.0 / (x - 2.0)


def a_power_of_floats(x):
    return (x - 2.0) ** -1


def a_remainder_of_floats(x):
    return x % 0.0


def of_what_was_of_numpy(x):
    return float(np.exp(x)) / 0.0


def of_an_item(x):
    return np.array([x]).item() / 0.0


@pytest.mark.parametrize(
    "program", [of_floats, by_floats, a_power_of_floats, a_remainder_of_floats, of_what_was_of_numpy, of_an_item]
)
def test_of_python(program: Callable[[float], float]) -> None:
    for call in (
        lambda: program(2.0),
        lambda: ad.value_and_grad(program)(2.0),
        lambda: ad.value_and_grad(program, native=True)(2.0),
        lambda: ad.jvp(program, (2.0,), (1.0,)),
    ):
        with pytest.raises(ZeroDivisionError):
            call()
