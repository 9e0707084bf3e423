"""Cotangents of joined arrays are slices: no call is left that makes them."""

import numpy as np
import pytest

import adjoint as ad
from native import machine_form

pytest.importorskip("llvmlite")

RNG = np.random.default_rng(8)


def along_the_only_axis(x, y):
    return np.sum(np.concatenate([x * 2.0, y**2, x]) ** 3)


def flattened(x, y):
    return np.sum(np.concatenate([x * 2.0, y**2], axis=None) ** 3)


def along_the_last_axis(a, b):
    return np.sum(np.exp(np.concatenate([a, b * 2.0, a * a], axis=-1)))


def side_by_side(a, b):
    return np.sum(np.hstack([a, b, np.sin(a)]) ** 3)


def vectors_side_by_side(x, y):
    return np.sum(np.hstack([x, y, np.sin(x)]) ** 3)


def below_each_other(x, y):
    return np.sum(np.vstack([x, np.sin(x)]) ** 3) + np.sum(y)


def matrices_below_each_other(a, b):
    return np.sum(np.vstack([a.T, b.T]) ** 3)


def as_columns(x, y):
    return np.sum(np.column_stack([x, np.cos(x)]) ** 3) + np.sum(y)


def stacked_at_the_end(a, b):
    return np.sum(np.stack([a, np.cos(a), a], axis=2) ** 3) + np.sum(b)


VECTORS, MATRICES = (RNG.normal(size=4), RNG.normal(size=3)), (RNG.normal(size=(3, 2)), RNG.normal(size=(3, 4)))
PROGRAMS = {
    along_the_only_axis: VECTORS,
    along_the_last_axis: MATRICES,
    side_by_side: MATRICES,
    vectors_side_by_side: VECTORS,
    flattened: VECTORS,
    below_each_other: VECTORS,
    matrices_below_each_other: MATRICES,
    as_columns: VECTORS,
    stacked_at_the_end: MATRICES,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_they_are_slices(program, monkeypatch):
    machine_form.use(monkeypatch)
    args = PROGRAMS[program]
    gradient = ad.grad(program, (0, 1), native=True)
    for found, expected in zip(gradient(*args), ad.grad(program, (0, 1))(*args), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert "_part(" not in machine_form.machine_text(gradient, *args)
    directions = tuple(np.cos(arg) for arg in args)
    products = [ad.hvp(program, args, directions, native=native) for native in (True, False)]
    for found, expected in zip(*products, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("program", [side_by_side, stacked_at_the_end])
def test_compiled(program):
    args = PROGRAMS[program]
    for found, expected in zip(
        ad.grad(program, (0, 1), native="strict")(*args), ad.grad(program, (0, 1))(*args), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def of_several_kinds(x, n):
    """What is converted, and vectors beside matrices, are no slices."""
    whole = np.concatenate([x, n])
    table = np.vstack([x, np.outer(x, x)])
    return np.sum(whole * whole) + np.sum(table**2)


def test_parts_of_other_dtypes_and_ranks():
    x, n = RNG.normal(size=3).astype(np.float32), np.array([1.0, 2.0])
    for found, expected in zip(
        ad.grad(of_several_kinds, (0, 1), native=True)(x, n), ad.grad(of_several_kinds, (0, 1))(x, n), strict=True
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)
