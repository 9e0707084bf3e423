"""What is a number on one path and an array on another: writes through views of it were lost without a word."""

from __future__ import annotations

import json

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([0.1, 0.9, 1.9])
W = np.arange(9.0).reshape(3, 3)


def one(x):
    z = np.outer(x, x)
    if len(z) > 1:
        return z
    return z[0, 0]


def two_views(y):
    return y.T.T


def view_in_a_recursion(y, n):
    if n == 0:
        np.ravel(y)[:2] *= 5.0
        return 1.0
    return view_in_a_recursion(y, n - 1)


WRITERS = {
    "ravel": lambda y, x: np.ravel(y),
    "transposed": lambda y, x: y.T,
    "twice": lambda y, x: two_views(y),
    "the same": lambda y, x: np.asarray(y),
    "reshaped": lambda y, x: y.reshape(-1),
    "squeezed": lambda y, x: np.squeeze(y),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("derive", [lambda f: ad.grad(f)(X), lambda f: ad.jvp(f, (X,), (X,)), lambda f: ad.vjp(f, X)])
def test_views_that_are_written_are_refused(name, derive):
    view = WRITERS[name]

    def f(x):
        y = one(x)
        view(y, x)[:2] *= 5.0
        return np.sum(y * W)

    with pytest.raises(ad.DifferentiationError, match="AD0401"):
        derive(f)


def test_views_that_are_written_in_called_functions_are_refused():
    def f(x, n):
        y = one(x)
        return view_in_a_recursion(y, n) * np.sum(y * W)

    with pytest.raises(ad.DifferentiationError, match=r"AD04|AD03"):
        ad.grad(f)(X, 3)


def test_a_number_or_an_array_that_is_filled_is_refused():
    def f(x):
        y = one(x)
        y.fill(x[1])
        return np.sum(y * W)

    with pytest.raises(ad.DifferentiationError, match="AD0401"):
        ad.grad(f)(X)


def by_a_copy(x):
    y = np.array(one(x))
    y.T[:2] *= 5.0
    return np.sum(y * W) + np.sum(np.ravel(one(x)))


def test_copies_that_are_written():
    check_grads(by_a_copy, (X,))


def shaped_anew(x):
    y = (x * 2.0)[json.loads("[0, 1]")]
    y.shape = (1, 2)
    return np.sum(y)


def real_parts_written(x):
    y = (x * 2.0)[json.loads("[0, 1]")]
    y.real = 3.0
    return np.sum(y * x[0])


@pytest.mark.parametrize("function", [shaped_anew, real_parts_written])
def test_attributes_of_what_may_be_an_array_are_not_assigned(function):
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(function)(np.ones(3))


def item_of_one(x):
    y = np.where(x[0] > 9.0, np.nan, np.sin(x[0]) * json.loads("2.0"))
    return 0.5 * (y[()] if y.ndim == 0 else y)


def test_what_may_be_a_view_beside_memory_that_was_written_before_is_differentiated():
    """In the gradient's text, the cotangent of one path is filled, and that of the other may be a view."""
    check_grads(item_of_one, (X,), order=2)


def summed_if_large(x):
    return np.sum(x, axis=None) if x[0] > 0.5 else x * 2.0


def signed(x):
    n = summed_if_large(x) * 3.0
    out = (n / np.abs(n))[...]
    out[n == 0.0] = 0.0
    out *= n * n
    return np.sum(out[()])


def new_in_each_iteration(x):
    n = summed_if_large(x)
    total = 0.0
    for i in range(3):
        out = (n * (1.0 + i))[...]
        out *= n
        total += np.sum(out)
    return total


def in_a_recursion(x, depth=2):
    if depth == 0:
        return signed(x)
    return in_a_recursion(x * 1.5, depth - 1)


def signed_in_a_recursion(x):
    return in_a_recursion(x)


@pytest.mark.parametrize("x", [X, X + 1.0])
@pytest.mark.parametrize("function", [signed, new_in_each_iteration, signed_in_a_recursion])
def test_views_of_what_nothing_else_has_are_written(function, x):
    """``y[...]`` is an array whatever ``y`` is."""
    check_grads(function, (x,), order=2)


def seen_through_a_name(x):
    n = summed_if_large(x) * 3.0
    out = n[...]
    out *= 2.0
    return np.sum(n * out)


def seen_in_the_next_iteration(x):
    n, total = summed_if_large(x) * 3.0, 0.0
    for _ in range(3):
        out = n[...]
        out *= 2.0
        total += np.sum(out)
    return total


@pytest.mark.parametrize("function", [seen_through_a_name, seen_in_the_next_iteration])
def test_views_of_what_is_seen_again_are_not_written(function):
    with pytest.raises(ad.DifferentiationError, match="may be a view of a number or an array"):
        ad.grad(function)(X)
