"""The sum of nothing and a float is another object than that float: of two NaN containers only find the same one."""

import math
from collections.abc import Callable

import pytest

import adjoint as ad


def in_a_list(x):
    start = x * math.nan
    return x * x if sum([], start) in [start] else x


def the_same(x):
    start = x * math.nan
    return x * x if sum((), start=start) is start else x


def of_a_list_of_unknown_length(x):
    items = []
    if x > 5.0:
        items.append(x)
    start = x * math.nan
    return x * x if (sum(items, start),) == (start,) else x


def of_a_generator(x):
    start = x * math.nan
    return x * x if [sum((i for i in range(3) if i > x + 5.0), start)] == [start] else x


def equal_where_it_is_a_number(x):
    return x * x if sum([], x) in [x] else x


@pytest.mark.parametrize(
    "program", [in_a_list, the_same, of_a_list_of_unknown_length, of_a_generator, equal_where_it_is_a_number]
)
def test_derivatives(program: Callable[[float], float]) -> None:
    value, gradient = ad.value_and_grad(program)(1.5)
    assert value == program(1.5)
    assert gradient == pytest.approx((program(1.5 + 1e-6) - program(1.5 - 1e-6)) / 2e-6, rel=1e-6)


def test_the_text_shows_nothing_of_it() -> None:
    def f(x, items):
        return sum(items, x) * x

    assert "* 1" not in ad.source(ad.grad(f), 1.5, [2.0, 3.0])
