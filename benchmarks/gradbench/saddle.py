"""A saddle point: the least of what is greatest over the other variables, by a descent within a descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.descent import minimum, value_and_gradient
from benchmarks.gradbench.evaluation import Function


def height(x, y):
    return (x[0] ** 2 + x[1] ** 2) - (y[0] ** 2 + y[1] ** 2)


def highest(x, start, mode, native=None):
    """The y at which the height is greatest."""
    return minimum(lambda y: value_and_gradient(lambda at: -height(x, at), y, mode, native), start)


def greatest_height(x, start, mode):
    """The greatest height over all y; the derivative goes through the search for it."""
    return height(x, highest(x, start, mode))


def saddle(start, outer, inner, native):
    """The saddle point, by outer and inner derivatives of these modes."""
    x = minimum(lambda x: value_and_gradient(lambda at: greatest_height(at, start, inner), x, outer, native), start)
    return np.concatenate((x, highest(x, start, inner, native)))


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments, without the modes."""
    return (np.asarray(given["start"], dtype=float),)


def functions(build: Build) -> dict[str, Function]:
    """The eval."""

    def in_modes(outer: str, inner: str) -> Any:
        return lambda start: saddle(start, outer, inner, build.native)

    return {outer + inner: Function(prepare, in_modes(outer, inner)) for outer in "rf" for inner in "rf"}
