"""What a selection leaves out is zero in every derivative, however singular the function is there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

Function = Callable[[np.ndarray], np.ndarray]
CHOSEN = np.array([True, False, False])

FUNCTIONS: dict[str, tuple[Function, tuple[float, float, float]]] = {
    "sqrt": (lambda x: np.sqrt(x), (0.7, -0.7, 0.0)),
    "log": (lambda x: np.log(x), (0.7, -0.7, 0.0)),
    "power above one": (lambda x: x**1.5, (0.7, -0.7, 0.0)),
    "power below zero": (lambda x: x**-0.5, (0.7, -0.7, 0.0)),
    "power of itself": (lambda x: np.power(x, x), (0.7, -0.3, 0.0)),
    "reciprocal": (lambda x: 1 / x, (0.7, -np.inf, 0.0)),
    "arcsin": (lambda x: np.arcsin(x), (0.7, 1.7, 1.0)),
    "arccos": (lambda x: np.arccos(x), (0.7, -1.7, -1.0)),
    "hypot": (lambda x: np.hypot(x, 0 * x), (0.7, np.nan, 0.0)),
    "arctan2": (lambda x: np.arctan2(x, 0 * x), (0.7, np.nan, 0.0)),
    "tan": (lambda x: np.tan(x) * np.log(x), (0.7, -np.inf, 0.0)),
    "overflow": (lambda x: x * np.exp(np.exp(x)), (0.7, 800.0, 710.0)),
    "cbrt": (lambda x: np.cbrt(x), (0.7, np.nan, 0.0)),
    "product": (lambda x: x * np.sqrt(x), (0.7, -0.3, 0.0)),
    "product with a logarithm": (lambda x: np.log(np.sin(x)) * x, (0.7, -0.3, 0.0)),
    "chain": (lambda x: np.sqrt(np.log(x)), (1.7, -0.3, 1.0)),
    "square of a root": (lambda x: np.sqrt(x) ** 2 * x, (1.7, -0.3, 0.0)),
    "norm of rows": (lambda x: np.sqrt(np.sum((x[:, None] * np.array([1.0, 2.0])) ** 2, axis=1)), (0.7, 0.0, 0.0)),
}


def stored(g: Function, x: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    out = np.zeros(3)
    y = g(x)
    out[chosen] = y[chosen]
    return out


def overwritten(g: Function, x: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    y = g(x)
    y[~chosen] = 0.0
    return y


SELECTIONS: dict[str, Callable[[Function, np.ndarray, np.ndarray], Any]] = {
    "where": lambda g, x, chosen: np.where(chosen, g(x), 0.0),
    "the other branch of where": lambda g, x, chosen: np.where(~chosen, 0.0, g(x)),
    "mask": lambda g, x, chosen: g(x)[chosen],
    "slice": lambda g, x, chosen: g(x)[:1],
    "take": lambda g, x, chosen: np.take(g(x), np.flatnonzero(chosen)),
    "compress": lambda g, x, chosen: np.compress(chosen, g(x)),
    "select": lambda g, x, chosen: np.select([chosen], [g(x)], 1.0),
    "choose": lambda g, x, chosen: np.choose(chosen.astype(int), [0 * x + 2.0, g(x)]),
    "piecewise": lambda g, x, chosen: np.piecewise(x, [chosen], [g, 0.0]),
    "masked store": lambda g, x, chosen: stored(g, x, chosen),
    "masked store over what was computed": lambda g, x, chosen: overwritten(g, x, chosen),
    "nan_to_num": lambda g, x, chosen: np.nan_to_num(np.where(chosen, g(x), np.nan)),
    "nansum": lambda g, x, chosen: np.nansum(np.where(chosen, g(x), np.nan)),
    "nanmean": lambda g, x, chosen: np.nanmean(np.where(chosen, g(x), np.nan)),
    "square of what was chosen": lambda g, x, chosen: np.where(chosen, g(x), 0.0) ** 2,
}


def check(selection: str, function: str, *, all_modes: bool = False, native: bool = False) -> None:
    select, (g, point) = SELECTIONS[selection], FUNCTIONS[function]

    def f(x: np.ndarray) -> float:
        return np.sum(select(g, x, CHOSEN))

    x, along, step = np.array(point), np.array([1.0, 2.0, 3.0]), np.array([1e-5, 0.0, 0.0])
    options = {"native": True} if native else {}
    with np.errstate(all="ignore"):
        gradient = ad.grad(f, **options)
        slope = (f(x + step) - f(x - step)) / 2e-5
        found = gradient(x)
        np.testing.assert_allclose(found, [slope, 0.0, 0.0], rtol=1e-5, atol=1e-7)
        if native:
            return
        curvature = (gradient(x + step)[0] - gradient(x - step)[0]) / 2e-5
        second = np.array([curvature, 0.0, 0.0])
        near = {"rtol": 1e-5, "atol": 1e-6}
        np.testing.assert_allclose(ad.jvp(gradient, (x,), (along,))[1], second, **near)
        if not all_modes:
            return
        np.testing.assert_allclose(ad.jvp(f, (x,), (along,))[1], slope, rtol=1e-5)
        np.testing.assert_allclose(ad.hessian(f)(x), np.diag(second), **near)
        np.testing.assert_allclose(ad.hvp(f, (x,), (along,))[0], second, **near)
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(gradient(x) * along))(x), second, **near)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("selection", ["where", "mask", "masked store over what was computed", "nansum"])
def test_what_is_left_out_is_zero(selection: str, function: str) -> None:
    check(selection, function, all_modes=selection == "where")


@pytest.mark.parametrize("function", ["sqrt", "product", "overflow"])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_every_selection_leaves_out(selection: str, function: str) -> None:
    check(selection, function, all_modes=function == "product")


@pytest.mark.parametrize(("selection", "function"), [("where", "product"), ("mask", "chain"), ("slice", "sqrt")])
def test_machine_code_leaves_out_the_same(selection: str, function: str) -> None:
    check(selection, function, native=True)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.maximum(x * np.sqrt(x), 0.5 + x)),
        lambda x: np.sum(np.fmax(x * np.sqrt(x - 0.5), x)),
        lambda x: np.sum(np.clip(x**-1.5, -1.0, 1.0) * x),
    ],
)
def test_the_smaller_one_is_left_out(f: Callable[[np.ndarray], Any]) -> None:
    x = np.array([0.0, 0.25])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.grad(f)(x), [1.0, 1.0])
        np.testing.assert_allclose(ad.hessian(f)(x), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("f", "right"),
    [
        (lambda x: np.sqrt(x) ** 2, 1.0),
        (lambda x: np.sqrt(x) * np.sqrt(x), 1.0),
        (lambda x: np.sum(np.sqrt(x * np.ones(2))[1:] ** 2), 1.0),
        (lambda x: np.sum(np.sqrt(x * np.ones(2))[x >= np.zeros(2)] ** 2), 2.0),
        (lambda x: np.cbrt(x) ** 3, 1.0),
        (lambda x: np.cbrt(x**3), 1.0),
        (lambda x: (x**3) ** (1 / 3), 1.0),
        (lambda x: (x**0.5) ** 2.0, 1.0),
        (lambda x: np.where(x >= 0, np.sqrt(x), 0.0) ** 2, 1.0),
        (lambda x: np.where(x >= 0, np.sqrt(x) ** 2, 0.0), 1.0),
        (lambda x: np.sum(np.sqrt(np.array([x, x]))) ** 2, 4.0),
        (lambda x: np.dot(np.sqrt(x * np.ones(2)), np.sqrt(x * np.ones(2))), 2.0),
    ],
)
def test_a_zero_that_was_computed_is_no_selection(f: Callable[[Any], Any], right: float) -> None:
    for found in (ad.grad(f)(0.0), ad.jvp(f, (0.0,), (1.0,))[1]):
        assert np.isnan(found) or abs(found - right) < 1e-6, found


def test_machine_code_tells_a_zero_that_was_computed() -> None:
    def f(x: float) -> float:
        root = math.sqrt(x)
        return root * root * root * root

    slope = ad.grad(f, native=True)
    assert math.isnan(slope(0.0))
    assert slope(4.0) == pytest.approx(8.0)


def test_a_direction_in_which_nothing_moves_is_zero() -> None:
    def f(x: np.ndarray) -> float:
        return np.sum(np.sqrt(x**2))

    np.testing.assert_array_equal(ad.jvp(f, (np.array([0.0, 3.0]),), (np.array([0.0, 1.0]),))[1], 1.0)
    with np.errstate(all="ignore"):
        hessian = ad.hessian(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(hessian[[0, 1, 1], [1, 0, 1]], [0.0, 0.0, -0.25])
