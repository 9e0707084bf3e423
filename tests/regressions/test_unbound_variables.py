"""A variable that is not bound is an UnboundLocalError, also in a derivative that does not need its value."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad


def gap(reynolds: float) -> float:
    if reynolds < 1.0:
        drag = 24.0 / reynolds
    elif reynolds < 1000.0:
        drag = 24.0 / reynolds * (1.0 + 0.15 * reynolds**0.687)
    return drag * 2.0


def one_branch(x: float) -> float:
    if x < 1.0:
        y = x * x
    return y


def empty_loop(x: float) -> float:
    for _ in range(int(x)):
        y = x * x
    return y * x


@pytest.mark.parametrize(("program", "x"), [(gap, 2000.0), (one_branch, 2.0), (empty_loop, 0.5)])
@pytest.mark.parametrize("native", [False, True])
def test_it_raises(program: Any, x: float, native: bool) -> None:
    ways = (
        lambda: program(x),
        lambda: ad.grad(program, native=native)(x),
        lambda: ad.value_and_grad(program, native=native)(x),
        lambda: ad.jvp(program, (x,), (1.0,), native=native),
        lambda: ad.vjp(program, x, native=native),
        lambda: ad.hessian(program, native=native)(x),
    )
    for way in ways:
        with pytest.raises(UnboundLocalError, match=r"cannot access local variable '(drag|y)'"):
            way()


def test_where_it_is_bound() -> None:
    assert ad.grad(gap)(0.5) == pytest.approx(-192.0)
    assert ad.grad(one_branch)(0.5) == 1.0
    assert ad.grad(empty_loop)(2.0) == 12.0


def bent(x: float) -> float:
    return abs(x) * x


@ad.derivative_of(bent)
def bent_derivative(x: float) -> Any:
    if x > 0:
        return x * x, lambda ct: 2.0 * x * ct
    y = -x

    def pullback(ct: float) -> float:
        return ct * 2.0 * y

    return x * y, pullback


@pytest.mark.parametrize("native", [False, True])
def test_what_one_of_two_pullbacks_captures(native: bool) -> None:
    assert ad.grad(bent, native=native)(0.7) == pytest.approx(1.4)
    assert ad.grad(bent, native=native)(-0.7) == pytest.approx(1.4)
