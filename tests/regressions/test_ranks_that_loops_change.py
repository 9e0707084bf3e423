"""Arrays of which a loop changes the rank: nothing may be taken to keep the shape that it had before the loop."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from poison import inside
from sampling import check_grads


def trajectory(x, count):
    rows = np.array(x)
    for k in range(count):
        rows = np.vstack((rows, x * k))
    return np.sum(rows**3)


def best_of_trajectories(x, count):
    best, least = np.array([x]), 1e9
    for place in range(3):
        rows = np.array(x) * (place + 1)
        k = 0
        while k < count:
            rows = np.vstack((rows, x * k))
            k += 1
        if least >= rows[-1, 0]:
            best, least = rows, rows[-1, 0]
    return np.sum(best**3)


def extents_read_meanwhile(x, count):
    rows = np.array(x)
    total = 0.0
    for _ in range(count):
        extents = rows.shape
        total += np.sum(np.ones(extents[0]) * rows.T) * len(rows)
        rows = np.vstack((rows, x[:3]))
    return total + np.sum(np.zeros_like(rows) + rows)


@pytest.mark.parametrize("function", [trajectory, best_of_trajectories, extents_read_meanwhile])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.filterwarnings("ignore:.*AD0601")
def test_gradients_are_right(function, count):
    x = np.array([0.3, 0.7, 0.4])
    check_grads(lambda y: function(y, count), (x,))
    assert ad.grad(function, native=True)(x, count) == pytest.approx(ad.grad(function)(x, count), rel=1e-12)


@pytest.mark.parametrize("function", [trajectory, best_of_trajectories, extents_read_meanwhile])
def test_no_shape_is_claimed_that_is_not_there(function):
    for mode in ("vjp", "gradient", "hvp"):
        assert inside.check(function, (np.array([0.3, 0.7, 0.4]), 2), mode) in ("ok", "raised")
