"""What rules compute anew is what the forward sweep has computed, where the reverse sweep reads that all the same."""

import math

import numpy as np
import pytest

import adjoint as ad
from frontend.kept_functions import as_usual_and_kept
from fuzz.inlining import repeating
from sampling import check_grads


def wave(r):
    y = np.sin(r) * r + np.exp(r)
    return y * np.cos(r)


def iterated(x, n):
    r = x
    for _ in range(n):
        r = 0.1 * wave(r) + r
    return np.sum(r)


def turned(x, n):
    a, b = x, 1.0
    for i in range(n):
        if a > 0.1 * i:
            a, b = a * math.cos(b) - b * math.sin(b), a * math.sin(b)
        else:
            b = b * math.exp(a) * a
    return a * b


def written_between(x, n):
    a = x * 1.0
    total = 0.0
    for i in range(n):
        total = total + np.sum(np.sin(a) * a)
        a[0] = a[0] * 0.5
        total = total + np.sum(np.cos(a) * x)
    return total


def on_one_side(x, n):
    total = x
    for i in range(n):
        if i % 2 == 0:
            total = total + math.sin(total) * total
        total = total + math.cos(total) * x
    return total


CASES = [
    (iterated, (np.array([0.3, 0.7]), 3)),
    (turned, (0.8, 4)),
    (written_between, (np.array([0.3, 0.7]), 3)),
    (on_one_side, (0.4, 4)),
]


@pytest.mark.parametrize(("f", "args"), CASES)
@as_usual_and_kept
def test_gradients(f, args, most):
    with repeating(most):
        check_grads(f, args)


@as_usual_and_kept
@pytest.mark.parametrize(("f", "args", "times"), [(*CASES[0], 1), (*CASES[1], 2)])
def test_nothing_is_computed_twice(f, args, times, most):
    """Sines of arrays are kept, of numbers computed again: once."""
    with repeating(most):
        text = ad.source(ad.grad(f), *args)
    assert text.count("sin(") == text.count("cos(") == times


PAIRS = [
    lambda y: np.sin(np.sin(y)),
    lambda y: np.cos(np.sin(np.cos(y))),
    lambda y: np.exp(-np.exp(y)),
    lambda y: np.tanh(np.tanh(y)),
    lambda y: np.sin(np.exp(np.cos(y))),
    lambda y: np.arctan(np.sqrt(1.0 + np.sin(y) ** 2)),
]


@pytest.mark.parametrize("composed", PAIRS)
def test_what_only_stands_for_another_value_is_kept_all_the_same(composed):
    def iterated_by_items(x):
        y = x
        for w in x:
            y = w * composed(y) + 0.1
        return np.sum(y)

    check_grads(iterated_by_items, (np.array([0.3, 0.7, 0.9]),), wrt=0, order=2)
    check_grads(ad.grad(iterated_by_items), (np.array([0.3, 0.7, 0.9]),), wrt=0, order=2)
