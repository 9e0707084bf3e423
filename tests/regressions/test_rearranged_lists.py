"""Derivatives of random programs that rearrange their argument: forward, reverse and differences agree."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.tools.float_leaves import flatten, moved, tangent_of
from regressions.rearranged_lists import ITEMS, Rearranged, bag_of
from sampling import DAY, THOROUGH

SEEDS = range(150) if THOROUGH else [sum(map(ord, DAY)) * 2 + number for number in range(2)]


def _slopes(f: Any, items: Any, direction: np.ndarray) -> np.ndarray | None:
    """Differences; None where the program has no end there, or they do not agree among themselves."""

    def at(step: float) -> np.ndarray:
        return flatten(f(copy.deepcopy(moved(items, direction, step))))

    try:
        coarse, fine = ((at(h) - at(-h)) / (2 * h) for h in (1e-5, 1e-6))
    except (IndexError, OverflowError):
        return None
    if not np.isfinite(fine).all() or np.abs(fine).max() > 1e6:
        return None
    return fine if np.abs(coarse - fine).max() < 1e-5 * (1.0 + np.abs(fine).max()) else None


@pytest.mark.each_time
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("in_bag", [False, True], ids=["list", "bag"])
@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_and_reverse_agree_with_differences(seed: int, kind: str, in_bag: bool) -> None:
    f, rng = Rearranged(seed, kind, in_bag).function(), np.random.default_rng(seed)
    items = bag_of(kind, rng) if in_bag else ITEMS[kind](rng)
    direction = rng.normal(size=len(flatten(items)))
    slopes = _slopes(f, items, direction)
    if slopes is None:
        return
    _, tangent = ad.jvp(f, (copy.deepcopy(items),), (tangent_of(items, direction),))
    np.testing.assert_allclose(flatten(tangent), slopes, rtol=1e-4, atol=1e-4)
    value, pullback = ad.vjp(f, copy.deepcopy(items))
    weights = np.arange(1.0, len(slopes) + 1.0)
    for _ in range(2):
        gradient = flatten(pullback(tangent_of(value, weights))[0])
        np.testing.assert_allclose(gradient @ direction, weights @ slopes, rtol=1e-4, atol=1e-4)
