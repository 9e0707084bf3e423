"""Loops that compare their index with a number are split there, and do what they did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.9, -0.4, 1.3, 0.7, -1.1, 0.2, 0.5])


def all_others(x, k):
    energy = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                energy += np.sin(x[i] * x[j])
    return energy


def itself_otherwise(x, k):
    energy = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if j == i:
                energy += x[i] ** 3
            else:
                energy += x[i] * x[j] ** 2
    return energy


def left_out(x, k):
    total = 1.0
    for j in range(len(x)):
        if j == k:
            continue
        total = total * np.cos(x[j])
    return total


def before(x, k):
    total = 0.0
    for j in range(len(x)):
        total += np.sin(x[j]) if j < k else x[j] ** 2 * (1.0 + total)
    return total


def up_to(x, k):
    total = 0.0
    for j in range(1, len(x)):
        total += np.sin(x[j]) * total if k >= j else x[j] ** 2
    return total


def behind(x, k):
    total = 0.0
    for j in range(len(x)):
        if j > k:
            total = total * x[j] + 1.0
        else:
            total = total + x[j]
    return total


def from_there(x, k):
    total = 0.0
    for j in range(len(x)):
        if k <= j:
            total = np.sin(total + x[j])
    return total


def backwards(x, k):
    total = 0.0
    for j in range(len(x) - 1, -1, -1):
        if j != k:
            total = np.sin(total + x[j])
    return total


def edges(x, k):
    y = np.zeros(len(x))
    for j in range(len(x)):
        left = x[j - 1] if j > 0 else 0.0
        right = x[j + 1] if j < len(x) - 1 else 0.0
        y[j] = left * x[j] + right
    return np.sum(y * y)


def at_no_place(x, k):
    total = 0.0
    for j in range(len(x)):
        if j == -1 or j != k - 100:
            total += x[j] ** 2
    return total


def stopped(x, k):
    total = 0.0
    for j in range(len(x)):
        if j == k:
            break
        total += x[j] ** 2
    return total


def moving(x, k):
    total = 0.0
    for j in range(len(x)):
        if j > k:
            total += x[j] ** 2
            k += 2
    return total


def of_two_numbers(x, k):
    total = 0.0
    for j in range(len(x)):
        if j != k:
            if j < 3:
                total += x[j] ** 2
        elif j > 1:
            total -= x[j] ** 3
    return total


FUNCTIONS = [
    *(all_others, itself_otherwise, left_out, before, up_to, behind, from_there, backwards, edges, at_no_place),
    *(stopped, moving, of_two_numbers),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_machine_code_and_python_agree(function: Callable[..., Any]) -> None:
    compiled, derivative = ad.compile(function, native="strict"), ad.value_and_grad(function, native="strict")
    interpreted = ad.value_and_grad(function)
    for n in (7, 2, 1, 0):
        x = X[:n].copy()
        for k in (-9, -1, 0, 1, 3, 6, 7, 9):
            assert compiled(x, k) == pytest.approx(function(x, k), rel=1e-13)
            value, gradient = derivative(x, k)
            expected, slopes = interpreted(x, k)
            assert value == pytest.approx(expected, rel=1e-13)
            np.testing.assert_allclose(gradient, slopes, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("function", "loops"),
    [(all_others, 3), (left_out, 2), (before, 2), (behind, 2), (edges, 3), (stopped, 1), (moving, 1)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_how_often_they_are_split(function: Callable[..., Any], loops: int) -> None:
    compiled = ad.compile(function, native="strict")
    text = compiled.specialized((X, 3), {}).call.emitted.text
    assert text.count("for ") - text.count("for i in") >= loops - ("for i in" in text)
    assert ("if j" in text or "j !=" in text) is (loops == 1)
