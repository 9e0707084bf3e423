"""Functions that become helpers, or calls of LAPACK: derivatives are those of the interpreter, also at the edges."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

WEIGHTS = np.cos(np.arange(6.0)) + 0.2


def drawn(*shape):
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, size=shape)


def symmetric():
    a = drawn(4, 4)
    return a + a.T + np.diag(np.arange(4.0))


def in_order(x):
    return np.sum(np.sort(x) ** 2 * WEIGHTS) + np.sum(x[np.argsort(x)] * WEIGHTS)


def lines_in_order(a):
    return np.sum(np.sort(a, axis=0) ** 3 * a) + np.sum(np.sort(a, axis=1) * a)


def running(a):
    return np.sum(np.cumsum(a, axis=1) ** 2) + np.sum(np.cumsum(a, axis=0) * a) + np.sum(np.cumsum(a[0], axis=-1) ** 2)


def running_products(x):
    return np.sum(np.cumprod(x) * WEIGHTS) + np.prod(x) ** 2


def joined(x, y):
    return np.sum(np.concatenate([x, y * x, y]) ** 2) + np.sum(np.stack([x, y], axis=1) @ y[:2])


def joined_rows(a):
    return np.sum(np.concatenate([a, a[:1] ** 2]) ** 2) + np.sum(np.concatenate([a, 2.0 * a], axis=1) ** 3)


def diagonals(a):
    return np.trace(a @ a) + np.sum(np.diag(a) ** 2) + np.sum(np.tril(a) ** 2) + np.sum(np.triu(a, 1) ** 3)


def lengths(x):
    return np.linalg.norm(x) + np.linalg.norm(x * x)


def turned(x):
    return np.sum(np.flip(x) ** 2 * WEIGHTS)


def determinants(a):
    return np.linalg.det(a) ** 2


def eigenvalues(a):
    return np.sum(np.linalg.eigvalsh(a) ** 3)


def eigenvectors(a):
    values, vectors = np.linalg.eigh(a)
    return np.sum(values**3) + np.sum((vectors * vectors) @ values)


def singular_values(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(s**3) + np.sum(u * u * s) + np.sum((vh * vh).T @ s)


SINGULAR = np.outer(np.arange(1.0, 5.0), np.arange(2.0, 6.0)) + np.diag([1.0, 1.0, 0.0, 0.0])
PROGRAMS = [
    (in_order, drawn(6)), (in_order, np.array([2.0, 1.0, 2.0, -0.5, 1.0, 7.0])),
    (lines_in_order, drawn(4, 5)), (running, drawn(3, 4)), (running, drawn(1, 1)),
    (running_products, drawn(6)), (running_products, np.array([1.0, 0.0, 2.0, 3.0, 0.0, 1.0])),
    (joined, drawn(4), drawn(4)), (joined_rows, drawn(3, 2)), (diagonals, drawn(4, 4)), (lengths, drawn(5)),
    (turned, drawn(6)), (determinants, drawn(4, 4)), (determinants, SINGULAR[:3, :3].copy()),
    (eigenvalues, symmetric()), (eigenvectors, symmetric()), (singular_values, drawn(5, 3)),
    (singular_values, drawn(3, 5)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args"), [(f, args) for f, *args in PROGRAMS], ids=lambda p: getattr(p, "__name__", "")
)
def test_derivatives_are_those_of_the_interpreter(function, args, own):
    wrt = tuple(range(len(args)))
    found = ad.value_and_grad(function, wrt, native="strict")(*args)
    expected = ad.value_and_grad(function, wrt)(*args)
    assert own
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
        assert (one.dtype, one.flags.c_contiguous) == (other.dtype, other.flags.c_contiguous)


def test_what_is_no_number_comes_last(own):
    order = ad.compile(lambda x: np.sort(x), native="strict")
    for x in (
        np.array([3.0, np.nan, -np.inf, np.inf, np.nan, 0.0]),
        np.array([1.0]),
        np.zeros(0),
        np.arange(70.0)[::-1],
    ):
        np.testing.assert_array_equal(order(x), np.sort(x))
    assert own


def beside(a, b):
    return np.sum(np.concatenate([a, b]))


@pytest.mark.parametrize(
    ("function", "args"),
    [(beside, (drawn(3, 2), drawn(3, 3))), (determinants, (drawn(3, 4),)), (eigenvalues, (drawn(2, 3),))],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_shapes_that_do_not_fit(function, args):
    for native in ("strict", False):
        with pytest.raises((ValueError, np.linalg.LinAlgError)):
            ad.grad(function, native=native)(*args)


@pytest.mark.parametrize("function", [singular_values, eigenvectors], ids=lambda part: part.__name__)
def test_what_does_not_converge_is_refused(function, own):
    bad = np.full((3, 3), np.nan)
    derivative = ad.grad(function, native="strict")
    with pytest.raises(np.linalg.LinAlgError):
        derivative(bad)
    np.testing.assert_allclose(derivative(symmetric()), ad.grad(function)(symmetric()), rtol=1e-9, atol=1e-10)
    assert own
