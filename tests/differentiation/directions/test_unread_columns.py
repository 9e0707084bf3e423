"""Columns of products that nobody reads are left out, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint.api.jvp_vjp import specialized_jvp
from adjoint.codegen.python import emit, load
from adjoint.differentiation.directions.sparse_tangents import with_zeros_skipped
from adjoint.differentiation.directions.unread_columns import with_narrow_products


def frames_of(x: np.ndarray) -> np.ndarray:
    """A matrix with a column that matters for nothing here."""
    frames = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            frames[i, j] = np.sin(x[i] * j)
    return frames


def elements(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(len(weights)):
        row = blended[v]
        found[v] = row[0] * row[2] + blended[v, 1]
    return found


def rows(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(len(weights)):
        row = blended[v]
        found[v] = row[0] + np.sum(row)
    return found


def last(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    blended = weights @ frames_of(x)
    found = np.empty(len(weights))
    for v in range(len(weights)):
        found[v] = blended[v][0] * blended[v][-1]
    return found


def whole(x: np.ndarray, weights: np.ndarray) -> Any:
    blended = weights @ frames_of(x)
    return blended[0][1] * blended


@pytest.mark.parametrize(("function", "narrows"), [(elements, True), (rows, False), (last, False), (whole, False)])
def test_columns(function: Any, narrows: bool) -> None:
    x, weights = np.linspace(0.2, 0.9, 3), np.cos(np.arange(15.0)).reshape(5, 3)
    compiled = specialized_jvp(function, (x, weights), (np.cos(x), None))
    function = with_zeros_skipped(compiled.function, [2])
    narrow = emit(with_narrow_products(function))
    assert (narrow.text != emit(function).text) == narrows
    assert ("[:, :3]" in narrow.text) == narrows
    for one, other in zip(
        load(narrow)(x, weights, np.cos(x), None), compiled.call(x, weights, np.cos(x), None), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-14)
