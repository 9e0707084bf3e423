"""Delayed rank-one updates come to what they come to one by one."""

import numpy as np
import pytest

from adjoint.runtime.array_functions.delayed_updates import (
    DelayedUpdates,
    apply_updates,
    delay_downdate,
    delay_update,
    delayed_updates,
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5, 3), (1, 1), (0, 4), (200, 3), (90, 110)])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
def test_as_one_by_one(dtype, shape, count):
    rng = np.random.default_rng(0)
    start = rng.normal(size=shape).astype(dtype)
    matrix, expected = start.copy(), start.astype(float)
    updates = delayed_updates(matrix)
    for k in range(count):
        u, v = (rng.normal(size=n).astype(dtype) for n in shape)
        (delay_downdate if k % 3 == 0 else delay_update)(updates, u, v)
        expected += np.outer(u, v) * (-1.0 if k % 3 == 0 else 1.0)
        u[...], v[...] = np.nan, np.nan  # they are copied
    apply_updates(updates, matrix)
    np.testing.assert_allclose(matrix, expected, rtol=1e-12 if dtype is np.float64 else 1e-3, atol=1e-4)
    after = matrix.copy()
    apply_updates(updates, matrix)
    assert np.array_equal(matrix, after)


def test_memory_is_bounded():
    updates = DelayedUpdates(np.zeros((100_000, 2)))
    assert updates.us is None or updates.us.size + updates.vs.size <= 2 * updates.matrix.size
    assert len(DelayedUpdates(np.zeros((300, 400))).us) == 64


@pytest.mark.parametrize(("n", "m"), [(4, 3), (3, 4), (1, 3), (3, 1)])
def test_factors_of_other_lengths_are_numpys(n, m):
    def outcome(add):
        matrix = np.zeros((3, 3))
        try:
            add(matrix)
        except ValueError as problem:
            return str(problem)
        return matrix.tolist()

    def at_once(matrix):
        matrix += np.outer(np.ones(n), np.ones(m))

    def delayed(matrix):
        updates = delayed_updates(matrix)
        delay_update(updates, np.ones(n), np.ones(m))
        apply_updates(updates, matrix)

    assert outcome(at_once) == outcome(delayed)


def test_zeros_hide_nothing():
    matrix = np.zeros((2, 3))
    updates = delayed_updates(matrix)
    delay_update(updates, np.array([0.0, 1.0]), np.array([np.inf, np.nan, 0.0]))
    with np.errstate(invalid="ignore"):
        apply_updates(updates, matrix)
    np.testing.assert_array_equal(matrix, [[np.nan, np.nan, 0.0], [np.inf, np.nan, 0.0]])
