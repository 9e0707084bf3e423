"""Attributes of functions and classes that the program writes, and those that others change between calls."""

import enum
import functools
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second

X = np.array([0.5, 1.5, 2.0])


def counted(f: Callable[..., Any]) -> Any:
    @functools.wraps(f)
    def wrapper(*args):
        wrapper.calls += 1
        return f(*args)

    wrapper.calls = 0
    return wrapper


def timed(f: Callable[..., Any]) -> Any:
    @functools.wraps(f)
    def wrapper(*args):
        start = time.perf_counter()
        result = f(*args)
        wrapper.elapsed = time.perf_counter() - start
        return result

    return wrapper


def scaled(x):
    return np.sum(x * x) * scaled.factor


@counted
def power(x):
    return x * x


class Model:
    made = 0
    scale = 2.0

    def __init__(self, weight):
        Model.made += 1
        self.weight = weight

    @property
    def count(self):
        return self.made

    @classmethod
    def bump(cls):
        cls.made += 10

    def __call__(self, x):
        type(self).scale = 3.0
        return self.weight * x * self.scale


class Special(Model):
    pass


LIMIT = 4


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    scaled.factor = 2.0
    Model.made, Model.scale, power.calls = 0, 2.0, 0
    yield


def test_counters_and_clocks_of_decorators() -> None:
    square = counted(lambda x: np.sum(x * x))
    assert [ad.grad(square)(3.0), ad.grad(square)(3.0), square.calls] == [6.0, 6.0, 2]
    assert (ad.jvp(square, (3.0,), (1.0,))[1], square.calls) == (6.0, 3)
    assert (ad.vjp(square, 3.0)[1](1.0), square.calls) == ((6.0,), 4)
    np.testing.assert_array_equal(ad.hessian(square)(X), 2.0 * np.eye(3))
    assert square.calls == 5
    assert (ad.grad(power, native=True)(3.0), power.calls) == (6.0, 1)
    slow = timed(lambda x: x * x * x)
    assert not hasattr(slow, "elapsed")
    assert (ad.grad(slow)(2.0), ad.grad(slow)(2.0)) == (12.0, 12.0)
    assert 0.0 <= slow.elapsed < 60.0
    other = counted(lambda x: np.sum(x * x))
    assert (ad.grad(other)(3.0), other.calls, square.calls) == (6.0, 1, 5)
    for f in (counted(lambda x: np.sum(x**3)), timed(lambda x: np.sum(x**3))):
        right(f, X)
        second(f, X)
    right(power, 1.5, native=True)


def test_what_was_written_is_read() -> None:
    def weighted(x):
        weighted.calls += 1
        return np.sum(x * x * weighted.calls)

    weighted.calls = 0
    assert [ad.grad(weighted)(3.0) for _ in range(3)] == [6.0, 12.0, 18.0]
    np.testing.assert_array_equal(ad.hessian(weighted)(X), 2.0 * 4 * np.eye(3))
    assert ad.grad(ad.grad(weighted))(3.0) == 10.0
    assert weighted.calls == 5


def test_attributes_that_are_not_there_yet() -> None:
    def remembering(x):
        if not hasattr(remembering, "calls"):
            remembering.calls = 0
        remembering.calls += 1
        if x > 2.0:
            remembering.large = True
        return x * remembering.calls + (x if hasattr(remembering, "large") else 0.0)

    assert [ad.grad(remembering)(x) for x in (1.0, 1.0, 3.0, 1.0)] == [1.0, 2.0, 4.0, 5.0]

    def twice(x):
        return remembering(x) * remembering(x)

    del remembering.calls, remembering.large
    assert ad.grad(twice)(1.0) == 4.0
    assert ad.grad(twice)(1.0) == 24.0

    def default(x):
        default.calls = getattr(default, "calls", 0) + 1
        return x * default.calls

    assert [ad.grad(default)(1.0) for _ in range(3)] == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(ad.jacobian(counting_from_nothing)(X), np.diag(2.0 * X))
    assert counting_from_nothing.calls == 1
    np.testing.assert_array_equal(ad.jacobian(counting_from_nothing)(X), np.diag(2.0 * X * 2))


def counting_from_nothing(x):
    counting_from_nothing.calls = getattr(counting_from_nothing, "calls", 0) + 1
    return x * x * counting_from_nothing.calls


def test_attributes_of_classes() -> None:
    def f(x):
        before = Model.made
        a, b = Model(x), Special(x * x)
        Special.bump()
        return a(x) * (Model.made - before) + b(x) * (b.count - before)

    del Model.made  # 'bump' of a class that inherits gives it an attribute of its own
    Model.made = 0

    def g(x):
        before = Model.made
        a, b = Model(x), Special(x * x)
        Model.bump()
        return a(x) * (Model.made - before) + b(x) * (b.count - before)

    refused(lambda: ad.grad(f)(1.5))
    right(g, 1.5)
    second(g, 1.5)
    Model.scale, Model.made = 2.0, 0
    assert ad.grad(g)(1.0) == 3.0 * 12 * 2 + 3.0 * 12 * 3
    assert (Model.made, Model.scale, Special.scale) == (12, 2.0, 3.0) or (Model.made, Model.scale) == (12, 3.0)


