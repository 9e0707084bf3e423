"""Attributes whose names are taken out of a list by an index: ``getattr(x, names[i])`` in a loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

NAMES = ["a", "b"]


class Pair:
    def __init__(self, x: Any) -> None:
        self.a, self.b = x[0], x[0] * x[1]

    @property
    def product(self) -> Any:
        return self.a * self.b

    def scaled(self, k: float) -> Any:
        return self.a * k

    def moved(self, k: float) -> Any:
        return self.b + k


class Generous(Pair):
    def __getattr__(self, name: str) -> float:
        return 3.0


def one_after_the_other(x: Any) -> Any:
    pair, names, total = Pair(x), ["a", "b", "product"], 0.0
    for j in range(len(names)):
        total = total * 2.0 + getattr(pair, names[j])
    return total


def with_names_outside(x: Any) -> Any:
    pair = Pair(x)
    return sum([getattr(pair, NAMES[j]) * (j + 1.0) for j in range(len(NAMES))])


def written_by_turns(x: Any) -> Any:
    pair, names = Pair(x), ["a", "b"]
    for j in range(int(x[0] * 4.0)):
        setattr(pair, names[j % 2], getattr(pair, names[(j + 1) % 2]) * x[1])
    return pair.product


def methods_and_defaults(x: Any) -> Any:
    pair, names, total = Pair(x), ["scaled", "moved"], 0.0
    for j in range(2):
        total = total + getattr(pair, names[j])(j + 1.0)
    others = ["a", "missing"]
    for j in range(2):
        total = total * getattr(pair, others[j], 5.0) + getattr(Generous(x), others[j])
    return total


def shapes_first(x: Any) -> Any:
    pair, names, found = Pair(x), ["a", "b"], []
    for j in range(len(names)):
        try:
            shape = getattr(pair, names[j]).shape
        except AttributeError:
            shape = ()
        found.append(np.empty((2, *shape)))
    for i, p in np.ndenumerate(np.arange(1.0, 3.0)):
        for j in range(len(names)):
            found[j][i] = getattr(pair, names[j]) * p
    return np.sum(found[0] * found[1])


def of_a_module(x: Any) -> Any:
    names, total, j = ["sin", "cos"], x[0], 0
    while j < 2:
        total = getattr(math, names[j])(total) * x[1]
        j += 1
    return total


PROGRAMS = [with_names_outside, written_by_turns, methods_and_defaults, shapes_first, of_a_module, one_after_the_other]


@pytest.mark.parametrize("f", PROGRAMS)
def test_names(f: Callable[..., Any]) -> None:
    right(f, np.array([1.3, 0.8]))


def test_names_that_change() -> None:
    def f(x: Any) -> Any:
        pair, names, total = Pair(x), ["a", "b"], 0.0
        for j in range(5):
            names[j % 2], names[(j + 1) % 2] = names[(j + 1) % 2], names[j % 2]
            total = total * 2.0 + getattr(pair, names[j % 2])
        return total

    with pytest.raises(ad.DifferentiationError, match="AD0201"):
        ad.grad(f)(np.array([1.3, 0.8]))
