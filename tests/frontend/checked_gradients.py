"""A gradient that is asked for in all ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.testing import check_grads


def checked_gradient(function: Callable[[Any], Any], given: np.ndarray) -> np.ndarray:
    """The gradient of a function: as differences have it to second order, twice the same, and in machine code."""
    x = given.copy()
    check_grads(function, (x,), wrt=0, order=2)
    gradient: np.ndarray = ad.grad(function)(x)
    np.testing.assert_array_equal(x, given)
    np.testing.assert_array_equal(ad.grad(function)(x), gradient)
    np.testing.assert_allclose(ad.grad(function, native=True)(x), gradient, rtol=1e-12)
    return gradient
