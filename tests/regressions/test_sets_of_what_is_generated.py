"""Sets made of generators, and what a thread holds for itself: by both, libraries choose what they compute with."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import adjoint as ad
from regressions.differences import right

X = np.array([0.3, 0.7])


def of_one_kind(*given: Any) -> Any:
    kinds = set(isinstance(each, np.ndarray) for each in given)
    if len(kinds) == 1:
        return kinds.pop()
    raise ValueError("arrays and numbers")


def chosen(x: Any) -> Any:
    parts = [part for part in (x, 2.0 * x, None) if part is not None]
    return np.sum(x * x) if of_one_kind(*parts) else np.sum(x)


def counted(x: Any) -> Any:
    return np.sum(x * x) * len(frozenset(type(part) for part in (x, x * 2.0)))


class Backend:
    held = threading.local()
    usual = 2.0

    @classmethod
    def scale(cls) -> Any:
        return cls.held.__dict__.get("scale", cls.usual)


def scaled(x: Any) -> Any:
    return np.sum(x * x) * Backend.scale()


def test_sets() -> None:
    right(chosen, X)
    right(counted, X)


def test_what_a_thread_holds() -> None:
    right(scaled, X)
    Backend.held.scale = 5.0
    try:
        right(scaled, X)
        assert ad.grad(scaled)(X).tolist() == (10.0 * X).tolist()
    finally:
        del Backend.held.scale
