"""Where a charge has to be so that a particle that it repels lands at the origin."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.descent import minimum, value_and_gradient
from benchmarks.gradbench.evaluation import Function

STEP = 0.1


def potential(position, w):
    """The potential of two charges, one of them at a height that ``w`` tells."""
    return 1.0 / distance(position, 10.0, 10.0 - w) + 1.0 / distance(position, 10.0, 0.0)


def distance(position, x, y):
    return np.sqrt((position[0] - x) ** 2 + (position[1] - y) ** 2)


def miss(w, mode):
    """The square of how far from the origin the particle lands, by Euler's method."""
    position = np.array([0.0, 8.0])
    velocity = np.array([0.75, 0.0])
    while True:
        _, slope = value_and_gradient(lambda at: potential(at, w), position, mode)
        following = position + STEP * velocity
        if following[1] < 0.0:
            break
        position = following
        velocity = velocity - STEP * slope
    remaining = -position[1] / velocity[1]
    return (position[0] + remaining * velocity[0]) ** 2


def best(w, outer, inner, native):
    """The w of the least miss, by outer and inner derivatives of these modes."""
    start = np.array([w])
    return minimum(lambda x: value_and_gradient(lambda at: miss(at[0], inner), x, outer, native), start)[0]


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments, without the modes."""
    return (float(given["w"]),)


def functions(build: Build) -> dict[str, Function]:
    """The eval."""

    def in_modes(outer: str, inner: str) -> Any:
        return lambda w: best(w, outer, inner, build.native)

    return {outer + inner: Function(prepare, in_modes(outer, inner)) for outer in "rf" for inner in "rf"}
