"""Derivatives of functions that draw random numbers, taken inside of others: what they drew once is what they drew."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.7, 1.3])
RNG = np.random.default_rng(0)
COUNTED: Any = None


def noisy(q, k=1.0):
    y = np.sum(q**3 * RNG.normal(size=2))
    for _ in range(2):
        y = y + np.sum(np.sin(q) * RNG.normal()) * k
    return y


def penalty(x):
    return np.sum(ad.grad(noisy)(x) ** 2)


def of_a_derivative_of_a_derivative(x):
    slope = ad.grad(noisy)
    return np.sum(ad.grad(lambda q: np.sum(slope(q) * q))(x) ** 2)


def descent(x):
    w = x
    for _ in range(3):
        w = w - 0.1 * ad.grad(lambda q: noisy(q, x[0]))(w)
    return np.sum(w * w)


def product_with_a_hessian(x):
    return np.sum(ad.hvp(lambda q: noisy(q) * q[0], (x,), (x * x,))[0])


def deeper(q, n):
    return np.sum(q * RNG.normal(size=2)) if n == 0 else deeper(q * q + RNG.normal(), n - 1) * q[0]


def of_a_recursion(x):
    return np.sum(ad.grad(deeper)(x, 2) * x)


def walk(q):
    while RNG.random() < 0.6:
        q = q * np.cos(q) + RNG.normal(size=2) * 0.1
    return np.sum(q**2)


def of_a_walk(x):
    value, slope = ad.value_and_grad(walk)(x)
    return value * np.sum(slope * slope)


def dropout(w, h):
    kept = np.outer(w, h) * (RNG.random((2, 2)) > 0.3) / 0.7
    return np.sum(np.tanh(kept) ** 2)


def momentum(x):
    w, m, loss = x, np.zeros(2), 0.0
    for _ in range(3):
        loss, slope = ad.value_and_grad(dropout)(w, x + 1.0)
        m = 0.9 * m + slope
        w = w - 0.1 * m
    return loss + np.sum(w)


def of_pythons_module(x):
    return np.sum(ad.grad(lambda q: np.sum(q**3) * random.random())(x) ** 2)


def of_an_iterator(x):
    return np.sum(ad.grad(lambda q: np.sum(q**3) * next(COUNTED))(x) ** 2)


def seed() -> None:
    global COUNTED
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state
    random.seed(0)
    COUNTED = iter([2.0, 3.0, 5.0])


def seeded(function: Any, x: Any) -> Any:
    seed()
    return function(x)


def differences(function: Any, step: float) -> np.ndarray:
    return np.array([(seeded(function, X + e) - seeded(function, X - e)) / (2 * step) for e in step * np.eye(2)])


FUNCTIONS = [
    penalty,
    of_a_derivative_of_a_derivative,
    descent,
    product_with_a_hessian,
    of_a_recursion,
    of_a_walk,
    momentum,
    of_pythons_module,
    of_an_iterator,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_derivative_draws_what_the_function_draws(function: Any) -> None:
    expected = differences(function, 1e-6)
    seeded(function, X)
    drawn = RNG.random(), random.random()
    for derive in (ad.grad(function), lambda x: ad.vjp(function, x)[1](1.0)[0], ad.grad(function, native=True)):
        np.testing.assert_allclose(seeded(derive, X.copy()), expected, rtol=1e-5, atol=1e-7)
        assert (RNG.random(), random.random()) == drawn
    slopes = [seeded(lambda x, e=e: ad.jvp(function, (x,), (e,))[1], X.copy()) for e in np.eye(2)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("function", [penalty, descent, momentum, walk, noisy])
def test_second_derivatives(function: Any) -> None:
    expected = differences(ad.grad(function), 1e-5)
    for derive in (ad.hessian(function), ad.jacobian(ad.grad(function), mode="reverse")):
        np.testing.assert_allclose(seeded(derive, X.copy()), expected, rtol=1e-4, atol=1e-6)


def pulled_back(x):
    value, pullback = ad.vjp(noisy, x)
    return value * np.sum(pullback(1.0)[0])


def columns(x):
    return np.sum(ad.jacobian(lambda q: q**3 * RNG.normal(size=2))(x) @ x)


def columns_of_a_gradient(x):
    return np.sum(ad.hessian(noisy)(x) @ x)


@pytest.mark.parametrize("function", [pulled_back, columns, columns_of_a_gradient])
def test_what_would_draw_again_is_refused(function: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match="other numbers") as caught:
        ad.grad(function)(X.copy())
    assert [problem.code for problem in caught.value.diagnostics] == ["AD0301"]


def test_generators_of_a_known_seed_draw_the_same_again() -> None:
    def f(x):
        def noisy(y):
            return np.sum(np.random.default_rng(3).normal(size=3) * y**3)

        return np.sum(ad.grad(noisy)(x) ** 2)

    x = np.array([0.5, 1.0, 2.0])
    noise = np.random.default_rng(3).normal(size=3)
    np.testing.assert_allclose(ad.grad(f)(x), 36.0 * noise**2 * x**3)
