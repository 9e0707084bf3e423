"""Objects that count their calls, and hold the function that they call: which one it is stays known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


class Counted:
    """A decorator that counts."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return self.function(x)


@Counted
def square(x):
    return x * x


def cube(x):
    return x * x * x


def calls_it(x):
    return square(x) + square(x + 1.0)


class Unit:
    def __init__(self):
        self.activation = np.tanh
        self.inner = Counted(cube)
        self.steps = 0

    def __call__(self, x):
        self.steps += 1
        return self.activation(x) + self.inner(x)


UNIT = Unit()


def calls_objects_in_objects(x):
    return UNIT(x) * x


@pytest.mark.parametrize("function", [calls_it, calls_objects_in_objects])
def test_gradients(function: Callable[[float], float]) -> None:
    check_grads(function, (0.7,), order=1)


def of_an_argument(counted, x):
    return counted(x) * 2.0


@pytest.mark.parametrize("native", [False, True])
def test_another_function_is_another_derivative(native: bool) -> None:
    gradient, counted = ad.grad(of_an_argument, wrt=1, native=native), Counted(cube)
    assert gradient(counted, 1.0) == 6.0
    counted.function = np.sin
    assert gradient(counted, 1.0) == pytest.approx(2.0 * np.cos(1.0))
    assert counted.calls == 2


class Alternating(Counted):
    def __call__(self, x):
        found = self.function(x)
        self.function = np.sin
        return found


def of_two_functions(x):
    alternating = ALTERNATING
    alternating.function = np.cos
    return alternating(x) + alternating(x)


ALTERNATING = Alternating(np.cos)


def test_a_function_that_is_replaced() -> None:
    assert ad.grad(of_two_functions)(0.7) == pytest.approx(np.cos(0.7) - np.sin(0.7))
    assert ALTERNATING.function is np.sin
