"""Draws from distributions with a shape: derivatives of the quantile of the share that is below the number drawn."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

special = pytest.importorskip("scipy.special")
SEED = 3

DRAWS: list[Any] = [
    ("standard_gamma", (1.4,), special.gammainc, special.gammaincinv),
    ("beta", (0.8, 1.9), special.betainc, special.betaincinv),
    ("standard_t", (4.5,), special.stdtr, special.stdtrit),
    (
        "chisquare",
        (2.3,),
        lambda df, y: special.gammainc(df / 2, y / 2),
        lambda df, p: 2 * special.gammaincinv(df / 2, p),
    ),
]


@pytest.mark.parametrize(("name", "at", "share", "quantile"), DRAWS, ids=[draw[0] for draw in DRAWS])
def test_draws(name: str, at: tuple[float, ...], share: Callable[..., Any], quantile: Callable[..., Any]) -> None:
    drawn = getattr(np.random.default_rng(SEED), name)(*at, size=3)
    shares = share(*at, drawn)

    def f(*parameters: float) -> float:
        return np.sum(getattr(np.random.default_rng(SEED), name)(*parameters, size=3) ** 2)

    wrt = tuple(range(len(at)))
    value, gradient = ad.value_and_grad(f, wrt)(*at)
    assert value == pytest.approx(np.sum(drawn**2), rel=1e-13)
    for place, found in enumerate(gradient):
        ends = [np.sum(quantile(*moved(at, place, step), shares) ** 2) for step in (1e-5, -1e-5)]
        assert found == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5)
    tangent = ad.jvp(f, at, (1.0,) * len(at))[1]
    assert tangent == pytest.approx(sum(gradient), rel=1e-9)


def moved(at: tuple[float, ...], place: int, step: float) -> tuple[float, ...]:
    return tuple(x + step * (i == place) for i, x in enumerate(at))


def test_second_derivatives_and_scales() -> None:
    drawn = np.random.default_rng(SEED).standard_gamma(1.4)
    share = special.gammainc(1.4, drawn)

    def f(shape: float, scale: float) -> float:
        return np.random.default_rng(SEED).gamma(shape, scale) ** 2

    def quantile(shape: float) -> float:
        return (0.7 * special.gammaincinv(shape, share)) ** 2

    h = 1e-3
    differences = (quantile(1.4 + h) - 2 * quantile(1.4) + quantile(1.4 - h)) / h**2
    assert ad.hvp(f, (1.4, 0.7), (1.0, 0.0))[0] == pytest.approx(differences, rel=1e-4)
    assert ad.grad(f, wrt=1)(1.4, 0.7) == pytest.approx(2 * 0.7 * drawn**2)


@pytest.mark.parametrize(
    ("name", "said"), [("poisson", "do not vary smoothly"), ("wald", "transform numbers that do not depend on it")]
)
def test_others_are_refused(name: str, said: str) -> None:
    def f(x: float) -> float:
        rng = np.random.default_rng(SEED)
        drawn = rng.poisson(x) if name == "poisson" else rng.wald(x, 1.0)
        return drawn * x

    with pytest.raises(ad.DifferentiationError, match=said):
        ad.grad(f)(2.0)


@pytest.mark.parametrize("name", ["triangular", "vonmisesvariate", "gammavariate"])
def test_draws_of_python_follow_their_source(name: str) -> None:
    def f(x: float) -> float:
        random.seed(SEED)
        return getattr(random, name)(x, 5.0) * x

    right(f, 2.0)


def test_others_of_python_are_refused() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0201"):
        ad.grad(lambda x: random.betavariate(x, 5.0) * x)(2.0)
