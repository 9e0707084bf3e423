"""Sums of arrays that loops carry grow in place, where nobody sees what they were before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from native.machine_form import machine_text

pytest.importorskip("llvmlite")


def summed(x: np.ndarray, y: np.ndarray) -> float:
    """Where it starts from is read once more, behind the loop."""
    s = x * 2.0
    for i in range(5):
        s = s + y * i
        s = s - x
    return np.sum(s * s * y)


def from_an_argument(x: np.ndarray, y: np.ndarray) -> float:
    s = x
    for i in range(4):
        s = y * i + s
    return np.sum(s * x)


def in_two_loops(x: np.ndarray, y: np.ndarray) -> float:
    s = x
    for i in range(3):
        for j in range(4):
            s = s + y * (i + j)
        s = s + x
    return np.sum(s * x)


def stretched(x: np.ndarray, y: np.ndarray) -> float:
    """The sum has more rows than what it starts from."""
    s = x[:1]
    for i in range(3):
        s = s + y * i
    return np.sum(s * y)


def read_meanwhile(x: np.ndarray, y: np.ndarray) -> float:
    s, total = x, 0.0
    for i in range(3):
        s = s + y * i
        total += np.sum(s * y)
    return total


def kept(x: np.ndarray, y: np.ndarray) -> float:
    s, before = x, []
    for i in range(3):
        before.append(s)
        s = s + y * i
    return np.sum(before[1] * s) + np.sum(before[0])


def swapped(x: np.ndarray, y: np.ndarray) -> float:
    """Each sum becomes the other one."""
    s, t = x, y
    for i in range(3):
        s, t = t + x, s + y * i
    return np.sum(s * t * x)


PROGRAMS = (summed, from_an_argument, in_two_loops, stretched, read_meanwhile, kept, swapped)
X, Y = np.random.default_rng(5).normal(size=(2, 4, 3))


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program: Any) -> None:
    x, y = X.copy(), Y.copy()
    expected = ad.value_and_grad(program, wrt=(0, 1))(x, y)
    derivative = ad.value_and_grad(program, wrt=(0, 1), native="strict")
    for _ in range(2):
        value, gradient = derivative(x, y)
        np.testing.assert_allclose(value, expected[0], rtol=1e-13)
        for one, other in zip(gradient, expected[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
    assert np.array_equal(x, X) and np.array_equal(y, Y)


@pytest.mark.parametrize("program", [summed, from_an_argument])
def test_no_iteration_makes_an_array(program: Any) -> None:
    text = machine_text(ad.grad(program, wrt=(0, 1), native=True), X, Y)
    inside = [line for line in text.splitlines() if line.startswith(" " * 8)]
    assert inside and not any("empty" in line or "copy" in line for line in inside)
