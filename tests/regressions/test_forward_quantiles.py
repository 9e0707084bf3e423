"""Tangents of quantiles that are found by probabilities of either side: those of the upper half were zero."""

import numpy as np
import pytest
from scipy import stats

import adjoint as ad

CASES = {"genhyperbolic": (0.5, 1.5, -0.5), "gausshyper": (13.76, 3.12, 2.51, 5.18)}


@pytest.mark.parametrize("name", CASES)
def test_forward_mode_agrees_with_differences(name):
    quantile, shapes, step = getattr(stats, name).ppf, CASES[name], 1e-4
    shares = np.array([0.37, 0.71])

    def moved(p):
        return quantile(shares, p, *shapes[1:])

    expected = (moved(shapes[0] + step) - moved(shapes[0] - step)) / (2 * step)
    np.testing.assert_allclose(ad.jvp(moved, shapes[:1], (1.0,))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(ad.vjp(moved, shapes[0])[1](np.ones(2))[0], expected.sum(), rtol=1e-6)
