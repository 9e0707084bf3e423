"""Objects of one of two classes: their methods, `super()`, attributes; and functions that hold arguments."""

import functools
from typing import Any

import pytest

from regressions.differences import right, second


class Base:
    def __init__(self, x: float) -> None:
        self.x = x

    def act(self) -> float:
        return self.x * 2.0

    def run(self, y: float) -> float:
        return self.act() + y


class Child(Base):
    def act(self) -> float:
        return super().act() + self.x


class Other(Base):
    def act(self) -> float:
        return super().act() * self.x


class Grandchild(Child):
    def run(self, y: float) -> float:
        return super().run(y * y)


def super_on_one_of_two_classes(x: float) -> float:
    o: Base = Child(x)
    if x < 0:
        o = Base(x)
    return o.act()


def super_in_a_method_of_both(x: float) -> float:
    o: Base = Child(x)
    if x > 0:
        o = Grandchild(x)
    return o.run(x)


def methods_that_are_kept(x: float) -> float:
    o: Base = Child(x) if x < 0 else Other(x)
    run = o.run
    return run(x) * o.x


def in_a_loop(x: float) -> float:
    o: Base = Child(x)
    total = 0.0
    for i in range(4):
        total = total + o.run(x)
        o = Other(x + total) if i % 2 else Grandchild(total)
    return total


def attributes_assigned(x: float) -> float:
    o, q = Base(x), Child(2 * x)
    r: Base = o if x > 0 else q
    r.x = r.x * 3
    return o.x * q.x


def items_assigned(x: float) -> float:
    y: Any = [x, x] if x > 0 else {0: x, 1: 2 * x}
    y[0] = 2.0 * x
    return y[0] * y[1]


def partials_by_other_names(x: float) -> float:
    def product(a: float = 1.0, b: float = 2.0) -> float:
        return a * b * b

    p = functools.partial(product, a=x) if x > 0 else functools.partial(product, b=x)
    return p()


def partials_of_two_functions(x: float) -> float:
    def one(a: float, b: float) -> float:
        return a * b * b

    def other(a: float, b: float) -> float:
        return a * a * b

    p = functools.partial(one, x) if x > 0 else functools.partial(other, x * x)
    return p(2.0 * x)


PROGRAMS = [
    super_on_one_of_two_classes,
    super_in_a_method_of_both,
    methods_that_are_kept,
    in_a_loop,
    attributes_assigned,
    items_assigned,
    partials_by_other_names,
    partials_of_two_functions,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_of_either_class(program: Any) -> None:
    right(program, 0.7)
    right(program, -0.6)
    second(program, 0.7)


def test_natively() -> None:
    right(super_on_one_of_two_classes, 0.7, native=True)
