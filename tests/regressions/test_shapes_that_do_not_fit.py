"""Shapes that do not fit raise what NumPy raises, also in a gradient that does not need the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad

W = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.dot(x, W),
        lambda x: np.dot(x, [1, 2]),
        lambda x: x @ W,
        lambda x: np.inner(x, W),
        lambda x: np.vdot(x, W),
        lambda x: np.sum(x * W),
        lambda x: np.matmul(x, W),
    ],
)
@pytest.mark.parametrize("native", [False, True])
def test_gradients(program: Any, native: bool) -> None:
    gradient = ad.grad(program, native=native)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"shape|broadcast|core dim|dimension"):
            gradient(np.ones(3))
    np.testing.assert_array_equal(gradient(np.ones(2)), W)


def test_of_another_argument() -> None:
    gradient = ad.grad(lambda a, b: np.dot(a, b), 1)
    with pytest.raises(ValueError, match="shapes"):
        gradient(np.ones(3), np.ones(2))
    np.testing.assert_array_equal(gradient(W, np.ones(2)), W)
