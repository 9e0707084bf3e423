"""The square of a number, and its derivative."""

from __future__ import annotations

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def square(x):
    return x * x


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {
        "square": Function(lambda x: (float(x),), build.program(square)),
        "double": Function(lambda x: (float(x),), build.grad(square)),
    }
