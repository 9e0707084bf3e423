"""Random nests of loops give by machine code what they give as Python: values, gradients, and what is written."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adjoint as ad
from native.loops.nests import Nest
from sampling import DAY, THOROUGH

SEEDS = range(300) if THOROUGH else [sum(map(ord, DAY)) * 4 + number for number in range(4)]


def check(seed: int) -> None:
    """Compares both forms of the derivative of one nest."""
    function = Nest(seed).function()
    rng = np.random.default_rng(seed)
    compiled = ad.value_and_grad(function, wrt=(0, 1, 2), native=True)
    interpreted = ad.value_and_grad(function, wrt=(0, 1, 2))
    for n, k in ((6, 2), (1, 0), (4, 7)):
        x, w, m = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(n, n))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value, gradients = interpreted(x, w, m, k)
            except IndexError:
                continue
            found, others = compiled(x, w, m, k)
        assert found == pytest.approx(value, rel=1e-11, abs=1e-13)
        for one, other in zip(others, gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11 * (1.0 + np.max(np.abs(other))))


@pytest.mark.each_time
@pytest.mark.parametrize("seed", SEEDS)
def test_machine_code_and_python_agree(seed: int) -> None:
    check(seed)