def test_attributes_of_modules() -> None:
    def f(x):
        module = sys.modules[__name__]
        module.LIMIT = 5
        return x * LIMIT

    global LIMIT
    LIMIT = 4
    assert (ad.grad(f)(1.0), LIMIT) == (5.0, 5)


def test_functions_and_classes_made_inside() -> None:
    def functions(x):
        def g(y):
            g.calls += 1
            g.latest = y
            return y * y * g.calls

        g.calls, g.latest = 0, 0.0
        total = 0.0
        for i in range(3):
            total = total + g(x * i)
        return np.sum(total * g.calls + g.latest)

    def classes(x):
        class Cell:
            made = 0
            sum = 0.0

            def __init__(self, value):
                Cell.made += 1
                Cell.sum = Cell.sum + value
                self.value = value

        total = 0.0
        for i in range(3):
            total = total + Cell(x * i).value * Cell.made
        if np.sum(x) > 1.0:
            Cell.made += 5
        return np.sum(total * Cell.made + Cell.sum * x)

    def taken_inside(x):
        def g(y):
            return np.sum(y * y) * g.scale

        g.scale = np.sum(x)
        return np.sum(ad.grad(g)(x))

    for f in (functions, classes):
        right(f, X)
        right(f, 1.5, native=True)
        second(f, X)
    right(taken_inside, X)

    def default_of_a_dataclass(x):
        from dataclasses import dataclass

        @dataclass
        class Pair:
            first: float = 1.0

        Pair.first = 2.0
        return Pair().first * x

    refused(lambda: ad.grad(default_of_a_dataclass)(1.0))


def test_writes_in_loops_and_branches() -> None:
    def looped(x):
        total = 0.0
        for i in range(5):
            if i % 2:
                scaled.factor = scaled.factor + 1.0
            total = total + x * scaled.factor
        return total

    assert (ad.grad(looped)(1.0), scaled.factor) == (2.0 + 3.0 + 3.0 + 4.0 + 4.0, 4.0)

    def handled(x):
        scaled.factor = 1.0
        try:
            scaled.factor = 2.0
            y = 1.0 / (x - x)
            scaled.factor = 3.0
        except ZeroDivisionError:
            y = 1.0
        return x * y * scaled.factor

    assert (ad.grad(handled)(1.0), scaled.factor) == (2.0, 2.0)


def test_attributes_that_are_changed_between_calls() -> None:
    derivative = ad.grad(scaled)
    assert derivative(1.0) == 4.0
    scaled.factor = 5.0
    assert derivative(1.0) == 10.0
    scaled.factor = np.float64(7.0)
    assert derivative(1.0) == 14.0

    def listed(x):
        return x * listed.factors[0]

    listed.factors = [2.0]
    derivative = ad.grad(listed)
    assert derivative(1.0) == 2.0
    listed.factors[0] = 3.0
    assert derivative(1.0) == 3.0
    listed.factors = [4.0]
    assert derivative(1.0) == 4.0


def test_functions_of_one_definition_have_attributes_of_their_own() -> None:
    def made(factor: float) -> tuple[Any, Any]:
        def h(x):
            return x

        h.factor = factor
        return h, lambda x: h(x) * h.factor

    (first, f), (other, g) = made(2.0), made(3.0)
    assert (ad.grad(f)(1.0), ad.grad(g)(1.0)) == (2.0, 3.0)

    def applied(h, x):
        return h(x) * h.factor

    derivative = ad.grad(applied, wrt=1)
    assert [derivative(first, 1.0), derivative(other, 1.0), derivative(first, 1.0)] == [2.0, 3.0, 2.0]


def test_whether_an_attribute_is_there_is_asked_at_each_call() -> None:
    def f(x):
        return x * (f.factor if hasattr(f, "factor") else 1.0)

    class Late:
        pass

    late = Late()

    def g(x):
        return x * (2.0 if hasattr(late, "sign") else 1.0)

    assert (ad.grad(f)(1.0), ad.grad(g)(1.0)) == (1.0, 1.0)
    f.factor, Late.sign = 4.0, 1
    assert (ad.grad(f)(1.0), ad.grad(g)(1.0)) == (4.0, 2.0)


class Level(enum.Enum):
    LOW = 1


class Watching(type):
    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, 2 * value)


class Watched(metaclass=Watching):
    calls = 0


def varying(x):
    scaled.factor = x
    return scaled.factor


def container(x):
    scaled.factor = [1.0]
    return x


def member(x):
    Level.LOW.calls = 1
    return x


def metaclass(x):
    Watched.calls = 1
    return x


def name_of_a_class(x):
    Model.__name__ = "Other"
    return x


def test_what_varies_is_assigned() -> None:
    try:
        assert ad.grad(varying)(3.0) == 1.0
        assert scaled.factor == 3.0
    finally:
        scaled.factor = 2.0


@pytest.mark.parametrize("f", [container, member, metaclass, name_of_a_class])
def test_what_cannot_be_written_is_refused(f: Callable[[float], float]) -> None:
    refused(lambda: ad.grad(f)(2.0))
    assert (scaled.factor, Watched.calls, Model.__name__) == (2.0, 0, "Model")
