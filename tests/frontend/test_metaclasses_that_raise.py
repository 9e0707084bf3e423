"""Classes whose metaclass raises whatever it is asked that they do not have."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad


class Strict(type):
    def __getattr__(cls, name: str) -> Any:
        raise LookupError(name)


class Spring(metaclass=Strict):
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return self.stiffness * x * x

    def __call__(self, x):
        return self.energy(x)


SPRING = Spring(3.0)


def of_a_global(x):
    return SPRING.energy(x)


def called(x):
    return SPRING(x)


def made(x):
    return Spring(x).energy(x)


def in_a_list(x):
    springs = []
    for k in range(int(x)):
        springs.append(Spring(x * k))
    return sum(spring(x) for spring in springs)


def looked_at(x):
    return isinstance(SPRING, Spring) * x + getattr(SPRING, "length", 1.0)


@pytest.mark.parametrize(
    ("function", "expected"), [(of_a_global, 18.0), (called, 18.0), (made, 27.0), (in_a_list, 81.0), (looked_at, 1.0)]
)
def test_its_objects_are_like_others(function: Any, expected: float) -> None:
    assert ad.grad(function)(3.0) == pytest.approx(expected)
    assert ad.grad(function, native=True)(3.0) == pytest.approx(expected)
    assert ad.jvp(function, (3.0,), (1.0,))[1] == pytest.approx(expected)


def test_its_objects_may_be_handed_over() -> None:
    gradient = ad.grad(lambda spring, x: spring.energy(x))(Spring(2.0), 3.0)

    assert gradient.stiffness == 9.0
    for _ in range(2):
        assert ad.grad(lambda spring, x: spring(x), wrt=1)(Spring(2.0), 3.0) == 12.0
