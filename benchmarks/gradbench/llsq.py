"""The error of a polynomial that is fitted to a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def primal(x, n):
    """Half the sum of squared differences at ``n`` places from -1 to 1; ``x`` are the coefficients."""
    error = 0.0
    for i in range(n):
        t = -1.0 + 2.0 * i / (n - 1)
        value = 0.0
        power = 1.0
        for j in range(len(x)):
            value += x[j] * power
            power *= t
        error += (np.sign(t) - value) ** 2
    return 0.5 * error


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments."""
    return np.asarray(given["x"], dtype=float), int(given["n"])


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {"primal": Function(prepare, build.program(primal)), "gradient": Function(prepare, build.grad(primal))}
