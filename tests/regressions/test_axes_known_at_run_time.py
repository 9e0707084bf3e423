"""Axes that are known only when the program runs: which extents are one was taken from calls with the first axes."""

import numpy as np
import pytest

import adjoint as ad

X, W, STEP = np.random.default_rng(1).normal(size=(2, 4, 3)), np.random.default_rng(3).normal(size=(1, 4, 1)), 1e-6


def scaled(order, **options):
    def program(x):
        y = np.linalg.norm(x, order, **options)
        rows = y.reshape(-1)
        rows[:2] *= 5.0
        return (y * W).sum()

    return program


@pytest.mark.parametrize("order", ["nuc", 2, "fro"])
def test_norms_over_axes_from_a_table(order):
    program = scaled(order, axis=(2, 0), keepdims=True)
    expected = np.zeros_like(X)
    for place in np.ndindex(*X.shape):
        ahead, behind = X.copy(), X.copy()
        ahead[place] += STEP
        behind[place] -= STEP
        expected[place] = (program(ahead) - program(behind)) / (2 * STEP)
    np.testing.assert_allclose(ad.grad(program)(X), expected, atol=1e-7)
    np.testing.assert_allclose(ad.jvp(program, (X,), (np.ones_like(X),))[1], expected.sum(), atol=1e-6)
