"""Operators of objects ask in the order of Python: who inherits first, and arithmetic of one class asks one method."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from adjoint.testing import check_grads


class Base:
    def __init__(self, q):
        self.q = q

    def __add__(self, other):
        return Base(2.0 * self.q + 3.0 * other.q)

    def __radd__(self, other):
        return Base(5.0 * self.q + 7.0 * other.q)

    def __lt__(self, other):
        return self.q < other.q

    def __gt__(self, other):
        return self.q > other.q + 1.0

    def __eq__(self, other):
        return self.q == other.q


class Inherits(Base):
    pass


class HasReflected(Base):
    def __radd__(self, other):
        return Base(11.0 * self.q * other.q)

    def __gt__(self, other):
        return False

    def __eq__(self, other):
        return True


class HasBoth(Base):
    def __add__(self, other):
        return Base(13.0 * self.q + other.q)

    def __radd__(self, other):
        return Base(17.0 * self.q + other.q)

    def __lt__(self, other):
        return True


class Declines(Base):
    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return NotImplemented

    def __gt__(self, other):
        return NotImplemented

    def __eq__(self, other):
        return NotImplemented


class DeclinesOnTheLeft:
    def __init__(self, q):
        self.q = q

    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return Base(19.0 * self.q + other.q)

    def __lt__(self, other):
        return NotImplemented

    def __gt__(self, other):
        return self.q > 2.0 * other.q


class DeclinesAtTimes(Base):
    """Whether it declines depends on numbers."""

    def __add__(self, other):
        if self.q > 1.0:
            return NotImplemented
        return Base(23.0 * self.q + other.q)

    def __radd__(self, other):
        if other.q > 2.0:
            return NotImplemented
        return Base(29.0 * self.q + other.q)

    def __lt__(self, other):
        if self.q > 1.0:
            return NotImplemented
        return self.q < other.q

    def __eq__(self, other):
        if self.q > 1.0:
            return NotImplemented
        return False


class InPlace(DeclinesOnTheLeft):
    def __iadd__(self, other):
        self.q = self.q + other.q * other.q
        return self


CLASSES = [Base, Inherits, HasReflected, HasBoth, Declines, DeclinesOnTheLeft, DeclinesAtTimes, InPlace]


def added(left: type, right: type) -> Callable[[float], float]:
    def f(x: float) -> float:
        try:
            return (left(x) + right(x * x)).q
        except TypeError:
            return 0.5 * x

    return f


def added_in_place(left: type, right: type) -> Callable[[float], float]:
    def f(x: float) -> float:
        total: Any = left(x)
        try:
            total += right(x * x)
        except TypeError:
            return 0.5 * x
        return total.q * x

    return f


def compared(left: type, right: type) -> Callable[[float], float]:
    def f(x: float) -> float:
        try:
            smaller = left(x) < right(x * x)
        except TypeError:
            return 0.5 * x
        return x * x if smaller else 3.0 * x

    return f


def equal(left: type, right: type) -> Callable[[float], float]:
    def f(x: float) -> float:
        total = x * x if left(x) == right(2.0 * x) else 3.0 * x
        return total * x if left(x) != right(x) else total

    return f


@pytest.mark.parametrize("program", [added, added_in_place, compared, equal])
@pytest.mark.parametrize(("left", "right"), [*itertools.product(CLASSES, CLASSES)])
def test_in_pythons_order(program: Callable[..., Any], left: type, right: type) -> None:
    for x in (0.75, 1.5):
        check_grads(program(left, right), (x,), order=1)
