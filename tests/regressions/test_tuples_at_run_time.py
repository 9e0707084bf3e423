"""Tuples whose length or items are known at run time only: indices of arrays, compared, joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.arange(1.0, 10.0).reshape(3, 3)


def changed(x: Any, k: int) -> Any:
    places = [0, 1]
    places[k] = 1
    return np.sum(x[tuple(places)] ** 2)


def grown(x: Any, k: int) -> Any:
    places = []
    for i in range(k):
        places.append(i)
    return np.sum(x[tuple(places)] ** 2)


def of_slices(x: Any, k: int) -> Any:
    places = [slice(None)] * x.ndim
    places[k] = slice(0, 2)
    part = x[tuple(places)]
    return np.sum(part * part)


def written(x: Any, k: int) -> Any:
    x = x * 1.0
    places = [slice(None)] * x.ndim
    places[k] = slice(0, 2)
    x[tuple(places)] = 2.0 * x[tuple(places)] ** 2
    return np.sum(x * x)


def is_what_it_is(x: Any, k: int) -> Any:
    places = []
    for i in range(k):
        places.append(i)
    known = tuple(places)
    if not isinstance(known, tuple) or isinstance(known, list):
        return 0.0
    if known == (0,):
        return np.sum(x[known[:1]] ** 3)
    return np.sum(x[known[:1] + known[1:]]) * known.count(0) + np.sum(x[known * 1])


def as_axes(x: Any, k: int) -> Any:
    total = 0.0
    for axis in range(x.ndim):
        others = tuple(i for i in range(x.ndim) if i != axis)
        total = total + np.sum(x.sum(axis=others, keepdims=True) ** 2) + np.sum(np.max(x, others) ** 3)
    return total


def differences(f: Any, k: int) -> np.ndarray:
    slopes = np.zeros_like(X)
    for place in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[place] = 1e-6
        slopes[place] = (f(X + step, k) - f(X - step, k)) / 2e-6
    return slopes


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("f", [changed, grown, of_slices, written, is_what_it_is, as_axes])
def test_as_in_python(f: Any, k: int) -> None:
    value, gradient = ad.value_and_grad(f)(X, k)
    assert value == f(X, k)
    np.testing.assert_allclose(gradient, differences(f, k), rtol=1e-6, atol=1e-6)
    direction = np.cos(X)
    assert ad.jvp(lambda x: f(x, k), (X,), (direction,))[1] == pytest.approx(np.sum(gradient * direction))
    (second,) = ad.hvp(lambda x: f(x, k), (X,), (direction,))
    ahead, behind = (ad.grad(f)(X + step * direction, k) for step in (1e-5, -1e-5))
    np.testing.assert_allclose(second, (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-5)


def test_a_view_of_what_is_written_is_refused() -> None:
    def f(x: Any, k: int) -> Any:
        x = x * 1.0
        places = [slice(None)] * x.ndim
        places[k] = slice(0, 2)
        part = x[tuple(places)]
        x[0] = 7.0
        return np.sum(part * part)

    with pytest.raises(ad.DifferentiationError, match="may be a view of an array that was written"):
        ad.grad(f)(X, 0)


def test_a_path_on_which_a_tuple_is_too_short() -> None:
    def f(x: Any, k: int) -> Any:
        y = x if k > 0 else x[0]
        return np.sum(x) * (y.shape[1] if y.ndim > 1 else y.shape[0])

    assert ad.grad(f)(X, 1).sum() == 27.0
    assert ad.grad(lambda x: np.sum(x) * (x.shape[2] if x.ndim > 2 else 1))(X).sum() == 9.0


def weighted(pairs):
    total = 0.0
    for value, count in pairs:
        total += value * value * count
    return total


def test_tangents_of_whole_numbers_are_none_in_second_order() -> None:
    pairs = [(1.0, 2), (3.0, 4)]
    assert ad.hvp(weighted, (pairs,), ([(1.0, None), (0.5, None)],)) == ([(4.0, None), (4.0, None)],)
