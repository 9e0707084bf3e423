"""Functions of modules with a memo that call themselves, of what varies: a memo for each call from outside."""

from __future__ import annotations

import functools
import time

import pytest

import adjoint as ad


@functools.cache
def legendre(n, x):
    if n < 2:
        return x if n else 1.0
    return ((2 * n - 1) * x * legendre(n - 1, x) - (n - 1) * legendre(n - 2, x)) / n


@functools.cache
def even(n, x):
    return x if n == 0 else x * odd(n - 1, x)


@functools.cache
def odd(n, x):
    return x * x if n == 0 else 2 * even(n - 1, x)


@functools.cache
def power(x, n=3):
    return 1.0 if n <= 0 else x * power(x, n=n - 1)


@functools.lru_cache
def spline(i, k, t):
    if k == 0:
        return 1.0 if i <= t < i + 1 else 0.0
    return (t - i) / k * spline(i, k - 1, t) + (i + k + 1 - t) / k * spline(i + 1, k - 1, t)


@functools.cache
def pair(n, x):
    if n == 0:
        return x, 1.0
    a, b = pair(n - 1, x)
    return a * x, b + a


class Table:
    @functools.cache
    def entry(self, n, x):
        return x if n == 0 else x * self.entry(n - 1, x)


table = Table()


def of_a_fixed_degree(x):
    return legendre(4, x)


def of_many_degrees(x):
    return sum(legendre(i, x) for i in range(6))


def of_two_functions(x):
    return even(5, x)


def of_named_arguments(x):
    return power(x) + power(x, n=2) + power(n=1, x=x)


def of_splines(x):
    return sum(c * spline(i, 3, x) for i, c in enumerate([0.5, 1.0, 2.0, -1.0]))


def of_pairs(x):
    a, b = pair(4, x)
    return a * b


def of_methods(x):
    return table.entry(3, x)


@pytest.mark.parametrize(
    "f",
    [of_a_fixed_degree, of_many_degrees, of_two_functions, of_named_arguments, of_splines, of_pairs, of_methods],
    ids=lambda f: f.__name__,
)
def test_memos_that_call_themselves(f):
    x, h = 1.3, 1e-6
    expected = pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)
    assert ad.grad(f)(x) == expected
    assert ad.jvp(f, (x,), (1.0,))[1] == expected


def test_time_is_that_of_the_memo():
    def f(x, n):
        return legendre(n, x)

    gradient = ad.grad(f)
    gradient(0.3, 4)
    start = time.perf_counter()
    assert gradient(0.3, 60) == pytest.approx((f(0.3 + 1e-6, 60) - f(0.3 - 1e-6, 60)) / 2e-6, rel=1e-4)
    assert time.perf_counter() - start < 5.0  # two to the power of sixty calls, without it
