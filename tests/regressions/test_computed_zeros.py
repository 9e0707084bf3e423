"""Zeros that were computed are no selections, wherever they went: they mask no NaN, and selections stay zero."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

NAN = np.nan
X = np.array([0.0, 4.0])
Y = np.array([0.0, 4.0, 9.0])


def elements(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sqrt(x[i])
    total = 0.0
    for i in range(len(x)):
        total += y[i] * y[i]
    return total


def whole_array(x):
    y = np.zeros(len(x))
    y[:] = np.sqrt(x)
    return np.sum(y * y)


def through_a_view(x):
    y = np.zeros((2, len(x)))
    row = y[1]
    row += np.sqrt(x)
    return np.sum(y[1] * row)


def list_of_numbers(x):
    ys = []
    for i in range(len(x)):
        ys.append(np.sqrt(x[i]))
    total = 0.0
    for y in ys:
        total += y * y
    return total


def list_of_arrays(x):
    ys = [np.sqrt(x), x]
    for _ in range(2):
        ys.append(ys[-2] * 1.0)
    return np.sum(ys[0] * ys[2])


def dict_of_numbers(x):
    table = {}
    for i in range(len(x)):
        table[i] = math.sqrt(x[i])
    return sum(table[i] ** 2 for i in range(len(x)))


class Holder:
    def __init__(self, y):
        self.y = y


def fields(x):
    held = [Holder(0.0), Holder(0.0)]
    for i in range(2):
        held[i].y = math.sqrt(x[i])
    total = 0.0
    for h in held:
        total += h.y * h.y
    return total


def carried(x):
    total = 0.0
    for i in range(len(x)):
        y = np.sqrt(x[i])
        product = 1.0
        for _ in range(2):
            product = product * y
        total += product
    return total


def branches(x):
    total = 0.0
    for i in range(len(x)):
        y = np.sqrt(x[i])
        if i < 5:
            z = y * y
        else:
            z = y
        total += z
    return total


def recursive(x):
    def square_of_root(y, n):
        return math.sqrt(y) if n == 0 else square_of_root(y, n - 1)

    total = 0.0
    for i in range(len(x)):
        y = square_of_root(x[i], i + 1)
        total += y * y
    return total


ROOTS = [
    *(elements, whole_array, through_a_view, list_of_numbers, list_of_arrays, dict_of_numbers, fields, carried),
    *(branches, recursive),
]


@pytest.mark.parametrize("f", ROOTS)
def test_squares_of_roots(f: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.grad(f)(X), [NAN, 1.0], rtol=1e-12)
        for direction, expected in (([1.0, 0.0], NAN), ([1.0, 1.0], NAN), ([0.0, 1.0], 1.0)):
            np.testing.assert_allclose(ad.jvp(f, (X,), (np.array(direction),))[1], expected, rtol=1e-12)
        second = ad.hessian(f)(X)
    assert np.isnan(second[0, 0])
    assert abs(second[1, 1]) < 1e-12


@pytest.mark.parametrize("f", [elements, whole_array, list_of_numbers, carried, branches])
def test_squares_of_roots_in_machine_code(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(ad.grad(f, native=True)(X), [NAN, 1.0], rtol=1e-12)


def stored_selection(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.where(x[i] > 0, np.sqrt(x[i]), 0.0)
    total = 0.0
    for i in range(3):
        total += y[i] * y[i]
    return total


def stored_by_a_mask(x):
    y = np.zeros(3)
    mask = x > 0
    y[mask] = np.sqrt(x)[mask]
    return np.sum(y * y)


def never_read(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sqrt(x[i])
    total = 0.0
    for i in range(1, 3):
        total += y[i] * y[i]
    return total


def overwritten(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sqrt(x[i])
    y[0] = 3.0
    return np.sum(y * y)


def taken_out_of_a_list(x):
    ys = [0.0]
    for i in range(3):
        ys.append(np.sqrt(x[i]))
    ys[1] = 2.0
    total = 0.0
    for y in ys:
        total += y * y
    return total


def branch_not_taken(x):
    y = np.zeros(3)
    for i in range(3):
        root = np.sqrt(x[i])
        if x[i] > 0:
            y[i] = root * root
    return np.sum(y)


def dict_of_selections(x):
    table = {}
    for i in range(3):
        table[i] = np.sqrt(x[i])
    return sum(table[i] * table[i] for i in range(1, 3))


SELECTIONS = [
    *(stored_selection, stored_by_a_mask, never_read, overwritten, taken_out_of_a_list, branch_not_taken),
    dict_of_selections,
]


@pytest.mark.parametrize("f", SELECTIONS)
def test_what_is_left_out_stays_zero(f: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.grad(f)(Y), [0.0, 1.0, 1.0], rtol=1e-12)
        np.testing.assert_allclose(ad.jvp(f, (Y,), (np.array([0.0, 1.0, 0.5]),))[1], 1.5, rtol=1e-12)
        np.testing.assert_allclose(ad.hessian(f)(Y), np.zeros((3, 3)), atol=1e-12)


@pytest.mark.parametrize("f", [stored_selection, stored_by_a_mask, never_read, branch_not_taken])
def test_what_is_left_out_stays_zero_in_machine_code(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(ad.grad(f, native=True)(Y), [0.0, 1.0, 1.0], rtol=1e-12)


def test_roots_of_squares_that_were_written() -> None:
    def f(x):
        x[0] = x[1] * x[1]
        return np.sqrt(x[0]) + np.sqrt(x[2])

    with np.errstate(all="ignore"):
        found = [ad.jvp(f, (np.array([3.0, 0.0, 0.0]),), (row,))[1] for row in np.eye(3)]
        np.testing.assert_array_equal(found, [0.0, NAN, np.inf])
        np.testing.assert_array_equal(ad.grad(f)(np.array([3.0, 0.0, 0.0])), [0.0, NAN, np.inf])


def test_what_cancels_in_a_list_of_seeds() -> None:
    """The cotangent of the root is zero by chance: x - x of a part that varies."""

    def f(x):
        y = [0.0, 0.0]
        for i in range(2):
            y[i] = math.sqrt(x)
        return y[0] * (1.0 + y[1]) - y[1]

    assert math.isnan(ad.grad(f)(0.0))
    assert ad.grad(f)(4.0) == 1.0


def test_places_of_which_the_last_store_counts_are_no_cotangents() -> None:
    def f(x: Any) -> Any:
        y = np.sqrt(x) * 1.0
        y[y > 0.49] *= y[1]
        for _ in range(2):
            np.put(y, [1, 1], x * y)
            y *= 2.0
        return y.sum()

    right(f, np.array([0.678, 0.477]))


def test_supports_of_differences_do_not_cancel() -> None:
    def f(v: Any) -> Any:
        state = {"w": v, "s": np.zeros(2)}
        for _ in range(2):
            g = state["w"]
            state["s"] = state["s"] + g**2
            state["w"] = state["w"] - state["s"] / 1
        total = np.sum(state["w"])
        v += 0.46
        return total

    x, along = np.array([-0.881, -0.851]), np.array([0.3, 0.7])
    gradient = ad.grad(f)
    slope = (gradient(x + 1e-5 * along) - gradient(x - 1e-5 * along)) / 2e-5
    np.testing.assert_allclose(ad.hvp(f, (x.copy(),), (along,))[0], slope, rtol=1e-6)
