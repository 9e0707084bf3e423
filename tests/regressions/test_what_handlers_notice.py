"""What raises an exception that is handled decides which way a program takes, though nobody needs what it computes.

So stores into memory that nobody reads stay in ``try`` statements, also those in functions that are called there.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.target import ALL_INLINED
from adjoint.testing import check_grads
from fuzz.inlining import repeating

X = np.array([0.5, 1.5, -2.0, 3.25])


def element(v):
    a = np.zeros(3)
    try:
        a[len(v)] = v[0]
        return v[1]
    except IndexError:
        return v[2] ** 2


def part(v):
    a = np.zeros(3)
    try:
        a[1:] = v * 2.0
        return v[1]
    except ValueError:
        return v[2] ** 2


def item(v):
    items = [v[0]]
    try:
        items[len(v)] = v[0]
        return v[1]
    except IndexError:
        return v[2] ** 2


def in_place(v):
    a = np.zeros(2)
    try:
        a += v
        return v[1]
    except ValueError:
        return v[2] ** 2


def out(v):
    try:
        np.add(v[:2], v[:2], out=np.zeros(3))
        return v[1]
    except ValueError:
        return v[2] ** 2


def loop_inside(v):
    a, s = np.zeros(2), v[1]
    try:
        for i in range(4):
            s = s * 2.0
            a[i] = s
    except IndexError:
        s = s * v[2]
    return s


def loop_outside(v):
    a, s = np.zeros((2, 2)), v[1]
    for i in range(4):
        try:
            s = s * 2.0
            a[i] += s
        except IndexError:
            s = s * v[2]
        else:
            s = s + v[3]
        finally:
            s += 1.0
    return s


def only_its_shape_is_read(v):
    a, i = np.zeros((3, 2)), 0
    try:
        for i in range(5):
            a[i, 0] = v[i] * 2.0
    except IndexError:
        a[0, 1] = v[0] * i
    return a.sum() * i


class Lent:
    def __init__(self):
        self.memory = np.zeros(2)

    def __enter__(self):
        return self.memory

    def __exit__(self, kind, error, trace):
        return kind is IndexError


def context(v):
    s = v[0]
    with Lent() as memory:
        memory[0] = v[1]
        s = s * 2.0
        memory[2] = v[1]
        s = s * 3.0
    return s + memory.sum() * s


def put(a, i, q):
    a[i] = q
    return q * 2.0


def store_in_a_function(v):
    a, s = np.zeros(2), v[1]
    for i in range(4):
        try:
            s = s * 2.0 + put(a, i, s)
        except IndexError:
            s = s * v[2]
    return s


def checked(q):
    math.sqrt(q)
    return q * 2.0


def call_in_a_function(v):
    s = 0.0
    for q in v:
        try:
            s += checked(q)
        except ValueError:
            s += q * q
    return s


def shaped(w):
    w.reshape(3, -1)
    return w.sum()


def shape_in_a_function(v):
    s = 0.0
    for i in range(5):
        try:
            s += shaped(v[:i])
        except ValueError:
            s += v[0] ** i
    return s


def descending(q, n):
    if n == 0:
        math.sqrt(q)
        return q * 2.0
    return descending(q, n - 1) + 1.0


def in_a_recursion(v):
    s = 0.0
    for i, q in enumerate(v):
        try:
            s += descending(q, i)
        except ValueError:
            s += q * q
    return s


def filling(v, n):
    b = np.zeros(2)
    b[n] = v[0]
    return filling(v, n + 1) * v[n] if n < 3 else v[0]


def store_in_a_recursion(v):
    try:
        return filling(v, 0)
    except IndexError:
        return v[3]


PROGRAMS = [
    *(element, part, item, in_place, out, loop_inside, loop_outside, only_its_shape_is_read, context),
    *(store_in_a_function, call_in_a_function, shape_in_a_function, in_a_recursion, store_in_a_recursion),
]


@pytest.mark.parametrize("most", [ALL_INLINED, 0])
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_way_is_that_of_the_program(f: Callable[[Any], Any], most: int) -> None:
    with repeating(most):
        check_grads(f, (X,), order=2)
        expected = ad.vjp(f, X)[1](1.0)[0]
        np.testing.assert_allclose(ad.grad(f)(X), expected, rtol=1e-12)
        native = ad.grad(f, native=True)(X) if most else ad.vjp(f, X, native=True)[1](1.0)[0]  # kept by their operators
        np.testing.assert_allclose(native, expected, rtol=1e-12)


def test_where_nobody_handles_it_what_nobody_needs_is_left_out() -> None:
    def f(x: float) -> float:
        a = np.zeros(2)
        with np.errstate(all="ignore"):
            a[0] = math.sqrt(x)
        return x * a.size

    assert "sqrt" not in ad.source(ad.grad(f), 2.0)
    assert ad.grad(f)(2.0) == 2.0


def missing_item(v, n):
    items = []
    try:
        return items[n] * v[0]
    except IndexError as error:
        return v[1] * len(str(error))


def missing_key(v, n):
    try:
        {}[n]
        return v[0]
    except KeyError:
        return v[1]


def nothing_to_take(v, n):
    items, table = [], {}
    try:
        return items.pop() * v[0]
    except IndexError:
        try:
            return table.pop(n)
        except KeyError:
            return v[1] ** n


def missing_further_down(v, n):
    if n > 3:
        {}[n]
    return v[0] if n == 0 else missing_further_down(v, n - 1) * v[1]


def missing_in_a_recursion(v, n):
    try:
        return missing_further_down(v, n)
    except KeyError:
        return v[1]


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("f", [missing_item, missing_key, nothing_to_take, missing_in_a_recursion])
def test_what_is_always_empty_raises_as_in_python(f: Callable[[Any, int], Any], n: int) -> None:
    check_grads(f, (X, n), order=1)


def test_what_is_always_empty_raises_to_the_caller() -> None:
    def f(x: float, n: int) -> float:
        items: list[float] = []
        return items[n] if n else x * x

    assert ad.grad(f)(3.0, 0) == 6.0
    with pytest.raises(IndexError, match="list index out of range"):
        ad.grad(f)(3.0, 1)
