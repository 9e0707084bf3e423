"""Compiled functions and integers of libraries in machine code: Cython's functions have no name of a module in their
class, and Qhull counts in integers of four bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, signal

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

X = np.cos(np.arange(20.0) ** 1.3)
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.1]])


def resampled(x):
    return np.sum(signal.resample_poly(x, 3, 2) ** 2)


def between_corners(x):
    return np.sum(interpolate.LinearNDInterpolator(CORNERS, x[:4])(0.3, 0.2) ** 2)


@pytest.mark.parametrize("function", [resampled, between_corners])
def test_in_machine_code(function: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(ad.grad(function, native=True)(X), ad.grad(function)(X), rtol=1e-12)
