"""A determinant, by expansion along the first row."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def minor(a, row, used):
    """The determinant of the rows from ``row`` on, without the columns whose bit in ``used`` is set."""
    n = len(a)
    total = 0.0
    sign = 1.0
    for column in range(n):
        if not used >> column & 1:
            if row == n - 1:
                total += a[row, column]
            else:
                total += sign * a[row, column] * minor(a, row + 1, used | 1 << column)
            sign = -sign
    return total


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments of the minor that is the whole matrix."""
    return np.asarray(given["A"], dtype=float).reshape(given["ell"], given["ell"]), 0, 0


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {
        "primal": Function(prepare, build.program(minor)),
        "gradient": Function(prepare, build.grad(minor), lambda found: found.ravel().tolist()),
    }
