"""Declared derivatives, held against differences of the function."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_derivative


def blend(x, y, weight=0.25):
    return eval("weight * x + (1.0 - weight) * y * y")


def blend_derivative(x, y, weight=0.25):
    return weight * x + (1.0 - weight) * y * y, lambda ct: (ct * weight, 2.0 * ct * (1.0 - weight) * y)


ad.derivative_of(blend, wrt=("x", "y"))(blend_derivative)


@dataclasses.dataclass
class Point:
    x: float
    y: float

    @property
    def norm(self):
        return math.hypot(self.x, self.y)

    def scaled(self, k):
        return Point(k * self.x, k * self.y)


ad.derivative_of(Point.norm)(lambda p: (p.norm, lambda ct: Point(ct * p.x / p.norm, ct * p.y / p.norm)))
ad.differential_of(Point.scaled)(
    lambda p, k: (Point(k * p.x, k * p.y), lambda dp, dk: Point(k * dp.x + dk * p.x, k * dp.y + dk * p.y))
)


def product(matrix, vector):
    return eval("matrix @ vector")


ad.transpose_of(product, wrt="vector")(lambda matrix, ct: matrix.T @ ct)


def scaled(x, *, k):
    return k * x


ad.derivative_of(scaled, wrt=("x", "k"))(lambda x, *, k: (k * x, lambda ct: (k * ct, np.sum(x * ct))))

RIGHT: dict[str, Any] = {
    "function": lambda: check_derivative(blend, 2.0, 3.0),
    "arrays": lambda: check_derivative(blend, np.ones(3), np.arange(3.0), 0.5),
    "property": lambda: check_derivative(Point.norm, Point(3.0, 4.0)),
    "method": lambda: check_derivative(Point.scaled, Point(3.0, 4.0), 2.0),
    "transpose": lambda: check_derivative(product, np.eye(3) + 1.0, np.arange(3.0)),
    "by name": lambda: check_derivative(scaled, np.arange(3.0), kwargs={"k": 2.0}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name: str) -> None:
    RIGHT[name]()


def _wrong_gradient() -> None:
    def f(x, y):
        return x * y

    ad.derivative_of(f)(lambda x, y: (x * y, lambda ct: (ct * y, ct * y)))
    check_derivative(f, 2.0, 3.0)


def _wrong_value() -> None:
    def f(x):
        return x * x

    ad.derivative_of(f)(lambda x: (x * x + 1.0, lambda ct: 2.0 * x * ct))
    check_derivative(f, 2.0)


def _one_mode_is_wrong() -> None:
    def f(x):
        return x * x

    ad.derivative_of(f, jvp=lambda x: (x * x, lambda dx: 3.0 * x * dx))(lambda x: (x * x, lambda ct: 2.0 * x * ct))
    check_derivative(f, 2.0)


def _wrong_adjoint() -> None:
    def f(x):
        return math.sin(x)

    ad.derivative_of(f, adjoint=lambda x, seed: seed * math.sin(x))
    check_derivative(f, 2.0)


def _not_linear() -> None:
    def f(x):
        return x + 1.0

    ad.transpose_of(f)(lambda ct: ct)
    check_derivative(f, 2.0)


WRONG = {
    _wrong_gradient: r"f, with respect to 'y': reverse mode \(vjp\) disagrees with differences",
    _wrong_value: "the value differs from the function's",
    _one_mode_is_wrong: r"forward mode \(jvp\) disagrees with differences",
    _wrong_adjoint: r"reverse mode \(vjp\) disagrees with differences",
    _not_linear: "it has a transpose, and is not linear",
}


@pytest.mark.parametrize("check", WRONG, ids=lambda check: check.__name__)
def test_what_is_wrong_is_found(check: Any) -> None:
    with pytest.raises(AssertionError, match=WRONG[check]):
        check()


def test_nothing_is_declared() -> None:
    with pytest.raises(ValueError, match="no derivative is declared for test_nothing_is_declared"):
        check_derivative(test_nothing_is_declared)
