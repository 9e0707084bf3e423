"""Numbers of NumPy indexed like arrays without axes, and slices whose bounds come from code that nobody looks into."""

import os
from collections.abc import Callable
from sys import float_info
from typing import Any

import numpy as np
import pytest
from scipy import special

import adjoint as ad
from regressions.differences import refused, right, second

X = np.array([0.7, 1.2, 0.4, 2.1, 0.9, 1.6])


def itself(x):
    total = np.sum(x * x)
    return total[()] * np.sum(total[None] * x[:1]) + np.sum(np.sqrt(x @ x)[..., np.newaxis] * x) + total[...] * 2.0


def by_its_class(x):
    total = np.sum(x * x)
    if total.__class__ is float or x[0].__class__ is int:
        return total
    return total * total


def noncentral(x):
    a, b, c, d = x[0], x[1], x[2], x[3]
    return special.ncfdtr(a, b, c, d) + (1.0 - special.chndtr(d, a, c)) * special.nctdtr(b, c, a)


def bounds_of_floats(x):
    least, known = np.finfo(x.dtype).tiny, np.finfo(np.float32)
    spread = np.maximum(x, least) * (1.0 + np.finfo(float).resolution + known.epsneg)
    return np.sum(spread**2) + x[0] * np.sqrt(float_info.max * np.finfo(x[0]).tiny) + np.sum(x) * float_info.dig


def written_view(x):
    m = np.zeros(6)
    n = min(os.cpu_count(), 5)
    m[:3] = x[:3] * x[1:4]
    y = m[:n]
    y[0] = x[0] ** 3
    return np.sum(m * m) * m[1] + y[1]


def written_through_views(x):
    m = x * np.ones((4, 6))
    n = min(os.cpu_count(), 4)
    y = m[:n, 1 : n + 2]
    y += x[0] * x[1]
    z = y[n - 1 :]
    z[...] = z * z
    m[n - 1] *= x
    return np.sum(m**2) + np.sum(y)


@pytest.mark.parametrize("f", [itself, by_its_class, noncentral, written_view, written_through_views, bounds_of_floats])
def test_right_in_all_modes(f: Callable[[Any], Any]) -> None:
    right(f, X)
    second(f, X)


def test_noncentral_distributions_of_numbers() -> None:
    def f(x, dfn, dfd, nc):
        return special.ncfdtr(dfn, dfd, nc, x)

    for place in range(4):
        right(f, 0.6, 2.0, 3.0, 0.4, wrt=place)


def test_numbers_of_python_have_no_items() -> None:
    refused(lambda: ad.grad(lambda x: x[()] * 2.0)(1.5))
    refused(lambda: ad.grad(lambda x: x[None] * 2.0)(1.5))
