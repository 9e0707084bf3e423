"""Objects from outside that get an attribute in the function for the first time, on some paths only."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second


class Pair:
    def get(self, x: Any, k: float) -> Any:
        if x == 0.0:
            return 0.0
        self.a = x * 2
        self.f = (self.a * k, x * x)
        return self.f[0] * self.f[1]


class Items:
    def get(self, x: Any, k: float) -> Any:
        if x == 0.0:
            return 0.0
        self.f = [x * k, x]
        self.f.append(x * x)
        return self.f[0] + self.f[1] * self.f[2]


class Written:
    def get(self, x: Any, k: float) -> Any:
        if x == 0.0:
            return 0.0
        self.f = np.array([x, x * k])
        self.f *= 2 * x
        self.total = np.sum(self.f)
        return self.f[0] * self.f[1] + self.total


class InALoop:
    def get(self, x: Any, k: float) -> Any:
        total = 0.0
        for i in range(4):
            self.a = x * i
            if i > 1:
                self.pair = (self.a, x)
                total = total + self.pair[0] * self.a
            else:
                self.b = self.a + k * x
        return total * self.b


class Outer:
    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.others = [inner, type(inner)()]
        self.k = 0.3

    def get(self, x: Any, k: float) -> Any:
        return self.inner.get(x, k) + self.others[1].get(x * x, self.k)


KINDS: tuple[Callable[[], Any], ...] = (
    Pair,
    Items,
    Written,
    InALoop,
    lambda: Outer(Pair()),
    lambda: Outer(Written()),
    lambda: Outer(InALoop()),
)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("native", [False, True])
def test_captured(make: Callable[[], Any], native: bool) -> None:
    def fresh(x: Any) -> Any:
        return made.get(x, 0.3)

    for x in (0.7, 0.7, 1.9):
        made = make()
        step = 1e-6
        slope = (make().get(x + step, 0.3) - make().get(x - step, 0.3)) / (2 * step)
        for _ in range(2):  # the second time the attributes are there
            assert ad.grad(fresh, native=native)(x) == pytest.approx(slope, rel=1e-6)
        assert ad.jvp(fresh, (x,), (1.0,), native=native)[1] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("make", KINDS)
def test_handed_over(make: Callable[[], Any]) -> None:
    def f(x: Any, made: Any) -> Any:
        return made.get(x, 0.3)

    expected = ad.grad(lambda x: make().get(x, 0.3))(0.7)
    assert ad.grad(f)(0.7, make()) == pytest.approx(expected)
    assert ad.jvp(f, (0.7, make()), (1.0, None))[1] == pytest.approx(expected)


def test_second_order() -> None:
    for make in (Pair, Items, InALoop):
        made = make()
        right(lambda x, made=made: made.get(x, 0.3), 0.8)
        second(lambda x, made=made: made.get(x, 0.3), 0.8)
