"""Paths on which a function of numbers would be called with None: they raise, and leave the others to machine code."""

from __future__ import annotations

import math

import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


def arc(x: float, k: int) -> tuple[float | None, float | None]:
    if x < k:
        return None, None
    return x * k + 1, x * x


def shortest(x: float, y: float) -> float:
    best, turn, least = None, None, 1e9
    for k in range(3):
        length, angle = arc(x, k)
        if length is None:
            continue
        if length * y < least:
            least = length * y
            best, turn = length, angle
    return math.cos(best) * y + math.sin(turn / y) * best  # type: ignore[arg-type, operator]


def chosen(x: float, k: int) -> float:
    best = None if k > 1 else x
    return math.cos(best)  # type: ignore[arg-type]


def test_they_compile() -> None:
    assert ad.grad(shortest, native=True)(1.5, 2.0) == pytest.approx(ad.grad(shortest)(1.5, 2.0), rel=1e-14)
    assert ad.grad(chosen, native=True)(1.5, 1) == pytest.approx(-math.sin(1.5))
    for derive in (chosen, ad.grad(chosen), ad.grad(chosen, native=True)):
        with pytest.raises(TypeError):
            derive(1.5, 2)
