"""Arrays of lists that turn out to be empty: NumPy makes a vector of floats of any such list.

Who asked for the dtype or the rank was told that of lists with items, and machine code raised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

SMALL, LARGE = np.array([0.3, 0.5, 0.8]), np.array([6.3, 0.5, 7.8])


def rows_of_numbers(x: Any) -> Any:
    rows = np.array([[x[i], x[i + 1]] for i in range(len(x) - 1) if x[i] > 5.0])
    return np.sum(rows**2) * x[0] + len(rows) * x[1]


def rows_of_places(x: Any) -> Any:
    y = x * 2.0
    for i, j in np.array(list(zip(*[[k for k in range(len(x)) if x[k] > 5.0]] * 2)))[::2]:
        y[i : j + 1] *= x[i]
    return np.sum(y * x)


def several_arrays(x: Any) -> Any:
    rows = []
    for i in range(len(x) - 1):
        if x[i] > 5.0:
            rows.append(x[i : i + 2])
    return np.sum(np.asarray(rows) ** 2) + x[0] ** 2


@pytest.mark.parametrize("x", [SMALL, LARGE])
@pytest.mark.parametrize("function", [rows_of_numbers, rows_of_places, several_arrays])
def test_nothing_is_asked(function: Callable[[Any], Any], x: np.ndarray) -> None:
    check_grads(function, (x,), order=2)
    np.testing.assert_allclose(ad.grad(function, native=True)(x), ad.grad(function)(x), rtol=1e-13)


def of_rank(x: Any) -> Any:
    return x[0] * np.array([[i, i + 1] for i in range(len(x)) if x[i] > 5.0]).ndim


def of_rank_by_function(x: Any) -> Any:
    return x[0] * np.ndim(np.asarray([x[i : i + 1] for i in range(len(x)) if x[i] > 5.0]))


def of_size(x: Any) -> Any:
    return x[0] * np.array([i for i in range(len(x)) if x[i] > 5.0], dtype=None).dtype.num


def of_a_multiple(x: Any) -> Any:
    counts = np.array([i for i in range(len(x)) if x[i] > 5.0]) * 2
    return x[0] * (2.0 if counts.dtype == np.float64 else 3.0)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("function", [of_rank, of_rank_by_function, of_size, of_a_multiple])
def test_something_is_asked(function: Callable[[Any], Any], native: bool) -> None:
    step = np.array([1e-6, 0.0, 0.0])
    slope = (function(LARGE + step) - function(LARGE - step)) / 2e-6
    derivative = ad.grad(function, native=native)
    assert derivative(LARGE)[0] == pytest.approx(slope)
    with pytest.raises(ad.DifferentiationError, match="in this call the list is empty"):
        derivative(SMALL)


def asked_of_floats(x: Any) -> Any:
    large = np.array([x[i] for i in range(len(x)) if x[i] > 5.0])
    places = np.array([i for i in range(len(x)) if x[i] > 5.0], dtype=int)
    return np.sum(large**2) * large.itemsize + x[0] * places.ndim * places.itemsize


@pytest.mark.parametrize("x", [SMALL, LARGE])
def test_what_is_asked_is_the_same_for_all_lists(x: np.ndarray) -> None:
    check_grads(asked_of_floats, (x,), order=2)
