"""The pullback of the Cholesky factorisation by blocks is that by substitution, and right to second order."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.array_functions.cholesky import by_blocks, cholesky_pullback, of_block


def definite(n):
    a = np.random.default_rng(n).normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 200])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2]])
def test_blocks_give_what_substitution_gives(n, layout):
    factor, ct = layout(np.linalg.cholesky(definite(n))), layout(np.random.default_rng(0).normal(size=(n, n)))
    given = factor.copy(), ct.copy()
    np.testing.assert_allclose(by_blocks(ct, factor), of_block(ct, factor), rtol=1e-10, atol=1e-13)
    assert np.array_equal(factor, given[0]) and np.array_equal(ct, given[1])


def test_diagonal_cotangents_scale_columns():
    factor = np.linalg.cholesky(definite(6))
    for ct in (np.diag(np.arange(6.0)), np.diag(np.arange(1.0, 7.0)), np.zeros((6, 6))):
        np.testing.assert_allclose(of_block(ct, factor), of_block(ct + 1e-300, factor), rtol=1e-12, atol=1e-15)


def test_small_numbers_complex_ones_and_stacks_are_substituted():
    single = np.linalg.cholesky(definite(230)).astype(np.float32)
    assert cholesky_pullback(np.ones_like(single), single).dtype == np.float32
    stack = np.linalg.cholesky(np.stack([definite(230), 2 * definite(230)]))
    found = cholesky_pullback(np.ones_like(stack), stack)
    np.testing.assert_allclose(found[1], by_blocks(np.ones((230, 230)), stack[1]), rtol=1e-9, atol=1e-12)


def roots(a):
    return np.sum(np.sin(np.linalg.cholesky(a)))


def roots_above(a):
    return np.sum(np.sin(np.linalg.cholesky(a, upper=True)))


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("f", [roots, roots_above])
@pytest.mark.parametrize("n", [5, 230])
def test_derivatives_to_second_order(f, n, native):
    a, v = definite(n), definite(n + 1)[1:, 1:]
    gradient = ad.grad(f, native=native)
    before = a.copy()
    g, h = gradient(a), 1e-6
    assert np.array_equal(a, before) and np.array_equal(gradient(a), g)
    _, along = ad.jvp(f, (a,), (v,))
    np.testing.assert_allclose(along, np.sum(g * v), rtol=1e-10)
    np.testing.assert_allclose(along, (f(a + h * v) - f(a - h * v)) / (2 * h), rtol=1e-6)
    (product,) = ad.hvp(f, (a,), (v,), native=native)
    np.testing.assert_allclose(product, (gradient(a + h * v) - gradient(a - h * v)) / (2 * h), rtol=1e-4, atol=1e-6)
    again = ad.grad(lambda x: np.sum(ad.grad(f)(x) * v))
    np.testing.assert_allclose(again(a), product, rtol=1e-8, atol=1e-10)
