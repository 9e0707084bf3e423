"""Derivatives of gradients of methods that write their objects: random ones."""

import pytest

from regressions.random_objects import outcome
from sampling import THOROUGH

SEEDS = range(400) if THOROUGH else range(0, 400, 5)


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_gradients_of_random_methods(seed: int) -> None:
    assert outcome(seed) in ("right", "refused: AD0303")
