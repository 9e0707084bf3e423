"""The evals, by name."""

from __future__ import annotations

import importlib

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function

NAMES = ("hello", "gmm", "ba", "lstm", "ht", "ode", "lse", "det", "llsq", "kmeans", "saddle", "particle")


class UnknownError(LookupError):
    """There is no eval, or no function, of this name."""


def functions_of(name: str, build: Build) -> dict[str, Function]:
    """The functions of an eval."""
    if name not in NAMES:
        raise UnknownError(f"there is no module {name!r}")
    functions: dict[str, Function] = importlib.import_module(f"benchmarks.gradbench.{name}").functions(build)
    return functions
