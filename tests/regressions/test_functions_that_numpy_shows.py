"""Functions of NumPy of which nothing is declared are read in Python, where NumPy has them so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import polynomial

import adjoint as ad
from adjoint.testing import check_grads

X, W = np.array([1.0, 2.5, 3.0]), np.array([3.5, 1.5, 2.0])

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "polyval2d": (lambda x, c: np.sum(polynomial.polyval2d(x, 2.0, c)), (1.3, np.outer(X, W))),
    "polygrid2d": (lambda x, c: np.sum(polynomial.polygrid2d(x, x, c)), (X, np.outer(X, W))),
    "trim_zeros": (lambda x: np.sum(np.trim_zeros(x * np.array([0.0, 1.0, 1.0])) ** 2), (X,)),
    "polydiv": (lambda u, v: np.sum(np.polydiv(u, v)[0] ** 2) + np.polydiv(u, v)[1][0], (X, np.array([2.0, 1.5]))),
    "union1d": (lambda x, y: np.sum(np.union1d(x, y) ** 2), (X, W)),
    "setdiff1d": (lambda x, y: np.sum(np.setdiff1d(x, y) ** 2), (X, W)),
    "setxor1d": (lambda x, y: np.sum(np.setxor1d(x, y) ** 2), (X, W)),
    "intersect1d": (lambda x, y: np.sum(np.intersect1d(x, np.append(x[:1], y)) * np.array([2.0])), (X, W)),
    "unique_all": (lambda x: np.sum(np.unique_all(x).values ** 2), (X,)),
    "real_if_close": (lambda x: np.sum(np.real_if_close(x) ** 2), (X,)),
    "ndmin": (lambda x: np.sum(np.array(x, ndmin=1, copy=None) ** 2) + np.array(x * x, ndmin=2)[0, 0], (1.3,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name: str) -> None:
    f, args = CALLS[name]
    check_grads(f, args)


def asserted(x: Any) -> Any:
    y = x * x
    np.testing.assert_allclose((y, x), (x**2, x), rtol=1e-12)
    np.testing.assert_equal(len(y), 3)
    return np.sum(y)


def asserted_in_a_try(x: Any) -> Any:
    try:
        np.testing.assert_array_less(x, 2.0)
    except AssertionError:
        return np.sum(x * x * x)
    return np.sum(x)


def test_assertions_of_numpy_look_at_values_only() -> None:
    check_grads(asserted, (X,))
    check_grads(asserted_in_a_try, (X,))
    check_grads(asserted_in_a_try, (0.5 * X,))
    for native in (False, True):
        gradient = ad.grad(lambda x: (np.testing.assert_allclose(x, X), np.sum(x * x))[1], native=native)
        assert gradient(X).tolist() == (2.0 * X).tolist()
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            gradient(W)


def test_arrays_that_vary_are_saved_once(tmp_path: Path) -> None:
    def f(x: Any, place: str) -> Any:
        y = x * x
        np.save(place + ".npy", y)
        np.savetxt(place + ".txt", y)
        np.savez(place + ".npz", y=y)
        return np.sum(y) + len(np.array_str(y)) * 0.0

    place = str(tmp_path / "kept")
    assert ad.grad(f)(X, place).tolist() == (2.0 * X).tolist()
    for found in (np.load(place + ".npy"), np.loadtxt(place + ".txt"), np.load(place + ".npz")["y"]):
        assert found.tolist() == (X * X).tolist()
