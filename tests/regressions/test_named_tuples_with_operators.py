"""Classes of named tuples with operators of their own; those that change what a tuple is are refused."""

import collections
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second


class Point(NamedTuple):
    x: float
    y: float = 1.0

    def __add__(self, other):
        return Point(self.x + other.x, self.y * other.y)

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + (-other)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __call__(self, t):
        return self.x + t * self.y

    @property
    def angle(self):
        return math.atan2(self.y, self.x)


class Scaled(collections.namedtuple("Scaled", "x y")):
    def __truediv__(self, factor):
        return Scaled(self.x / factor, self.y / factor)


def sums(t):
    p = Point(t, 2.0) + Point(t * t, 3.0)
    return p[0] * p.y


def differences(t):
    p = 3.0 * Point(t, 2.0) - Point(t * t, t) * t
    return abs(p) * p.angle + p(t)


class Made(collections.namedtuple("Made", "x")):
    def __new__(cls, x):
        return super().__new__(cls, 2.0 * x)


def products(t):
    return Point(t, 2.0) @ Point(t * t, t) + (Scaled(t, t * t) / 3.0).y


def summed(t):
    return sum([Point(t, 2.0), Point(t * t, t)], Point(0.0)).x


def at_run_time(t):
    points = [Point(t * i, 1.0 + 0.1 * i) for i in range(int(t) + 3)]
    total = Point(0.0)
    for point in points:
        total = total + point
        total += point * t
    return total.x * total.y


def still_tuples(t):
    x, y = Point(t, t * t) + Point(t)
    return x * y + len(Point(t)) * max(Point(t, 1.0))


def made_of_another(t):
    return Made(t).x * Made(t * t)[0]


@pytest.mark.parametrize("f", [sums, differences, products, summed, at_run_time, still_tuples, made_of_another])
def test_right(f: Callable[[float], Any]) -> None:
    right(f, 1.5)
    second(f, 1.5)


def test_an_argument() -> None:
    gradient = ad.grad(lambda p: (p + p * p.y).x)(Point(1.5, 2.0))
    assert gradient == (3.0, 1.5)


class First(NamedTuple):
    x: float

    def __getitem__(self, place):
        return 2.0 * self.x


class Compared(NamedTuple):
    x: float

    def __lt__(self, other):
        return self.x > other.x


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda t: First(t)[0], "__getitem__"),
        (lambda t: sorted([Compared(t), Compared(t * t)])[0].x, "__lt__"),
    ],
)
def test_what_is_no_tuple_any_more(f: Callable[[float], Any], name: str) -> None:
    assert f"has a '{name}' of its own" in str(refused(lambda: ad.grad(f)(1.5)))


def test_such_an_argument() -> None:
    assert "has a '__getitem__' of its own" in str(refused(lambda: ad.grad(lambda p: p[0] * 2.0)(First(1.5))))


class Vector:
    def __init__(self, *parts):
        self.parts = list(parts)

    def __iter__(self):
        return iter(self.parts)

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self, other, strict=False)))


def test_a_class_that_takes_any_number_of_values() -> None:
    def f(x):
        v = Vector(*x[1:], x[0]) + Vector(1.0, *x[:2])
        return sum([part * part * (i + 1) for i, part in enumerate(v)])

    right(f, np.array([0.5, 1.5, -0.3]))
