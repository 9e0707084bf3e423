"""Products of parts of arrays, which BLAS is told where they lie, give what NumPy gives."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

WIDE = np.random.default_rng(0).normal(size=(9, 12))


def correlations(x):
    total = 0.0
    for i in range(x.shape[1] - 1):
        total += np.sum(np.sin(x[:, i] @ x[:, i + 1 :]))
    return total


def stacked(x):
    return np.sum(np.sin(np.reshape(x, (3, 3, 3, 4)) @ x[:4, 1:3]) ** 2)


@pytest.mark.parametrize("f", [correlations, stacked])
def test_gradients(f) -> None:
    np.testing.assert_allclose(ad.grad(f, native=True)(WIDE), ad.grad(f, native=False)(WIDE), rtol=1e-12)
    check_grads(f, (WIDE,))
