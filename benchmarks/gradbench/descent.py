"""Gradient descent, and gradients in either mode."""

from __future__ import annotations

import numpy as np

import adjoint as ad

PRECISION = 1e-5


def minimum(evaluate, start):
    """Where a function is least; ``evaluate`` computes its value and its gradient.

    The step grows after ten successes, and shrinks after each failure.
    """
    x = start
    value, gradient = evaluate(x)
    step = 1e-5
    successes = 0
    while length(gradient) > PRECISION:
        if successes == 10:
            step *= 2.0
            successes = 0
        following = x - step * gradient
        if length(x - following) <= PRECISION:
            break
        following_value, following_gradient = evaluate(following)
        if following_value < value:
            x, value, gradient = following, following_value, following_gradient
            successes += 1
        else:
            step /= 2.0
            successes = 0
    return x


def length(vector):
    return np.sqrt(np.sum(vector * vector))


def value_and_gradient(function, x, mode, native=None):
    """The value of a function and its gradient, by reverse mode (``"r"``) or by forward mode (``"f"``)."""
    if mode == "r":
        return ad.value_and_grad(function, native=native)(x)
    gradient = np.empty(len(x))
    value = 0.0
    for i in range(len(x)):
        direction = np.zeros(len(x))
        direction[i] = 1.0
        value, gradient[i] = ad.jvp(function, (x,), (direction,), native=native)
    return value, gradient
