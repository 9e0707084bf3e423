"""Functions that print, or call what keeps a count: their derivatives are differentiated, and they run once."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import adjoint as ad

CALLS: list[float] = []


def _counted(x: float) -> float:
    CALLS.append(x)
    return float(len(CALLS))


COUNTED = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(_counted)
"""A function that nobody looks into: it gives how often it was called."""


def scaled(x: Any) -> Any:
    return COUNTED(0.5) * x**3


def told(x: Any) -> Any:
    print("here")
    return x**3


def looped(x: Any) -> Any:
    total = 0.0
    for _ in range(2):
        total = total + COUNTED(0.5) * x**3 / 3.0
    return total


DERIVATIVES: list[Any] = [
    lambda f, x: ad.grad(f)(x),
    lambda f, x: ad.value_and_grad(f)(x)[1],
    lambda f, x: ad.hvp(f, (x,), (0.5 * x,))[0],
    lambda f, x: ad.grad(lambda y: ad.grad(f)(y) * y / 3.0)(x),
    lambda f, x: ad.jvp(f, (x,), (1.0,))[1],
    lambda f, x: ad.grad(lambda y: ad.jvp(f, (y,), (y,))[1])(x) / 3.0,
]
"""Each is ``3 x**2`` of a function that is ``x**3``."""


@pytest.mark.parametrize(
    ("f", "native"), [(scaled, False), (scaled, True), (looped, False), (told, False), (told, True)]
)
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_derivatives_of_derivatives_run_a_function_once(f: Any, derivative: Any, native: bool, capfd: Any) -> None:
    def outer(x: Any) -> Any:
        return derivative(f, x) * x

    taken = [
        (lambda x: ad.grad(outer, native=native)(x), 27.0 * 4.0 / 3.0),
        (lambda x: ad.jvp(outer, (x,), (1.0,))[1], 36.0),
        (lambda x: ad.grad(ad.grad(outer))(x), 36.0),
    ]
    for take, expected in taken:
        CALLS.clear()
        assert take(2.0) == pytest.approx(expected, rel=1e-12)
        assert capfd.readouterr().out == ("here\n" if f is told else "")
        assert len(CALLS) == {scaled: 1, looped: 2, told: 0}[f]


PLACES = np.array([1, 1, 0, 1])
MATRIX, WEIGHTS = np.array([[1.3, 0.4], [0.7, 1.9]]), np.array([[0.4, 1.4], [-0.5, 2.0]])


def of_a_row(x: Any) -> Any:
    print(end="")
    return np.sum((x * x)[0][PLACES] ** 2)


def of_part_of_a_row(x: Any) -> Any:
    print(end="")
    return np.sum((x * x)[0][:1] ** 2)


def of_each_row(x: Any) -> Any:
    print(end="")
    squares, total = x * x, 0.0
    for row in range(2):
        total += np.sum(squares[row][:, None] * squares[row, PLACES]) ** 2
    return total


@pytest.mark.parametrize("f", [of_a_row, of_part_of_a_row, of_each_row])
def test_cotangents_of_parts_of_parts_are_in_those_of_the_whole(f: Any) -> None:
    """Pullbacks that are differentiated add to views of views of the cotangent of ``x * x``."""
    slope = ad.grad(f)

    def weighted(x: Any) -> Any:
        return np.sum(slope(x) * WEIGHTS)

    steps = 1e-6 * np.eye(4).reshape(4, 2, 2)
    expected = [(weighted(MATRIX + step) - weighted(MATRIX - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(ad.grad(weighted)(MATRIX).ravel(), expected, rtol=1e-6)


def test_what_would_run_again_is_refused() -> None:
    def by_pullback(x: Any) -> Any:
        value, pullback = ad.vjp(scaled, x)
        return value * pullback(1.0)[0]

    with pytest.raises(ad.DifferentiationError, match="what is not looked into") as refused:
        ad.grad(by_pullback)(2.0)
    assert "ad.value_and_grad(f)" in str(refused.value)
    with pytest.raises(ad.DifferentiationError, match="each column"):
        ad.grad(lambda x: np.sum(ad.jacobian(scaled)(x)))(np.array([1.0, 2.0]))


class Noise:
    def __init__(self) -> None:
        self.generator = np.random.default_rng(3)
        self.count = 0


NOISE = Noise()


def test_series_draw_for_good_from_what_is_written() -> None:
    def f(x: float) -> float:
        NOISE.count = NOISE.count + 1
        return NOISE.generator.normal() * x**2

    first, second = np.random.default_rng(3).normal(size=2)
    assert ad.jet(f, (2.0,), (1.0,), order=2) == (4.0 * first, 4.0 * first, 2.0 * first)
    assert ad.jet(f, (2.0,), (1.0,), order=2) == (4.0 * second, 4.0 * second, 2.0 * second)
