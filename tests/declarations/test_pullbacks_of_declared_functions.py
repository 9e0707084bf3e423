"""Declared pullbacks that call declared functions: transposed where they are linear in the cotangent, else refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad


def doubled(x: float) -> float:
    return 2.0 * x


def squared(x: float) -> float:
    return x * x


def scaled(x: float, k: float) -> float:
    return x * k


def gated(x: float) -> float:
    return x


@ad.derivative_of(doubled)
def _(x: float) -> Any:
    return 2.0 * x, lambda ct: 2.0 * ct


@ad.derivative_of(squared)
def _(x: float) -> Any:
    return x * x, lambda ct: 2.0 * x * ct


@ad.derivative_of(scaled)
def _(x: float, k: float) -> Any:
    return x * k, lambda ct: (ct * k, ct * x)


@ad.derivative_of(gated)
def _(x: float) -> Any:
    return x, lambda ct: ct if x > 0 else 0.0


def by_doubling(x: float) -> float:
    return x**3


def by_scaling(x: float) -> float:
    return x**3


def by_squaring(x: float) -> float:
    return x**3


def by_scaling_itself(x: float) -> float:
    return x**3


def by_a_gate(x: float) -> float:
    return x**3


@ad.derivative_of(by_doubling)
def _(x: float) -> Any:
    return x**3, lambda ct: doubled(ct) * 1.5 * x * x


@ad.derivative_of(by_scaling)
def _(x: float) -> Any:
    return x**3, lambda ct: scaled(ct, 3.0 * x * x)


@ad.derivative_of(by_squaring)
def _(x: float) -> Any:
    return x**3, lambda ct: squared(ct) * 3.0 * x * x


@ad.derivative_of(by_scaling_itself)
def _(x: float) -> Any:
    return x**3, lambda ct: scaled(ct, 3.0 * x * x * ct)


@ad.derivative_of(by_a_gate)
def _(x: float) -> Any:
    return x**3, lambda ct: gated(ct) * 3.0 * x * x


@pytest.mark.parametrize("function", [by_doubling, by_scaling])
def test_pullbacks_that_are_linear_by_declaration_are_transposed(function: Callable[[float], float]) -> None:
    assert ad.grad(function)(1.3) == pytest.approx(5.07)
    assert ad.jvp(function, (1.3,), (2.0,)) == pytest.approx((2.197, 10.14))
    assert ad.grad(ad.grad(function))(1.3) == pytest.approx(7.8)
    assert ad.hessian(function)(1.3) == pytest.approx(7.8)
    assert ad.hvp(function, (1.3,), (2.0,))[0] == pytest.approx(15.6)


@pytest.mark.parametrize("function", [by_squaring, by_scaling_itself, by_a_gate])
def test_others_are_refused_where_they_would_be_transposed(function: Callable[[float], float]) -> None:
    assert ad.grad(function)(1.3) == pytest.approx(5.07)
    assert ad.hessian(function)(1.3) == pytest.approx(7.8)
    for refused in (lambda: ad.jvp(function, (1.3,), (2.0,)), lambda: ad.grad(ad.grad(function))(1.3)):
        with pytest.raises(ad.DifferentiationError, match="AD0208"):
            refused()
