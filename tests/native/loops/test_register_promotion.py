"""Places of arrays that loops work on are variables: sums of cotangents in any order, beside elements that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.9, -0.4, 1.3, 0.7, -1.1, 0.2, 0.5])


def pairs(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            energy += 1.0 / ((x[i] - x[j]) ** 2 + 1.0)
    return energy


def pairs_with_itself(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i + 1):
            energy += 1.0 / ((x[i] - 2.0 * x[j]) ** 2 + 1.0)
    return energy


def pairs_behind(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            energy += np.sin(x[i] * x[j])
    return energy


def pairs_around_the_end(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i - 2, i):  # from the end, at first
            energy += np.sin(x[i] * x[j])
    return energy


def pairs_at_a_distance(x):
    energy = 0.0
    for i in range(3, len(x)):
        for j in range(i - 3):
            energy += np.sin(x[i] * x[j + 2]) + x[j + 3] * x[i]  # j + 3 is i at last
    return energy


def pairs_up_to_the_less(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(min(i, 4)):
            energy += np.sin(x[i] * x[j])
    return energy


def triples(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            for k in range(j):
                energy += np.sin(x[i] * x[j] + x[k])
    return energy


def substituted(x):
    y = x.copy()
    for i in range(len(y)):
        for j in range(i):
            y[i] -= 0.3 * y[j] * x[i]
    return np.sum(y * y)


def substituted_from_the_end(x):
    y = x.copy()
    for i in range(len(y) - 1, -1, -1):
        for j in range(i + 1, len(y)):
            y[i] -= 0.3 * y[j] * x[j]
    return np.sum(y * y)


def factored(x):
    n = len(x)
    a = np.outer(x, x) + 8.0 * np.eye(n)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return a[n - 1, 0] + a[n - 1, n - 1]


def sums_side_by_side(x):
    totals = np.zeros(3)
    for i in range(len(x)):
        totals[0] += x[i]
        totals[1] += x[i] * x[i]
        totals[2] += totals[0] * x[i]
    return totals[0] * totals[1] + totals[2]


def last_and_others(x):
    totals = np.zeros(3)
    for i in range(len(x)):
        totals[2] += x[i]
        totals[-1] += x[i] * x[i]  # the same
    return totals[2]


FUNCTIONS = [
    *(pairs, pairs_with_itself, pairs_behind, pairs_around_the_end, pairs_at_a_distance, pairs_up_to_the_less, triples),
    *(substituted, substituted_from_the_end, factored, sums_side_by_side, last_and_others),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_machine_code_and_python_agree(function: Callable[..., Any]) -> None:
    compiled, derivative = ad.compile(function, native="strict"), ad.value_and_grad(function, native="strict")
    for n in (7, 6, 5, 4):
        x = X[:n].copy()
        assert compiled(x) == pytest.approx(function(x), rel=1e-13)
        value, gradient = derivative(x)
        expected, slopes = ad.value_and_grad(function)(x)
        assert value == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-11, atol=1e-13)


def text_of(derivative: Any) -> str:
    text = derivative.specialized((X,), {}).call.emitted.text
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("function", [pairs, pairs_behind, pairs_up_to_the_less], ids=lambda f: f.__name__)
def test_indices_that_differ_keep_a_place_in_a_variable(function: Callable[..., Any]) -> None:
    assert text_of(ad.grad(function, native="strict")).count("x_bar[unsigned(j)]") == 1
    assert "x_bar[unsigned(i)] = x_bar_1" in text_of(ad.grad(function, native="strict"))


@pytest.mark.parametrize("function", [pairs_with_itself, pairs_around_the_end], ids=lambda f: f.__name__)
def test_indices_that_may_be_the_same_do_not(function: Callable[..., Any]) -> None:
    assert "x_bar[unsigned(i)] +=" in text_of(ad.grad(function, native="strict"))


def compensated(x):
    """Kahan's sum: its order is what it is about."""
    total = lost = 0.0
    for i in range(len(x)):
        part = x[i] * x[i] - lost
        following = total + part
        lost = (following - total) - part
        total = following
    return total


def test_sums_of_the_program_keep_their_order_and_those_of_cotangents_do_not() -> None:
    x = np.array([1e8, 1.0, 1e-8] * 9)
    value, gradient = ad.value_and_grad(compensated, native="strict")(x)
    assert value == compensated(x) and gradient[1] == pytest.approx(2.0)

    def scaled(x, a):
        total = 0.0
        for i in range(len(x)):
            total += np.sin(a * x[i])
        return total

    derivative = ad.value_and_grad(scaled, wrt=1, native="strict")
    text = derivative.specialized((X, 0.7), {}).call.emitted.text
    assert "a_bar = rt.plus(a_bar" in text and "total = rt.plus" not in text
    assert derivative(X, 0.7)[1] == pytest.approx(ad.grad(scaled, wrt=1)(X, 0.7), rel=1e-14)
