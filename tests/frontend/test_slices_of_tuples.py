"""Slices of tuples of arguments whose bounds are whole numbers that a function captured."""

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
