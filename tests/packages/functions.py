"""The public functions of a package, and arguments for them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

RANGES = ((0.1, 0.9), (0.5, 2.0), (1.0, 10.0), (10.0, 400.0), (1e-3, 0.1), (1e3, 1e5), (1e5, 1e6))
MIXED = 8
"""How many samples draw each argument from a range of its own."""
LENGTH = 4
MOST_MIXED = 5
"""Up to how many arguments one of them is an array where nothing else does."""
_SKIPPED_MODULES = ("test", "tests", "testing", "conftest", "setup", "plot", "plotting", "iotools", "datasets", "vis")
_SKIPPED_WORDS = ("plot", "read", "write", "load", "save", "fetch", "download", "show", "test", "print")


def public_functions(package: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions that a package defines itself under public names, each once, by their full names."""
    seen = set()
    for module in _modules(package):
        names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        for name in sorted(set(names)):
            value = getattr(module, name, None)
            if not _is_function(value) or id(value) in seen:
                continue
            home = getattr(value, "__module__", None) or ""
            if home.split(".")[0] != package or set(name.lower().split("_")) & set(_SKIPPED_WORDS):
                continue
            seen.add(id(value))
            yield f"{home}.{name}", value


def _modules(package: str) -> Iterator[types.ModuleType]:
    root = importlib.import_module(package)
    yield root
    for found in sorted(
        pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda _: None), key=lambda m: m.name
    ):
        parts = found.name.split(".")
        if any(part.startswith("_") or part.startswith("test_") or part in _SKIPPED_MODULES for part in parts):
            continue
        try:
            yield importlib.import_module(found.name)
        except BaseException:  # an optional dependency, a script
            continue


def _is_function(value: Any) -> bool:
    if inspect.isfunction(value):
        return not (inspect.isgeneratorfunction(value) or inspect.iscoroutinefunction(value))
    return callable(value) and not isinstance(value, type) and inspect.isfunction(getattr(value, "__wrapped__", None))


def count_of_arguments(function: Callable[..., Any]) -> int | None:
    """How many arguments a function has to be given; None where it takes none, or some by name only."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if any(p.kind is p.KEYWORD_ONLY for p in needed):
        return None
    if needed:
        return len(needed)
    return int(any(p.kind is not p.VAR_KEYWORD for p in parameters)) or None


def samples(name: str, count: int) -> Iterator[tuple[Any, ...]]:
    """Arguments to try, the same at each run: floats of several magnitudes, then arrays, then some of each."""
    rng = random.Random(name)
    for arrays in _which_are_arrays(count):
        for low, high in RANGES:
            yield tuple(_drawn(rng, low, high, is_array) for is_array in arrays)
        for _ in range(MIXED):
            yield tuple(_drawn(rng, *rng.choice(RANGES), is_array) for is_array in arrays)


def _which_are_arrays(count: int) -> Iterator[tuple[bool, ...]]:
    yield (False,) * count
    yield (True,) * count
    if 1 < count <= MOST_MIXED:
        for place in range(count):
            yield tuple(i == place for i in range(count))


def _drawn(rng: random.Random, low: float, high: float, is_array: bool) -> Any:
    if not is_array:
        return rng.uniform(low, high)
    return np.sort([rng.uniform(low, high) for _ in range(LENGTH)])
