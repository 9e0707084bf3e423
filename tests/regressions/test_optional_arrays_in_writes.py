"""What a function gives on some of its paths only, and None on others, is written into arrays as NumPy writes it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

X = np.array([[0.5, 1.0, -0.25], [2.0, -1.5, 0.75]])
ONE_ZERO = np.array([[0.5, 1.0, -0.25], [0.0, 0.0, 0.0]])
WEIGHTS = np.arange(6.0).reshape(2, 3)


def unit(a: Any) -> Any:
    n = np.linalg.norm(a)
    return None if n == 0 else a / n


def rows(x: Any) -> Any:
    found = np.ones((2, 3))
    for t in range(2):
        found[t] = unit(x[t])
    return np.nansum(found * WEIGHTS)


def parts(x: Any) -> Any:
    found = np.ones(6)
    found[:3], found[3:] = unit(x[0]), unit(x[1])
    return np.nansum(found * WEIGHTS.ravel())


class Estimate:
    def __init__(self, x: Any) -> None:
        self.rows = np.zeros((2, 3))
        for t, row in enumerate(x):
            self.rows[t, :] = unit(row) if t else row


def of_an_object(x: Any) -> Any:
    return np.nansum(Estimate(x).rows * WEIGHTS)


def numbers_or_rows(x: Any) -> Any:
    found = np.zeros((2, 3))
    for t in range(2):
        found[t] = x[t] if x[t, 0] > 1.0 else 2.0 * x[t, 1]
    return np.sum(found * found * WEIGHTS)


def added(x: Any) -> Any:
    total = np.zeros(3)
    for row in x:
        total += unit(row)
    return np.sum(total * WEIGHTS[1])


def added_to_rows(x: Any) -> Any:
    found = np.ones((2, 3))
    for t in range(2):
        found[t] -= unit(x[t])
    return np.sum(found * WEIGHTS)


def scaled(x: Any) -> Any:
    found = x[0] * 1.0
    found *= unit(x[1])
    return np.sum(found * WEIGHTS[0])


@pytest.mark.parametrize(
    "function", [rows, parts, of_an_object, numbers_or_rows, added, added_to_rows, scaled], ids=lambda f: f.__name__
)
def test_arrays_are_written(function: Callable[..., Any]) -> None:
    right(function, X)
    right(function, X, native=True)


@pytest.mark.parametrize("function", [rows, parts, of_an_object], ids=lambda f: f.__name__)
def test_none_is_stored_as_nan(function: Callable[..., Any]) -> None:
    expected = ad.grad(lambda x: np.sum(unit(x) * WEIGHTS[0]) if function is not of_an_object else x @ WEIGHTS[0])(X[0])
    for options in ({}, {"native": True}):
        found = ad.grad(function, **options)(ONE_ZERO)
        np.testing.assert_allclose(found, [expected, np.zeros(3)], atol=1e-15)
        assert ad.value_and_grad(function, **options)(ONE_ZERO)[0] == pytest.approx(function(ONE_ZERO))


@pytest.mark.parametrize("function", [added, added_to_rows, scaled], ids=lambda f: f.__name__)
def test_none_is_no_operand(function: Callable[..., Any]) -> None:
    for run in (function, ad.grad(function), ad.grad(function, native=True)):
        with pytest.raises(TypeError):
            run(ONE_ZERO)
