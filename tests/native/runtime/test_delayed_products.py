"""Delayed updates are what they delay, whatever part of a matrix they are for, and whatever lies outside of it."""

import numpy as np
import pytest

from adjoint.native.helpers import delayed_products
from adjoint.runtime.array_functions import delayed
from native.own_code import own_code


@pytest.fixture
def compiled():
    return own_code


def outer(matrix, us, vs, firsts, takes):
    kept, keeps, spans = delayed_products.room_for_outer(matrix)
    for k in range(us.shape[0]):
        i, j = firsts[k, 0], firsts[k, 1]
        part = matrix[i:, j:]
        delayed_products.add_outer(matrix, part, us[k, i:], vs[k, j:], takes, kept, keeps, spans)
    delayed_products.add_delayed(matrix, kept, keeps, spans)


def too_long(matrix, u, v):
    kept, keeps, spans = delayed_products.room_for_outer(matrix)
    delayed_products.add_outer(matrix, matrix[1:], u, v, False, kept, keeps, spans)
    delayed_products.add_delayed(matrix, kept, keeps, spans)


def of_rows(matrix, xs, ys, takes):
    kept, keeps, spans = delayed_products.room_for_outer(matrix)
    for k in range(xs.shape[0]):
        delayed_products.add_rows(matrix, matrix, xs[k], ys[k], takes, kept, keeps, spans)
    delayed_products.add_delayed(matrix, kept, keeps, spans)


def of_lines(matrix, factor, vs, firsts, takes):
    kept, spans = delayed_products.room_for_lines(matrix, factor)
    for k in range(vs.shape[0]):
        line = matrix[:, k % matrix.shape[1]] if matrix.shape[0] == factor.shape[0] else matrix[k % matrix.shape[0]]
        j = firsts[k]
        delayed_products.add_line(matrix, line, factor, factor[:, j:], vs[k, j:], takes, kept, spans)
    delayed_products.add_delayed_lines(matrix, factor, kept, spans)


def drawn(*shape, dtype=np.float64):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)


def by_columns(x):
    return np.asfortranarray(x)


def with_gaps(x):
    wide = np.zeros((2 * x.shape[0], 2 * x.shape[1]), x.dtype)
    wide[::2, ::2] = x
    return wide[::2, ::2]


def as_part(x):
    wide = np.zeros((x.shape[0] + 2, x.shape[1] + 3), x.dtype)
    wide[1:-1, 2:-1] = x
    return wide[1:-1, 2:-1]


LAYOUTS = [np.ascontiguousarray, by_columns, with_gaps, as_part]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("takes", [False, True])
def test_outer_products(compiled, dtype, layout, takes) -> None:
    f = compiled(outer)
    for n, m, count in ((40, 30, 200), (40, 30, 0), (3, 4, 9), (1, 50, 70), (30, 0, 5)):
        us, vs = drawn(count, n, dtype=dtype), drawn(count, m, dtype=dtype)
        for whole in (True, False):
            places = [(0, 0) if whole else (7 * k % n, 5 * k % max(m, 1)) for k in range(count)]
            firsts = np.array(places, int).reshape(-1, 2)
            found, expected = layout(drawn(n, m, dtype=dtype)), drawn(n, m, dtype=dtype)
            before = us.copy(), vs.copy()
            f(found, us, vs, firsts, takes)
            added_one_by_one(expected, us, vs, firsts, takes)
            np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype is np.float32 else 1e-12, atol=1e-3)
            assert np.array_equal(us, before[0]) and np.array_equal(vs, before[1])


def added_one_by_one(matrix, us, vs, firsts, takes) -> None:
    for u, v, (i, j) in zip(us, vs, firsts, strict=True):
        matrix[i:, j:] += (-1.0 if takes else 1.0) * np.outer(u[i:], v[j:])


def test_nothing_comes_from_the_rest_of_a_row(compiled) -> None:
    f = compiled(outer)
    us, vs = drawn(50, 40), drawn(50, 30)
    us[3, 12] = np.inf
    vs[5, 20] = np.nan
    firsts = np.array([(k % 40, k % 30) for k in range(50)])
    found, expected = np.zeros((40, 30)), np.zeros((40, 30))
    f(found, us, vs, firsts, False)
    added_one_by_one(expected, us, vs, firsts, False)
    assert 0 < np.isfinite(expected).sum() < expected.size
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("takes", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 3, 90])
def test_products_of_matrices(compiled, rows, takes) -> None:
    f = compiled(of_rows)
    xs, ys = drawn(20, rows, 40), drawn(20, rows, 30)
    found = np.ones((40, 30))
    f(found, xs, ys, takes)
    total = sum(x.T @ y for x, y in zip(xs, ys, strict=True))
    np.testing.assert_allclose(found, 1.0 - total if takes else 1.0 + total, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", [(40, 60), (60, 40), (2, 40), (40, 1)])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("takes", [False, True])
def test_lines(compiled, layout, shape, takes) -> None:
    f = compiled(of_lines)
    factor = drawn(40, 35)
    for firsts in (np.zeros(200, int), np.arange(200) % 35):
        vs = drawn(200, 35)
        found, expected = drawn(*shape), drawn(*shape)
        given = layout(factor)
        f(found, given, vs, firsts, takes)
        for k, (v, j) in enumerate(zip(vs, firsts, strict=True)):
            line = expected[:, k % shape[1]] if shape[0] == 40 else expected[k % shape[0]]
            line += (-1.0 if takes else 1.0) * (factor[:, j:] @ v[j:])
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
        assert np.array_equal(given, factor)


def test_no_line_comes_from_the_rest_of_a_matrix(compiled) -> None:
    f = compiled(of_lines)
    factor, vs = drawn(40, 35), drawn(60, 35)
    factor[7, 3] = np.inf
    firsts = np.array([0, *range(4, 34)] * 2)[:60]
    found, expected = np.zeros((40, 60)), np.zeros((40, 60))
    f(found, factor, vs[: len(firsts)], firsts, False)
    for k, j in enumerate(firsts):
        expected[:, k] = factor[:, j:] @ vs[k, j:]
    assert np.isinf(expected).any() and np.isfinite(expected[7, 1])
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_what_does_not_fit_is_refused_as_by_numpy(compiled) -> None:
    f = compiled(too_long)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.zeros((30, 30)), np.ones(30), np.ones(30))
    found = np.zeros((30, 30))
    f(found, np.ones(1), np.ones(30))  # one row stands for all
    assert found[1:].all() and not found[0].any()


def test_few_numbers_are_kept() -> None:
    for n, m in ((1000, 1000), (9, 400), (16, 16), (4, 4), (0, 7)):
        assert delayed.rows_to_keep(n, m) * (n + m) <= n * m
