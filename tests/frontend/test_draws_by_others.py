"""Draws that are made of other ones, with parameters that vary."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

KINDS = [np.random.default_rng, np.random.RandomState]


@pytest.mark.parametrize("kind", KINDS)
def test_draws_that_move_smoothly(kind: Any) -> None:
    def powers(x: float) -> Any:
        return kind(3).power(x) + np.sum(kind(4).power(np.array([x, 2.0 * x]), size=2))

    def triangles(x: float) -> Any:
        rng = kind(5)
        return rng.triangular(-x, 0.5 * x, 5.0) + np.sum(rng.triangular(0.0, x, 2.0 * x, size=(2, 3)))

    def vectors(x: float) -> Any:
        return np.sum(kind(6).multivariate_normal([x, x * x], np.eye(2), size=2))

    for f in (powers, triangles, vectors):
        check_grads(f, (1.7,))
        np.testing.assert_allclose(ad.value_and_grad(f)(1.7)[0], f(1.7), rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_by_gammas(kind: Any) -> None:
    def ratio(x: float) -> Any:
        rng = kind(3)
        return (rng.chisquare(x) / x) / (rng.chisquare(2.2) / 2.2)

    def shares(x: float) -> Any:
        parts = kind(4).standard_gamma(np.array([x, 2.0, 0.6]))
        return (parts / np.sum(parts))[0]

    for f, g in (
        (ratio, lambda x: kind(3).f(x, 2.2)),
        (ratio, lambda x: kind(3).f(x, 2.2, 3)[0]),
        (shares, lambda x: kind(4).dirichlet([x, 2.0, 0.6])[0]),
        (shares, lambda x: kind(4).dirichlet(np.array([x, 2.0, 0.6]), size=(2,))[0, 0]),
    ):
        np.testing.assert_allclose(ad.value_and_grad(g)(1.7), ad.value_and_grad(f)(1.7), rtol=1e-12)
        np.testing.assert_allclose(ad.value_and_grad(g)(1.7)[0], g(1.7), rtol=1e-14)
