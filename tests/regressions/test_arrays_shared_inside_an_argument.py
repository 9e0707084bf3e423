"""Arrays inside one argument that share memory, of which a function writes one: the gradient was that of two arrays."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused

SAID = "arrays in argument 0 share memory, and the function writes one"


def first_written(d):
    d["x"][0] *= 2
    return d["y"][0] ** 2


def item_written(xs):
    xs[0][1] = xs[0][1] * 2
    return xs[1][0] ** 2


def any_written(xs):
    for i in range(len(xs)):
        xs[i][0] *= 2.0
    return xs[0][0] * xs[1][0]


def view_written(m):
    rows = m.w[1:]
    rows[0] = 3.0 * m.v[0]
    return np.sum(m.w * m.v)


def counted(m):
    m.n[0] += 1.0
    return np.sum(m.w * m.v)


def shared(make):
    a = np.array([2.0, 3.0, 4.0])
    return make(a)


CASES = {
    "dict": (first_written, lambda a: {"x": a, "y": a}),
    "views in a list": (item_written, lambda a: [a[:2], a[1:]]),
    "items that a loop writes": (any_written, lambda a: [a, a]),
    "a view of a field": (view_written, lambda a: SimpleNamespace(w=a, v=a[::-1])),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_must_lie_apart(name: str) -> None:
    function, make = CASES[name]
    gradient = ad.grad(function)
    for _ in range(3):  # the fast path asks, too
        assert SAID in str(refused(lambda: gradient(shared(make))))
    assert SAID in str(refused(lambda: ad.value_and_grad(function)(shared(make))))
    assert SAID in str(refused(lambda: ad.vjp(function, shared(make))))


def test_what_lies_apart_is_differentiated() -> None:
    found = ad.grad(first_written)({"x": np.ones(2), "y": np.array([2.0, 3.0])})
    np.testing.assert_array_equal(found["y"], [4.0, 0.0])
    parts = ad.grad(item_written)([np.ones(2), np.array([2.0, 3.0])])
    np.testing.assert_array_equal(parts[1], [4.0, 0.0])


def test_weights_that_are_shared_and_only_read_may_stand_beside_what_is_written() -> None:
    tied = np.array([2.0, 3.0, 4.0])
    found = ad.grad(counted)(SimpleNamespace(w=tied, v=tied, n=np.zeros(1)))
    np.testing.assert_array_equal(found.w + found.v, 2 * tied)


def product_of_two(arrays):
    return np.sum(arrays[0] * arrays[1] * arrays[1])


def product_in_lists(arrays):
    return np.sum(arrays[0][0] * arrays[1][0] * arrays[1][0])


@pytest.mark.parametrize("native", [False, True])
def test_an_array_that_is_in_a_list_twice_has_one_cotangent(native: bool) -> None:
    x = np.array([1.0, 2.0])
    expected = 3 * x * x
    for f, given in ((product_of_two, [x, x]), (product_in_lists, [[x], [x]])):
        found = ad.grad(f, native=native)(given)
        np.testing.assert_array_equal(np.ravel(found), [*expected, *expected])
        found = ad.vjp(f, given, native=native)[1](1.0)
        np.testing.assert_array_equal(np.ravel(found), [*expected, *expected])
