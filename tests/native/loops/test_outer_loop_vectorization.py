"""Iterations that are a bundle give what they give one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import clone
from native.loops.chains import Chains
from native.machine_form import machine_text
from sampling import THOROUGH

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


WRT = (0, 1, 2, 3)


def run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, str]:
    """The value and the gradient of a program in the form for machine code, and the text of what computes them."""
    derivative = ad.value_and_grad(function, WRT, native=True)
    return derivative(*clone(arguments)), machine_text(derivative, *arguments)


@pytest.mark.usefixtures("machine_form")
def test_random_programs() -> None:
    programs = [(program.function(), program.arguments()) for program in map(Chains, range(40 if THOROUGH else 16))]
    expected = [ad.value_and_grad(function, WRT)(*clone(arguments)) for function, arguments in programs]
    in_bundles = 0
    for seed, ((function, arguments), (value, gradient)) in enumerate(zip(programs, expected, strict=True)):
        (found, changes), text = run(function, arguments)
        in_bundles += "rt.bundle" in text
        np.testing.assert_allclose(found, value, rtol=1e-11, err_msg=f"program {seed}")
        for one, other in zip(changes, gradient, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=f"program {seed}")
    assert 40 * in_bundles > 15 * len(programs)
