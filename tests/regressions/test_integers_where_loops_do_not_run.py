"""A sum that starts with ``0`` is an integer where its loop does not run, and so is an array made of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


def total(x, n):
    result = 0
    for _ in range(n):
        result += x
    return result


def of_a_list(x, n):
    a = np.array([total(x, n), 0])
    a[0] = 2.5 * x
    return a[0] * 1.0


def of_one_number(x, n):
    a = np.full(3, total(x, n))
    a[1] = 2.5 * x
    return a[1] * 1.0


def times_integers(x, n):
    a = np.array([1, 2]) * total(x, n)
    a[0] = 2.5 * x
    return a[0] * 1.0


def through_a_view(x, n):
    a = np.asarray(total(x, n)) * np.ones(2, dtype=int)
    b = a[1:]
    b[0] = 2.5 * x
    return a[1] * 1.0


def of_a_list_that_grows(x, n):
    items = []
    for _ in range(3):
        items.append(total(x, n))
    a = np.array(items)
    a[0] = 2.5 * x
    return a[0] * 1.0


WRITTEN = [of_a_list, of_one_number, times_integers, through_a_view, of_a_list_that_grows]


@pytest.mark.parametrize("function", WRITTEN, ids=lambda function: function.__name__)
def test_what_is_written_into_integers_is_not_taken_for_floats(function: Callable[..., Any]) -> None:
    assert function(1.5, 0) == 3.0  # not 3.75: cut off
    with pytest.raises(ad.DifferentiationError, match=re.escape("AD0408")) as refusal:
        ad.value_and_grad(function)(1.5, 0)
    assert "holds integers in this call" in str(refusal.value)
    check_grads(function, (1.5, 2), order=2)
    assert ad.grad(function)(1.5, 2) == 2.5


def squares_and_sum(x, n):
    a = np.array([total(x, n) for _ in range(2)])
    return np.sum(a * a) + sum(a) * x


def beside_an_integer(x, n):
    a = np.array([total(x, n), 1])
    return np.sum(a * a) + a[0] * x


def part_of_a_product(x, n):
    a = total(x, n) * np.arange(3)
    b = a[1:]
    return np.sum(b * b) + b @ b + 0.5 * x


def of_a_list_that_grows_and_is_read(x, n):
    items = []
    for k in range(3):
        items.append(total(x, n) * k)
    a = np.array(items)
    return np.sum(a**2) + a[1] * x


READ = [squares_and_sum, beside_an_integer, part_of_a_product, of_a_list_that_grows_and_is_read]


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("function", READ, ids=lambda function: function.__name__)
def test_what_is_only_read_has_its_derivative(function: Callable[..., Any], count: int) -> None:
    check_grads(function, (1.5, count), order=2)


def test_a_list_of_zeros_that_is_filled_may_be_written_as_an_array() -> None:
    def f(x, n):
        items = [0] * 3
        for i in range(n):
            items[i] = i * x
        a = np.array(items)
        a[1] *= x
        return np.sum(a) * x

    check_grads(f, (1.5, 3), order=2)
