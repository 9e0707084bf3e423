"""What is captured is handed to a recursive function, which may return it beside what varies."""

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second

PAIRS = [(1.5, 2.5)]
SLOPES = [(0.3, 0.4)]
ARRAYS = [(np.array([1.0, 2.0]), 3.0)]


def moved(value, slope, t):
    if isinstance(value, float):
        return value + slope * t
    if isinstance(value, tuple):
        return tuple([moved(a, b, t) for a, b in zip(value, slope, strict=True)])
    return value


def along(value, t):
    if isinstance(value, np.ndarray):
        return value * t
    return tuple([along(part, t) for part in value]) if isinstance(value, tuple) else value


def of_one_pair(t):
    p = moved(PAIRS[0], SLOPES[0], t)
    return p[0] ** 2 * p[1]


def of_pairs(t):
    s = 0.0
    for value, slope in zip(PAIRS, SLOPES, strict=True):
        p = moved(value, slope, t)
        s += p[0] ** 2 * p[1]
    return s


def of_arrays(t):
    found = [along(each, t) for each in ARRAYS]
    return sum([np.sum(a**3) * b for a, b in found])


@pytest.mark.parametrize("f", [of_one_pair, of_pairs, of_arrays])
def test_right(f):
    right(f, 0.3)
    second(f, 0.3)
    assert ad.grad(ad.grad(f))(0.3) == pytest.approx(ad.hvp(f, (0.3,), (1.0,))[0])
