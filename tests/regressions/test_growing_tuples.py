"""Tuples that get longer in loops whose number of iterations is known at run time only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

# mypy: allow-untyped-defs, allow-untyped-calls


def by_sums(x, n):
    t = ()
    for i in range(n):
        t = t + (x * i,)
    p, q, r = t
    return p + q * r


def in_place_behind_others(x, n):
    t = (1, x)
    for i in range(n):
        t += (x**i,)
    return sum(t) + t[0] * x + t[-1] * len(t)


def spread_out(x, n):
    t = ()
    i = 0
    while True:
        t = (*t, x**i)
        i += 1
        if i > n:
            break
    return max(t) + t[2] * len(t)


def in_front(x, n):
    t = ()
    for i in range(n):
        t = (x**i, *t)
    return t[0] * x + t[-1] + np.sum(np.array(t) ** 2)


def sometimes(x, n):
    t, s = (), 0.0
    for i in range(n):
        if i % 2:
            t = (*t, x**i)
        else:
            t = t[1:]
        s += len(t) * x * x
    return sum(t) + s


def by_turns(x, n):
    a, b = (), (x * x,)
    for i in range(n):
        a, b = b, (*a, x**i)
    return sum(a) * 3 + sum(b)


def in_each_other(x, n):
    t = ()
    for i in range(n):
        u = ()
        for j in range(i):
            u = (*u, x**j)
        t = (*t, u)
    return sum(sum(u) * len(u) for u in t)


def of_arrays(x, n):
    t = ()
    for i in range(n):
        t = t + (np.array([x**i, x]),)
    return sum(np.sum(u * u) for u in t)


def of_pairs(x, n):
    t = ()
    for i in range(n):
        t = (*t, (x**i, np.array([x])))
    return sum(u + np.sum(v) for u, v in t)


def of_functions(x, n):
    t = ()
    for i in range(n):
        t = (*t, lambda y, i=i: y**i)
    return sum(f(x) for f in t)


class Held:
    def __init__(self, v):
        self.v = v


def of_objects(x, n):
    t = ()
    for i in range(n):
        t = (*t, Held(x**i))
    return sum(h.v for h in t)


def of_a_function_called_twice(x, n):
    def powers(v):
        t = ()
        for i in range(n):
            t = (*t, v**i)
        return t

    return sum(powers(x)) + sum(powers(x * x))


def of_the_columns_of_an_array(x, n):
    def as_columns(*args):
        return np.stack([np.asarray(arg) * np.ones(2) for arg in args], axis=1)

    def scalars(*args):
        is_scalar = np.array(args[0]).shape == ()
        if is_scalar:
            new = ()
            for i in range(len(args)):
                new = new + (np.array([args[i]]),)
            args = new
        found = as_columns(*args)
        if is_scalar:
            out = ()
            for i in range(found.shape[1]):
                out = out + (found[0, i],)
            return out
        return found

    a, b = scalars(x * n, x * x)
    return a * b


ALL = [
    by_sums,
    in_place_behind_others,
    spread_out,
    in_front,
    sometimes,
    by_turns,
    in_each_other,
    of_arrays,
    of_pairs,
    of_functions,
    of_objects,
    of_a_function_called_twice,
    of_the_columns_of_an_array,
]


@pytest.mark.parametrize("f", ALL)
def test_growing_tuples(f: Callable[..., Any]) -> None:
    right(f, 1.3, 3)
    first = ad.grad(f)
    expected = (first(1.3 + 1e-5, 3) - first(1.3 - 1e-5, 3)) / 2e-5
    assert ad.grad(first)(1.3, 3) == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_a_tuple_that_grew_is_a_result() -> None:
    def powers(x, n):
        t = ()
        for i in range(n):
            t = t + (x**i,)
        return t

    value, pullback = ad.vjp(powers, 2.0, 3)
    assert value == (1.0, 2.0, 4.0)
    assert pullback((1.0, 1.0, 1.0))[0] == pytest.approx(5.0)
    assert ad.jacobian(powers)(2.0, 3) == pytest.approx((0.0, 1.0, 4.0))
    assert ad.vjp(powers, 2.0, 0)[0] == ()


def test_a_tuple_of_another_length_than_is_unpacked_raises() -> None:
    with pytest.raises(ValueError):
        ad.grad(by_sums)(1.3, 4)
