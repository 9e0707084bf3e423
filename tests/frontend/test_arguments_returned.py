"""Functions that stay functions and return what they are given: their callers have it already."""

import math

import numpy as np
import pytest

import adjoint as ad
from frontend.kept_functions import as_usual_and_kept
from fuzz.inlining import repeating
from sampling import check_grads


def filled(u, p, out):
    out[0] = p * (u[1] - u[0])
    out[1] = math.sin(u[0]) * u[1]
    return out


def stages(u, p):
    k = np.zeros((2, 2))
    filled(u, p, k[0])
    last = filled(u + 0.1 * k[0], p, k[1])
    return np.sum(last * k[0]) + k[1, 0]


def written_by_its_other_name(u, p):
    out = np.zeros(2)
    other = filled(u, p, out)
    other[0] = other[0] * other[1]
    return out[0] * u[0] + other[1] * out[1]


def with_another(u, out):
    out[0] = u[0] * u[1]
    return out, u * out[0]


def pairs(u, p):
    out = np.zeros(1)
    one, y = with_another(u, out)
    one[0] = one[0] * p
    two, z = with_another(y, one)
    return np.sum(y * z) * out[0] + two[0]


def pushed(items, x):
    items.append(x * x)
    return items


def pushes(u, p):
    items = [p]
    more = pushed(pushed(items, u[0]), u[1])
    more[0] = more[0] * u[1]
    return items[0] * more[1] + items[2]


def same(x):
    return x


def unchanged(u, p):
    return np.sum(same(u) * same(same(u) * p))


def on_one_path(x, p):
    if p > 10.0:
        return x
    return x * p


def either(u, p):
    return np.sum(on_one_path(u, p) * on_one_path(u, 11.0 * p))


def down(x, n):
    if n == 0:
        return x
    x[0] = x[0] * x[1]
    return down(x, n - 1)


def recursive(u, p):
    x = u * p
    y = down(x, 3)
    y[1] = y[0] * p
    return np.sum(x * y)


def around(u, p):
    held = u * p

    def change(f):
        held[0] = held[0] * f
        return held

    one = change(p)
    two = change(u[1])
    two[1] = one[0] * p
    return np.sum(held * one)


class Buffer:
    def __init__(self, data, scale):
        self.data, self.scale = data, scale

    def add(self, x):
        self.data[0] = self.data[0] + x * self.scale
        return self.data


def of_a_method(u, p):
    buffer = Buffer(np.zeros(2), p)
    buffer.add(u[0])
    data = buffer.add(u[1])
    data[1] = data[0] * p
    return np.sum(buffer.data * data)


PROGRAMS = [
    stages, written_by_its_other_name, pairs, pushes, unchanged, either, recursive, around, of_a_method
]  # fmt: skip


@as_usual_and_kept
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f, most):
    with repeating(most):
        check_grads(f, (np.array([0.3, 0.7]), 1.2))


def test_the_memory_of_cotangents_is_that_of_the_caller():
    """No shadows are handed over and back; what is returned is no result."""
    with repeating(0):
        text = ad.source(ad.grad(stages), np.array([0.3, 0.7]), 1.2)
        assert "kept = filled_primal(u, p, k[0])" in text and "shadows" not in text and "return out" not in text
        with_others = ad.source(ad.grad(pairs), np.array([0.3, 0.7]), 1.2)
    assert "shadows" not in with_others
