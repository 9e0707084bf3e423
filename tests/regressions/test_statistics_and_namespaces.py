"""`statistics` of numbers that vary, and `types.SimpleNamespace` as an object like any other."""

import statistics
import types
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second


def of_a_list_that_grows(x: float) -> float:
    items = []
    for i in range(4):
        items.append(x * i)
    return statistics.pstdev(items) + statistics.mean(items)


STATISTICS = {
    "mean_of_statistics": lambda x: statistics.mean([x, 2.0 * x]),
    "of_a_generator": lambda x: statistics.mean(v * v for v in [x, 2.0 * x]) * statistics.mean([1, 2, 3]),
    "fmean": lambda x: statistics.fmean([x, x * x, 1.0]),
    "deviations": lambda x: statistics.stdev([x, x * x, 1.0]) * statistics.variance((x, 2 * x, x * x)),
    "of_a_list_that_grows": of_a_list_that_grows,
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics(name: str) -> None:
    right(STATISTICS[name], 1.1)
    second(STATISTICS[name], 1.1)


def test_of_nothing() -> None:
    with pytest.raises(statistics.StatisticsError):
        ad.value_and_grad(lambda x: statistics.mean(x[:0]))(np.ones(2))


def changed(x: float) -> Any:
    s = types.SimpleNamespace(v=x, n=3)
    s.v = s.v * 2
    s.w = s.v * x
    if x > 0:
        s.w = s.w * x
    return s.w * s.v * s.n


def in_a_list(x: float) -> Any:
    spaces = []
    for i in range(3):
        spaces.append(types.SimpleNamespace(v=x * i, k=i))
    for s in spaces:
        s.v = s.v * x
    return sum(s.v * s.k for s in spaces)


@pytest.mark.parametrize("program", [lambda x: types.SimpleNamespace(v=x).v ** 2, changed, in_a_list])
def test_namespace(program: Any) -> None:
    right(program, 1.1)
    second(program, 1.1)


def test_as_argument() -> None:
    def f(s: Any) -> Any:
        return s.v**2 * np.sum(s.w)

    space = types.SimpleNamespace(v=2.0, w=np.ones(2), name="a")
    gradient = ad.grad(f)(space)
    assert gradient.v == 8.0 and gradient.w.tolist() == [4.0, 4.0]
    assert ad.jvp(f, (space,), (gradient,)) == (8.0, 96.0)
    assert ad.moved(space, gradient).v == 10.0

    def writes(s: Any, x: float) -> Any:
        s.v = s.v * x
        return s.v * s.v

    first, other = ad.grad(writes, (0, 1))(types.SimpleNamespace(v=2.0), 3.0)
    assert first.v == 36.0 and other == 24.0
