"""Products of which a loop reads row by row are computed by rows; others as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint.api.jvp_vjp import specialized_jvp
from adjoint.codegen.python import emit
from adjoint.differentiation.directions.simd import in_bundles
from adjoint.differentiation.directions.sparse_tangents import with_zeros_skipped
from adjoint.native.array_programs.elements_of_rows import with_elements_of_rows
from adjoint.native.array_programs.rows_of_products import with_rows_of_products
from native.machine_form import loops_of

X, WEIGHTS = np.linspace(0.2, 0.9, 3), np.cos(np.arange(15.0)).reshape(5, 3)


def frames_of(x: np.ndarray) -> np.ndarray:
    frames = np.zeros((3, 14))
    for i in range(3):
        for j in range(14):
            frames[i, j] = x[i] * x[i] * j
    return frames


def in_turn(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(len(weights)):
        found[v] = blended[v, 0]
        if weights[v, 0] > 0.0:
            found[v] = blended[v, 3]
    return found


def sometimes(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.zeros(len(weights))
    for v in range(len(weights)):
        if weights[v, 0] > 0.0:
            found[v] = blended[v, 3]
    return found


def wide(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(len(weights)):
        found[v] = blended[v, 13]
    return found


def twice(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(len(weights)):
        found[v] = blended[v, 1]
    for v in range(len(weights)):
        found[v] += blended[v, 2]
    return found


def last(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(-1, len(weights) - 1):
        found[v] = blended[v, 1]
    return found


def rewritten(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    weights = weights.copy()
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(len(weights)):
        weights[v, 0] = 0.5
        found[v] = blended[v, 1] * weights[v, 0]
    return found


CASES = [(in_turn, True), *((f, False) for f in (sometimes, wide, twice, last, rewritten))]


@pytest.mark.parametrize(("function", "is_by_rows"), CASES)
def test_rows(function: Any, is_by_rows: bool) -> None:
    compiled = specialized_jvp(function, (X, WEIGHTS), (np.cos(X), None))
    loops = with_elements_of_rows(loops_of(with_zeros_skipped(compiled.function, [2])))
    sweep = in_bundles(loops, [2], with_value=True)
    text = emit(with_rows_of_products(sweep)).text
    assert ("product_by_rows" in text) == is_by_rows
    assert ("product_of_moving_bundles" in text) != is_by_rows
