"""What ``ad.implicit`` means, in the part of the language that is differentiated itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.runtime.numerical_methods.implicit import answered, outcome, root, taken


def of_opaque_solver(solve: Any, residual: Any, args: Any, like: Any) -> Any:
    """The solution of a solver that is not read; ``like`` is of the kind of its result."""
    return solved(root, lambda x: residual(x, *args), (like,), answered, (solve, *stop_gradient(args)))


def of_solver(solve: Any, residual: Any, args: Any) -> Any:
    """The solution of a solver that is read."""
    given = stop_gradient(args)
    x = stop_gradient(solved(outcome, lambda: solve(*given), (), taken, ())) * 1.0
    return solved(root, lambda x: residual(x, *args), (x,), answered, (taken, x))


def inside(function: Any, *args: Any) -> Any:
    """A call of a function by itself, for what lies inside of a container: it makes containers of another kind."""
    return function(*args)


def outline(value: Any) -> Any:
    """The structure of a list or dict of numbers and arrays, with nothing in it that varies."""
    if isinstance(value, list):
        return [inside(outline, item) for item in value]
    if isinstance(value, tuple):
        return tuple([inside(outline, item) for item in value])
    if isinstance(value, dict):
        return {key: inside(outline, item) for key, item in value.items()}
    return np.zeros(np.shape(value), bool) if isinstance(value, np.ndarray) else False


def flattened(value: Any) -> Any:
    """All numbers in a list or dict, one after the other."""
    if isinstance(value, (list, tuple)):
        return np.concatenate([np.zeros(0), *[inside(flattened, item) for item in value]])
    if isinstance(value, dict):
        return np.concatenate([np.zeros(0), *[inside(flattened, item) for item in value.values()]])
    return np.ravel(value)


def refilled(like: Any, flat: Any) -> Any:
    """A list or dict with the structure of ``like``, of the first of these numbers."""
    if isinstance(like, tuple):
        return tuple([inside(refilled, item, flat[_count(like[:place]) :]) for place, item in enumerate(like)])
    if isinstance(like, list):
        at, made = 0, []
        for item in like:
            made.append(inside(refilled, item, flat[at:]))
            at += _count(item)
        return made
    if isinstance(like, dict):
        at, entries = 0, {}
        for key, item in like.items():
            entries[key] = inside(refilled, item, flat[at:])
            at += _count(item)
        return entries
    return np.reshape(flat[: np.size(like)], np.shape(like)) if isinstance(like, np.ndarray) else float(flat[0])


def _count(like: Any) -> Any:
    if isinstance(like, (list, tuple)):
        return sum([_count(item) for item in like])
    if isinstance(like, dict):
        return sum([_count(item) for item in like.values()])
    return np.size(like)
