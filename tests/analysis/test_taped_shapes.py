"""Shapes that differ from turn to turn: a loop of the reverse sweep knows those of its turn, and tapes hold none."""

import numpy as np
import pytest

import adjoint as ad
from poison import inside
from sampling import check_grads

rng = np.random.default_rng(8)
X, A = rng.uniform(0.5, 1.5, 7), rng.uniform(0.5, 1.5, (6, 6)) + 4.0 * np.eye(6)


def prefixes(x):
    y = x.copy()
    for k in range(1, len(x)):
        y[:k] += y[k] * np.flip(x[:k])
    return np.sum(y)


def columns(a):
    low = np.zeros((len(a), len(a)))
    for j in range(len(a)):
        low[j, j] = np.sqrt(a[j, j])
        low[j + 1 :, j] = (a[j + 1 :, j] - low[j + 1 :, :j] @ low[j, :j]) / low[j, j]
    return np.sum(low)


def descending(a, x):
    y = x[:6].copy()
    for i in range(len(y) - 1, -1, -1):
        y[i:] -= y[i] * a[i, i:]
    return np.sum(y)


def nested(a):
    b = a.copy()
    for i in range(len(b)):
        for j in range(i):
            b[i, j:] = b[i, j:] * np.sin(b[j, j] * a[i, j:])
    return np.sum(b)


def by_rows_and_columns(a):
    b = a.copy()
    for i in range(1, len(b)):
        b[i:, i:] -= np.outer(b[i:, i - 1] / b[i - 1, i - 1], b[i - 1, i:])
    return np.sum(b)


def twice(x):
    """Two loops of one range, whose parts differ: the sweep of each is that of its own turns."""
    y = x.copy()
    for k in range(1, len(x)):
        y[:k] += y[k] * x[:k]
    for k in range(1, len(x)):
        y[k:] += y[0] * x[k:] * y[k:]
    return np.sum(y)


def narrow(x, w):
    """What is added is wide in one turn and of length one in the others."""
    y = x.copy()
    for k in range(1, len(x)):
        y[:k] += y[k] * w[: k % 2 + (1 - k % 2) * k]
    return np.sum(y * y)


def left_early(x):
    y = x.copy()
    for k in range(1, len(x)):
        y[:k] += y[k] * x[:k]
        if np.sum(y) > 20.0:
            break
    return np.sum(y * y)


def sometimes(x, w):
    y = x.copy()
    for k in range(1, len(x)):
        if x[k] > 1.0:
            y[:k] += y[k] * w[:1]
        else:
            y[:k] += y[k] * w[:k]
    return np.sum(y * y)


def beyond(x, n):
    """Slices end where the array does."""
    total = 0.0
    for k in range(n):
        total += np.sum(np.sin(x[k:]) * np.sum(x[:k]) + x[k : k + 1])
    return total


def within_a_loop(x, n):
    """The tapes of the inner loop are filled anew in each turn of the outer one."""
    y = x.copy()
    for m in range(n):
        for k in range(m + 1):
            y[k:] = y[k:] * np.cos(y[k] * x[k:])
    return np.sum(y)


SHAPELESS = [
    (prefixes, (X,)),
    (columns, (A,)),
    (descending, (A, X)),
    (nested, (A,)),
    (by_rows_and_columns, (A,)),
    (twice, (X,)),
]
OTHERS = [(narrow, (X, X)), (left_early, (X,)), (sometimes, (X, X)), (beyond, (X, 9)), (within_a_loop, (X, 4))]


@pytest.mark.parametrize(("f", "args"), SHAPELESS + OTHERS, ids=[f.__name__ for f, _ in SHAPELESS + OTHERS])
def test_derivatives(f, args):
    check_grads(f, args)
    every = tuple(place for place, arg in enumerate(args) if isinstance(arg, np.ndarray))
    gradient, native = ad.grad(f, every)(*args), ad.grad(f, every, native="strict")(*args)
    for mine, other in zip(gradient, native, strict=True):
        np.testing.assert_allclose(other, mine, rtol=1e-9)


@pytest.mark.parametrize(("f", "args"), SHAPELESS, ids=[f.__name__ for f, _ in SHAPELESS])
def test_no_tape_holds_shapes(f, args):
    text = ad.source(ad.grad(f), *args)
    assert "shape_only" not in text
    assert "_bar" in text


@pytest.mark.parametrize(("f", "args"), OTHERS[:3], ids=[f.__name__ for f, _ in OTHERS[:3]])
def test_what_follows_from_no_range_is_kept(f, args):
    assert "rt.unbroadcast(" in ad.source(ad.grad(f), *args)


@pytest.mark.parametrize(("f", "args"), SHAPELESS + OTHERS, ids=[f.__name__ for f, _ in SHAPELESS + OTHERS])
def test_arrays_have_the_shapes_that_are_claimed(f, args):
    every = tuple(place for place, arg in enumerate(args) if isinstance(arg, np.ndarray))
    with inside.interpreted():
        gradient = ad.grad(f, every)(*args)
    for mine, other in zip(gradient, ad.grad(f, every)(*args), strict=True):
        np.testing.assert_array_equal(mine, other)
