"""Loops over elements mean what array statements mean, whatever parts of arrays these read and write."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import clone
from native.fusion.random_statements import Statements
from sampling import THOROUGH


@pytest.mark.usefixtures("machine_form")
@pytest.mark.filterwarnings("ignore")
def test_random_statements() -> None:
    refused = 0
    programs = 300 if THOROUGH else 6
    for seed in range(programs):
        program = Statements(seed)
        function, args = program.function(), program.arguments()
        try:
            value, slopes = ad.value_and_grad(function, (0, 1))(*clone(args))
        except ad.DifferentiationError:
            refused += 1
            continue
        found, others = ad.value_and_grad(function, (0, 1), native=True)(*clone(args))
        np.testing.assert_allclose(found, value, rtol=1e-11, err_msg=f"program {seed}")
        for one, other in zip(others, slopes, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11, err_msg=f"program {seed}")
    assert 3 * refused <= programs
