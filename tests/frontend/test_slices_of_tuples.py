"""Slices of tuples whose bounds a call tells, and what is added to them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def put_at(f: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The function with one of its arguments first."""
    return lambda x, *others: f(*others[:place], x, *others[place:])


def weighted(a: Any, b: float, c: Any) -> Any:
    return np.sum(a) * b + 2.0 * b * np.sum(c * c)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_arguments_that_are_put_elsewhere(place: int) -> None:
    given: list[Any] = [np.array([1.0, 2.0]), 3.0, np.array([0.5])]
    expected = ad.grad(weighted, wrt=place)(*given)
    first = given.pop(place)
    assert np.array_equal(ad.grad(put_at(weighted, place))(first, *given), expected)
    assert np.array_equal(ad.grad(put_at(weighted, place), native=True)(first, *given), expected)


def reshaped(x: Any, count: int) -> Any:
    shape = np.shape(x)[:count]
    before = shape
    shape += (2, 1)
    return np.sum(np.reshape(x, shape) ** 2) + len(before) * np.sum(x)


@pytest.mark.parametrize("native", [False, True])
def test_tuples_of_a_length_known_at_run_time_are_added_to(native: bool) -> None:
    gradient = ad.grad(reshaped, native=native)
    assert gradient(np.array([1.0, 2.0]), 0).tolist() == [2.0, 4.0]
    assert gradient(np.arange(6.0).reshape(3, 2), 1).ravel().tolist() == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]


@pytest.mark.parametrize("native", [False, True])
def test_tuples_of_one_place_keep_an_axis(native: bool) -> None:
    def spread(x: Any) -> Any:
        matrix = np.outer(x, x)
        return np.sum((matrix[:, (0,)] - x) ** 2) + np.sum(np.hstack([matrix[:, tuple([1])], matrix]) ** 2)

    x = np.array([0.3, 0.5, 0.9])
    value, gradient = ad.value_and_grad(spread, native=native)(x)
    assert np.isclose(value, spread(x), rtol=1e-12)
    steps = 1e-6 * np.eye(3)
    assert np.allclose(gradient, [(spread(x + step) - spread(x - step)) / 2e-6 for step in steps])
