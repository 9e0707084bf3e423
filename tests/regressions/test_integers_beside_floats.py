"""Arrays of integers in containers that hold arrays of floats elsewhere have no shadow: nothing flows into them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


@dataclass
class Pair:
    weight: float
    values: np.ndarray


def objects_in_a_list(x, n):
    pairs = [Pair(x, np.array([x, 2.0])), Pair(2.0 * x, np.array([1, 2]))]
    s = 0.0
    for i in range(n):
        s = s + pairs[i % 2].weight * pairs[i % 2].values[0] * x
    return s


def objects_appended(x, n):
    pairs = []
    for i in range(n):
        if i % 2:
            pairs.append(Pair(x, np.array([x, 2.0])))
        else:
            pairs.append(Pair(x, np.array([1, 2])))
    return sum(pair.weight * np.sum(pair.values) for pair in pairs)


def arrays_in_a_list(x, n):
    arrays = [np.array([x, 2.0]), np.array([1, 2])]
    s = 0.0
    for i in range(n):
        s = s + arrays[i % 2][0] * x
    return s


def arrays_appended(x, n):
    arrays = []
    for i in range(n):
        if i % 2:
            arrays.append(np.array([x, 2.0]))
        else:
            arrays.append(np.array([1, 2]))
    return sum(x * np.sum(array) for array in arrays)


def tuples_in_a_list(x, n):
    pairs = [(x, np.array([x, 2.0])), (2.0 * x, np.array([1, 2]))]
    s = 0.0
    for i in range(n):
        s = s + pairs[i % 2][0] * pairs[i % 2][1][0] * x
    return s


def fields_replaced(x, n):
    pairs = [Pair(x, np.array([x, 2.0])), Pair(2.0 * x, np.array([1, 2]))]
    s = 0.0
    for i in range(n):
        pair = pairs[i % 2]
        pair.values = pair.values * x
        s = s + pair.weight * pair.values[0] * x
    return s


def arrays_written(x, n):
    pairs = [Pair(x, np.array([x, 2.0])), Pair(2.0 * x, np.array([1, 2]))]
    s = 0.0
    for i in range(n):
        pairs[i % 2].values[0] *= 2
        s = s + pairs[i % 2].weight * pairs[i % 2].values[0] * x
    return s


PROGRAMS = (
    objects_in_a_list,
    objects_appended,
    arrays_in_a_list,
    arrays_appended,
    tuples_in_a_list,
    fields_replaced,
    arrays_written,
)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives(program: Callable[[Any, int], Any], n: int) -> None:
    check_grads(lambda x: program(x, n), (1.5,), order=2)


@dataclass
class Mixed:
    first: float
    second: object


def numbers(x, n):
    pairs = [Mixed(x, 1), Mixed(2.0, x), Mixed(1.0, 2), Mixed(x, x)]
    s = 0.0
    for i in range(n):
        s = s + pairs[i % 4].first * pairs[i % 4].second * x
    return s


def test_whole_numbers_in_fields_have_tangents() -> None:
    x = 1.5
    assert ad.jvp(lambda x: numbers(x, 6), (x,), (1.0,)) == (numbers(x, 6), 2 * (2 * x + 2 * 2.0 * x) + 2.0 + 3 * x**2)
