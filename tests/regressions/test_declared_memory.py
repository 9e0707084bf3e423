"""Tangents and cotangents of declared derivatives share no memory with others that are written."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second

X = np.array([0.6, -0.4, 1.3])


def by_pullback(x):
    return x * 1.0


def by_differential(x):
    return x * 1.0


def by_view(x):
    return x[1:] * 1.0


ad.derivative_of(by_pullback)(lambda x: (x * 1.0, lambda ct: ct))
ad.differential_of(by_differential)(lambda x: (x * 1.0, lambda dx: dx))
ad.differential_of(by_view)(lambda x: (x[1:] * 1.0, lambda dx: dx[1:]))


def the_value_is_written(x, same):
    y = same(x)
    y[0] = x[1] * x[2]
    y *= 2.0
    return np.sum(y * x)


def the_argument_is_written(x, same):
    """The tangent of the value was that of the argument, and went with it."""
    z = x * 1.0
    y = same(z)
    z[0] = 5.0 * x[1]
    return np.sum(y * z)


def both_are_written(x, same):
    z = x * 1.0
    y = same(z)
    z[1] = 5.0 * x[0]
    y[0] *= z[1]
    return np.sum(y * z[-len(y) :])


@pytest.mark.parametrize("f", [the_value_is_written, the_argument_is_written], ids=lambda f: f.__name__)
@pytest.mark.parametrize("same", [by_pullback, by_differential], ids=lambda f: f.__name__)
def test_maps_that_hand_on_what_they_are_given(f: Any, same: Any) -> None:
    right(lambda x: f(x, same), X)
    second(lambda x: f(x, same), X)


def curve(v, k=0.56):
    return np.sin(v) * k


ad.derivative_of(curve)(
    lambda v, k=0.56: (np.sin(v) * k, lambda ct: (ct * np.cos(v) * k, np.sum(ct * np.sin(v)))),
)


def test_a_copied_tangent_is_known_to_be_written() -> None:
    """Its support was a number, into which an array was stored."""

    def softmax(x):
        w = curve(curve(x), x[0])
        w *= x[1]
        e = np.exp(w - np.max(w))
        return np.sum((e / e.sum()) ** 2)

    right(softmax, X)


@pytest.mark.parametrize("same", [by_pullback, by_differential, by_view], ids=lambda f: f.__name__)
def test_views_and_writes_on_both_sides(same: Any) -> None:
    right(lambda x: both_are_written(x, same), X)
    second(lambda x: both_are_written(x, same), X)
