"""Derivatives by rows of an array, taken in a loop: what the loop works with is made once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(4, 3))
WHICH = np.array([2, 0, 2, 3, 1, 1])


def angle(row, scale):
    return math.sin(row[0] * row[1]) * scale, row[2] * row[2] + math.cos(row[0])


def jacobians(rows, which, scale):
    found = np.empty((len(which), 2, 4))
    for i in range(len(which)):
        _, pullback = ad.vjp(angle, rows[which[i]], scale)
        for k, cotangent in enumerate(((1.0, 0.0), (0.0, 1.0))):
            of_row, of_scale = pullback(cotangent)
            found[i, k, :3] = of_row
            found[i, k, 3] = of_scale
    return found


def length(row):
    total = 0.0
    for j in range(len(row)):
        total += row[j] ** 3
    return total


def gradients(rows, which):
    return [ad.grad(length)(rows[i]) for i in which]


def of_what_the_loop_makes(rows, which):
    found = 0.0
    for k in range(len(which)):
        scaled = np.empty((2, k + 1))
        for i in range(2):
            for j in range(k + 1):
                scaled[i, j] = rows[which[k], j % 3] * (i + 1)
        for i in range(2):
            found += np.sum(ad.grad(length)(scaled[i]))
    return found


def text_of(f: Any, *args: Any) -> str:
    text: str = ad.compile(f, native="strict").specialized(args, {}).call.emitted.text
    return text


def compare(f: Any, *args: Any) -> None:
    compiled, interpreted = ad.compile(f, native="strict")(*args), ad.compile(f, native=False)(*args)
    np.testing.assert_allclose(compiled, interpreted, rtol=1e-14)


def test_what_is_like_a_row_is_made_before_the_loop() -> None:
    before, inside = text_of(jacobians, ROWS, WHICH, 2.0).split("    for i in range", 1)
    assert before.count("np.empty(") == 3  # the result, and a gradient for each cotangent
    assert not any(maker in inside for maker in ("empty", "zeros"))


@pytest.mark.parametrize("which", [WHICH, WHICH[:1], WHICH[:0], np.array([-1, 0])])
@pytest.mark.parametrize("rows", [ROWS, ROWS[::2, ::-1][[0, 1, 0, 1]], np.asfortranarray(ROWS)])
def test_rows_of_any_array(rows: Any, which: Any) -> None:
    compare(jacobians, rows, which, 2.0)


def test_rows_of_single_precision_have_gradients_of_it() -> None:
    rows = ROWS.astype(np.float32)
    found = ad.compile(gradients, native="strict")(rows, WHICH)
    assert {part.dtype for part in found} == {np.dtype(np.float32)}
    np.testing.assert_allclose(found, 3.0 * rows[WHICH] ** 2, rtol=1e-6)


def test_gradients_that_are_kept_are_apart() -> None:
    found = ad.compile(gradients, native="strict")(ROWS, WHICH)
    assert not any(np.shares_memory(one, other) for i, one in enumerate(found) for other in found[:i])
    np.testing.assert_allclose(found, 3.0 * ROWS[WHICH] ** 2, rtol=1e-14)


def test_rows_of_what_each_iteration_makes_have_its_size() -> None:
    compare(of_what_the_loop_makes, ROWS, WHICH)


def into_parts(out, rows, first, last):
    for i in range(len(rows)):
        out[i, first:last] = rows[i]
        out[i, first:] += rows[i, :1]
        out[i, first:last] -= 2.0 * rows[0]
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bounds", [(1, 4), (0, 3), (-4, -1), (2, 9)])
def test_vectors_are_stored_in_parts_of_rows(dtype: Any, bounds: Any) -> None:
    out, rows = np.ones((4, 5), dtype), ROWS.astype(dtype)
    found = ad.compile(into_parts, native="strict")(out.copy(), rows, *bounds)
    np.testing.assert_allclose(found, into_parts(out.copy(), rows, *bounds), rtol=1e-6)
    assert "rt.put" not in text_of(into_parts, out, rows, *bounds)


def test_a_vector_of_one_element_fills_a_part_and_others_must_fit() -> None:
    def put(out, x, n, m):
        for i in range(len(out)):
            out[i, n:] = x[:m]
        return out

    compiled = ad.compile(put, native="strict")
    for n in range(5):
        for m in range(5):
            args = np.zeros((2, 4)), np.arange(1.0, 5.0), n, m
            try:
                expected = put(args[0].copy(), *args[1:])
            except ValueError:
                with pytest.raises(ValueError, match="broadcast"):
                    compiled(*args)
            else:
                np.testing.assert_array_equal(compiled(*args), expected)


def test_a_part_is_stored_in_another_of_the_same_memory_as_numpy_does() -> None:
    def shift(x, n):
        for i in range(len(x)):
            x[i, n:] = x[i, : 5 - n]
        return x

    x = np.arange(10.0).reshape(2, 5)
    for n in (1, 2):
        found = ad.compile(shift, native="strict")(x.copy(), n)
        np.testing.assert_array_equal(found, shift(x.copy(), n))
