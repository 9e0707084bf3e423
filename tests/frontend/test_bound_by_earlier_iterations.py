"""Variables that one iteration binds for the next: read where an iteration before has bound them."""

# ruff: noqa: F821, F841

import math

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

V = np.array([0.5, 0.6, -0.3, 0.8])


def last(x, v):
    total = 0.0
    for i in range(len(v)):
        if i > 0:
            total += v[i] * prev * x
        prev = v[i] * x
    return total


def arrays(x, v):
    for i in range(5):
        if i > 1:
            v = v + x * w
        if i > 0:
            w = v * 0.5
        v = v * 0.9
    return v.sum() * w[0]


def written(x, v):
    for i in range(5):
        if i > 1:
            w[0] *= x
            v = v + x * w
        if i == 1:
            w = v * 0.5
        v = v * 0.9
    return v.sum() * w[0]


def chain(x, v):
    t = 0.0
    for i in range(6):
        if i > 2:
            t += a * x
        if i > 1:
            a = b * x
        if i > 0:
            b = c + x
        c = math.sin(x * i)
    return t + a + v[0]


def while_loop(x, v):
    i, first = 0, True
    total = 0.0
    while i < 4:
        if first:
            best = v[i] * x
            first = False
        else:
            best = max(best, v[i] * x)
        total += best
        i += 1
    return total * best


def unbound(x, v):
    t = 0.0
    for i in range(3):
        t += q * x
        q = x
    return t


def lists(x, v):
    t = 0.0
    for i in range(4):
        if i > 0:
            t += sum(items) * x
        items = [x * j for j in range(i + 1)]
    return t


def objects(x, v):
    t = 0.0
    for i in range(4):
        if i > 0:
            t += pair[0] * pair[1]
        pair = (x * i, v[i])
    return t


def nested(x, v):
    t = 0.0
    for i in range(3):
        for j in range(3):
            if i + j > 0:
                t += old * v[j]
            old = x * (i + j) + 1.0
    return t


def momentum(x, v):
    y = v.copy()
    for i in range(4):
        g = 2 * y * x
        if i == 0:
            m = g
        else:
            m = 0.9 * m + g
        y = y - 0.1 * m
    return np.sum(y * y)


PROGRAMS = [last, arrays, written, chain, while_loop, lists, objects, nested, momentum]


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    check_grads(f, (0.85, V))
    expected = ad.grad(f, wrt=(0, 1))(0.85, V.copy())
    for one, other in zip(ad.grad(f, wrt=(0, 1), native=True)(0.85, V.copy()), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def read_in_the_first_iteration(x, v):
    total = 0.0
    for i in range(len(v)):
        if i > int(x) - 2:
            total += earlier * x
        earlier = v[i]
    return total


@pytest.mark.parametrize("native", [False, True])
def test_what_is_not_bound_when_it_runs_raises(native):
    gradient = ad.grad(read_in_the_first_iteration, native=native)
    assert gradient(2.5, V) == pytest.approx(0.5 + 0.6 - 0.3)
    for call in (read_in_the_first_iteration, gradient):
        with pytest.raises(UnboundLocalError, match="'earlier'"):
            call(1.5, V)


def test_what_no_iteration_before_binds_is_refused():
    with pytest.raises(ad.DifferentiationError, match="AD0304"):
        ad.grad(unbound)(0.85, V)
