"""The logarithm of a sum of exponentials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def primal(x):
    largest = np.max(x)
    return largest + math.log(np.sum(np.exp(x - largest)))


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments."""
    return (np.asarray(given["x"], dtype=float),)


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {"primal": Function(prepare, build.program(primal)), "gradient": Function(prepare, build.grad(primal))}
