"""Products of matrices with what moves in several directions: tiles of all sizes, skipped zeros, rows on demand."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.native.helpers.bundled_products import COLUMNS, ROWS


def both_sides(x, left, right):
    return np.tanh(left @ np.sin(x)), (right @ np.cos(x.T)).T, (np.sin(x) * x) @ right


def drawn(*shape):
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, size=shape)


def columns_of(function, args, native, directions=None):
    directions = np.eye(args[0].size)[:6] if directions is None else directions
    ways = [(way.reshape(args[0].shape), *[None] * (len(args) - 1)) for way in directions]
    return ad.jvps(function, args, ways, native=native)


def same(found, expected):
    if isinstance(expected, (tuple, list)):
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_tiles(own):
    for rows in (1, ROWS - 1, ROWS + 1, 70):
        for columns in (1, COLUMNS, COLUMNS + 3):
            args = drawn(columns, columns), drawn(rows, columns), drawn(columns, columns)
            same(columns_of(both_sides, args, "strict"), columns_of(both_sides, args, False))
    assert own


def test_zeros_are_skipped_unless_something_is_infinite(own):
    def placed(x, left):
        frames = np.zeros((90, 6))
        for i in range(len(x)):
            frames[13 * i % 90, i % 6] = np.sin(x[i])
        return left @ frames

    left = drawn(7, 90)
    for number in (1.0, np.inf):
        left[2, 5] = number
        with np.errstate(all="ignore"):
            found, expected = (columns_of(placed, (drawn(9), left), native) for native in ("strict", False))
        same(found, expected)
        assert np.isnan(found[1]).any() == np.isinf(number)
    assert own


def test_shapes_that_do_not_fit():
    args = drawn(4, 4), drawn(3, 5), drawn(4, 4)
    for native in ("strict", False):
        with pytest.raises(ValueError, match="mismatch"):
            columns_of(both_sides, args, native)


@pytest.mark.parametrize("moving", [3, 70], ids=["few", "many"])
def test_rows_on_demand(moving, own):
    def in_turn(x, weights):
        frames = np.zeros((80, 5))
        for i in range(80):
            for j in range(5):
                frames[i, j] = x[i] * x[i] * j if i < moving else 1.0
        blended = weights @ frames
        found = np.empty(len(weights))
        for v in range(len(weights)):
            found[v] = blended[v, 0] + blended[v, 2] * blended[v, 3]
        return found

    args, directions = (drawn(moving), drawn(11, 80)), drawn(5, moving)
    found, expected = (columns_of(in_turn, args, native, directions) for native in ("strict", False))
    same(found, expected)
    assert own
