"""Objects behind names that are swapped: of classes with slots, of classes whose objects can be called, in themselves.

They exist when the derivative runs, and the argument among them had no derivative: None, without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right


class Slotted:
    __slots__ = ("u", "v")

    def __init__(self, u, v):
        self.u, self.v = u, v

    def __call__(self, x):
        return np.tanh(self.u * x) + self.v


class Callable_:
    def __init__(self, u, v):
        self.u, self.v = u, v

    def __call__(self, x):
        return np.tanh(self.u * x) + self.v


class Below(Slotted):
    """Slots above, a ``__dict__`` below."""

    def __init__(self, u, v):
        super().__init__(u, v)
        self.w = u * v

    def __call__(self, x):
        return np.tanh(self.w * x) + self.v


class Plain:
    def __init__(self, u, v):
        self.u, self.v = u, v


def swapped(x, p):
    a, b = p, type(p)(x, p.v * 0.2)
    for _ in range(3):
        a.u = a.u + 0.2 * a.v
        a, b = b, a
    return p.v * p.v * p.u + b.u * x


def applied_in_turn(x, p):
    a, b = p, type(p)(0.3, p.u)
    for _ in range(3):
        x = a(x)
        a, b = b, a
    return x


def one_of_a_list(x, p):
    layers = [p, type(p)(p.v, 0.4)]
    for k in range(4):
        x = layers[k % 2](x)
    return x


def within_itself(x, p):
    a, b = p, type(p)(x, p)
    for _ in range(3):
        a.u = 0.5 * a.u + 0.1
        a, b = b, a
    return p.v * p.v * p.u + a.u


def parts(f: Callable[..., Any], cls: type) -> Callable[..., Any]:
    return lambda x: f(x[0], cls(x[1], x[2]))


@pytest.mark.parametrize("cls", [Slotted, Callable_, Below])
@pytest.mark.parametrize("f", [swapped, applied_in_turn, one_of_a_list])
def test_the_argument_has_its_derivative(f, cls):
    point = (0.7, 0.59, 0.4)
    gradient = ad.grad(f, wrt=1)(point[0], cls(*point[1:]))
    right(parts(f, cls), np.array(point))
    whole = ad.grad(parts(f, cls))(np.array(point))
    if cls is not Below:
        assert np.allclose([gradient.u, gradient.v], whole[1:])
    value, pullback = ad.vjp(f, point[0], cls(*point[1:]))
    assert np.isclose(pullback(1.0)[0], whole[0]) and np.isclose(value, parts(f, cls)(point))


@pytest.mark.parametrize("cls", [Slotted, Plain])
def test_an_object_that_holds_another_of_its_kind(cls):
    gradient = ad.grad(within_itself, wrt=1)(0.7, cls(0.59, 0.4))
    assert gradient.v == pytest.approx(2 * 0.4 * (0.25 * 0.59 + 0.15))
    assert gradient.u == pytest.approx(0.4**2 * 0.25)


def test_one_array_in_two_slots_is_refused():
    shared = np.array([1.0, 2.0])

    def f(p):
        p.u[0] = p.v[1] * p.v[0]
        return p.u.sum()

    refused(lambda: ad.grad(f)(Slotted(shared, shared)))
    assert np.array_equal(shared, [1.0, 2.0])
