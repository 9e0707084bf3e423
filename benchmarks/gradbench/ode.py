"""A system of ordinary differential equations, ``y[i]' = x[i] y[i - 1]``, by the classical Runge-Kutta method."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def primal(x, steps):
    """The state at time 2, from zero at time 0."""
    h = 2.0 / steps
    y = np.zeros(len(x))
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + 0.5 * h * k1)
        k3 = slope(x, y + 0.5 * h * k2)
        k4 = slope(x, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def slope(x, y):
    """The derivative of the state by time."""
    found = np.empty(len(x))
    found[0] = x[0]
    for i in range(1, len(x)):
        found[i] = x[i] * y[i - 1]
    return found


def last(x, steps):
    """The last part of the state."""
    return primal(x, steps)[-1]


def total(x, steps):
    """The sum of the state: its gradient is the pullback of ones."""
    return np.sum(primal(x, steps))


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments."""
    return np.asarray(given["x"], dtype=float), int(given["s"])


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {
        "primal": Function(prepare, build.program(primal)),
        "gradient": Function(prepare, build.grad(last)),
        "total": Function(prepare, build.grad(total)),
    }
