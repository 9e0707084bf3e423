"""Bins of elements in machine code: where edges lie at equal distances, a guess is tried first."""

import numpy as np
import pytest

from adjoint.runtime.array_functions import places
from native.own_code import own_code

POINTS = np.array([0.0, 1.0, 2.0, 3.0, np.nan, np.inf, -np.inf, 1.5, -0.5, 0.3, 2.9999999999999996])
EDGES = {
    "equal": np.linspace(-1.0, 3.0, 8),
    "unequal": np.array([0.0, 0.25, 1.0, 3.0]),
    "empty bin": np.array([0.0, 1.0, 1.0, 2.5]),
    "without end": np.array([-np.inf, 0.0, np.inf]),
    "one bin": np.array([0.0, 10.0]),
    "no width": np.array([1.0, 1.0]),
    "whole numbers": np.array([0, 2, 3]),
}


@own_code
def bins(a, edges):
    return places.bins_of(a, edges)


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)
def test_bins_are_those_of_numpy(edges):
    for mine, theirs in zip(bins(POINTS, edges), places.bins_of(POINTS, edges), strict=True):
        np.testing.assert_array_equal(mine, theirs)
