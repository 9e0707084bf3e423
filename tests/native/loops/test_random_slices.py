"""Derivatives of random loops over parts of vectors, beside differences: as Python, by machine code, and of shapes.

Vectors of one and of two elements have windows of none: an extent that an analysis takes for another one, or for one
that broadcasts, shows there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import adjoint as ad
from native.loops.slices import Slices
from poison import inside
from sampling import DAY, THOROUGH

LENGTHS = (6, 3, 2, 1)
SEEDS = range(200) if THOROUGH else [sum(map(ord, DAY)) * 2 + number for number in range(2)]


def _slope(
    f: Callable[..., float], x: np.ndarray, w: np.ndarray, n: int, directions: Sequence[np.ndarray]
) -> float | None:
    """A directional derivative by differences, None where those do not agree among themselves."""
    ends = [[f(x + s * h * directions[0], w + s * h * directions[1], n) for s in (1, -1)] for h in (1e-4, 1e-5)]
    coarse, fine = ((right - left) / (2 * h) for (right, left), h in zip(ends, (1e-4, 1e-5), strict=True))
    return fine if np.isfinite(fine) and abs(coarse - fine) < 1e-4 * (1 + abs(fine)) else None


@pytest.mark.each_time
@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_of_loops_over_slices(seed: int) -> None:
    f = Slices(seed).function()
    rng = np.random.default_rng(seed)
    for n in LENGTHS:
        x, w, *directions = rng.uniform(0.2, 1.0, n), rng.uniform(0.2, 1.0, n), rng.normal(size=n), rng.normal(size=n)
        try:
            slope = _slope(f, x, w, n, directions)
        except (IndexError, ValueError):  # windows of such short vectors may not fit
            continue
        if slope is None or abs(slope) > 1e6:
            continue
        with inside.interpreted():  # which also compares the shapes that analyses claim with those that arrays have
            claimed = ad.grad(f, (0, 1))(x, w, n)
        for found in (claimed, ad.grad(f, (0, 1), native=True)(x, w, n)):
            assert found[0] @ directions[0] + found[1] @ directions[1] == pytest.approx(slope, rel=2e-5, abs=2e-5)
