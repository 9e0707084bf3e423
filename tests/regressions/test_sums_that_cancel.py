"""``math.fsum`` rounds once: where large summands cancel, a sum in another way would lose the others."""

import math
import statistics

import numpy as np
import pytest

from adjoint.runtime.arithmetic.numbers import exact_sum
from native.own_code import own_code
from regressions.differences import right, second


def of_a_list(x):
    return math.fsum([1e16, x, -1e16, x * x]) ** 2


def of_a_generator(x):
    return math.fsum(sign * part for sign in (1.0, -1.0) for part in (1e16, x * sign)) ** 2


def of_values_of_a_dict(x):
    return math.fsum({"a": 1e16, "b": x, "c": -1e16}.values()) * x


def of_a_mean(x):
    return statistics.fmean([1e16, x, -1e16, x]) * x + statistics.mean([1e16, x * x, -1e16])


@pytest.mark.parametrize("f", [of_a_list, of_a_generator, of_values_of_a_dict, of_a_mean])
def test_summands_that_cancel(f) -> None:
    right(f, 0.7)
    second(f, 0.7)
    if f is not of_a_generator:
        right(f, 0.7, native=True)


def test_machine_code_rounds_as_python_does() -> None:
    compiled = own_code(lambda a: exact_sum(a))
    rng = np.random.default_rng(3)
    for k in range(300):
        a = rng.normal(size=k % 30) * 10.0 ** rng.integers(-20, 20, size=k % 30)
        ties = 2.0 ** rng.integers(-60, 60, size=6)
        for given in (a, np.concatenate([a, -a[: k % 7]]), np.concatenate([ties, -ties[:5], a])):
            assert compiled(given) == math.fsum(given)
    assert compiled(np.array([1.0, np.inf])) == np.inf
