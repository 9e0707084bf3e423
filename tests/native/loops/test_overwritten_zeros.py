"""Zeros are left out where each of them is overwritten before anything else is done with the array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint.api.jvp_vjp import specialized_jvp
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.native.loops.overwritten_zeros import without_overwritten_zeros

X = np.linspace(0.2, 0.9, 12).reshape(4, 3)


def each(x: np.ndarray) -> np.ndarray:
    found = np.zeros((len(x), 3))
    for i in range(len(x)):
        scale = x[i, 0]
        for j in range(3):
            found[i, j] = scale * x[i, j]
    return found


def some(x: np.ndarray) -> np.ndarray:
    found = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(2):
            found[i, j] = x[i, j]
    return found


def all_but_one(x: np.ndarray) -> np.ndarray:
    found = np.zeros((len(x), 3))
    for i in range(1, len(x)):
        for j in range(3):
            found[i, j] = x[i, j]
    return found


def mostly(x: np.ndarray) -> np.ndarray:
    found = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(3):
            if i != j:
                found[i, j] = x[i, j]
    return found


def up_to_one(x: np.ndarray) -> np.ndarray:
    found = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(3):
            found[i, j] = x[i, j]
        if x[i, 0] > 0.5:
            break
    return found


def read(x: np.ndarray) -> np.ndarray:
    found = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(3):
            found[i, j] = x[i, j] + found[i, j - 1]
    return found


def read_before(x: np.ndarray) -> np.ndarray:
    found = np.zeros((len(x), 3))
    first = found[1:].T
    for i in range(len(x)):
        for j in range(3):
            found[i, j] = x[i, j] * first[j, 0]
    return found


CASES = [(each, True), *((f, False) for f in (some, all_but_one, mostly, up_to_one, read, read_before))]


@pytest.mark.parametrize(("function", "is_overwritten"), CASES)
def test_zeros(function: Any, is_overwritten: bool) -> None:
    compiled = specialized_jvp(function, (X,), (np.cos(X),))
    changed = emit(without_overwritten_zeros(compiled.function))
    assert ("zeros" not in changed.text) == is_overwritten
    for one, other in zip(load(changed)(X, np.cos(X)), compiled.call(X, np.cos(X)), strict=True):
        np.testing.assert_array_equal(one, other)
