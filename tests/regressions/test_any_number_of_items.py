"""Functions of Python and NumPy that are given as many items as there are, and small relatives of what has a rule."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second

X = np.array([0.7, -1.2, 0.4, 2.1])


def length(x):
    return math.hypot(*x) + math.hypot(1.0, *x[1:]) * math.hypot(*[v * v for v in x], 2.0)


def length_of_what_grew(x):
    parts = []
    for v in x:
        parts.append(v * x[0])
    return math.hypot(*parts)


def operators(x):
    pair = []
    for v in x[:2]:
        pair.append(v * 2.0)
    return operator.mul(*pair) + operator.sub(*x[1:3]) + math.atan2(*pair)


def padded(x):
    table = np.pad(np.outer(x[:2], x[:3]), ((1, 2), (0, 1)), constant_values=((x[0], x[1]), (x[2], 2.0)))
    row = np.pad(x, 2, constant_values=x[1]) * np.arange(8.0)
    return (
        np.sum(table * np.arange(20.0).reshape(5, 4)) + np.sum(row**2) + np.sum(np.pad(x, (0, 2), constant_values=1.5))
    )


def partitioned(x):
    y = x * np.arange(1.0, 5.0)
    y.partition(2)
    z = np.outer(x, x)
    z.partition(1, axis=0)
    return y[2] * np.sum(y[:2]) + np.sum(z[1] * x) + np.sum(x[x.argpartition(1)[:2]])


def running(x):
    gaps = np.where(x < 0.0, np.nan, x)
    return np.sum(np.nancumsum(gaps) * x) + np.sum(np.nancumprod(gaps) ** 2)


def pieces(x):
    sums = np.multiply.reduceat(x, [0, 2, 3]) + np.maximum.reduceat(x * x, [0, 1, 3])
    return np.sum(sums * np.minimum.reduceat(np.sin(x), [2, 1, 3]))


@pytest.mark.parametrize("f", [length, length_of_what_grew, operators, padded, partitioned, running, pieces])
def test_right_in_all_modes(f: Callable[[Any], Any]) -> None:
    given = X.copy()
    right(f, given)
    second(f, given)
    np.testing.assert_array_equal(given, X)


def test_too_many_items_raise() -> None:
    def f(x):
        pair = []
        for v in x:
            pair.append(v * 2.0)
        return operator.mul(*pair)

    with pytest.raises(TypeError):
        f(X)
    with pytest.raises((ValueError, TypeError)):
        ad.grad(f)(X)
