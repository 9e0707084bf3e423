"""What libraries have in machine code: Cython's functions have no name of a module in their class, Qhull counts in
integers of four bytes, and what compiled code holds of an object was taken for names in ``__slots__`` that nothing
was assigned to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, signal, spatial

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


class Scaled(spatial.KDTree):
    def __init__(self, data, scale):
        super().__init__(data)
        self.scale = scale

    def spread(self, x):
        return self.scale * x * self.n * self.maxes[1]


TREE = Scaled(CORNERS, 3.0)


def of_the_tree(x):
    return TREE.spread(x) if TREE.boxsize is None else x


def of_the_written_tree(x):
    TREE.scale = x
    return TREE.spread(x)


def of_trees(x):
    return sum(tree.spread(x) for tree in [TREE] * 3)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("function", [of_the_tree, of_the_written_tree, of_trees])
def test_held_in_machine_code(function: Callable[[Any], Any], native: bool) -> None:
    TREE.scale = 3.0
    step = 1e-6
    slope = (function(1.5 + step) - function(1.5 - step)) / (2.0 * step)
    TREE.scale = 3.0
    for _ in range(2):
        assert ad.grad(function, native=native)(1.5) == pytest.approx(slope, rel=1e-8)
        assert ad.jvp(function, (1.5,), (1.0,))[1] == pytest.approx(slope, rel=1e-8)
