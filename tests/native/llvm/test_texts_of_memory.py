"""Texts of arrays, lists and objects: Python makes them where they stand, for memory changes, and ends."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


class Unit:
    def __str__(self) -> str:
        return "Tanh"


class Schedule:
    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.known = {"id": "constant", "rate": rate}

    def __str__(self) -> str:
        return f"Schedule({self.rate})"


def of_an_object_that_ends(x: np.ndarray) -> float:
    name = str(Unit()).lower()
    if name == "tanh":
        x = x * 2.0
    return float(np.sum(x * x))


def of_an_object_with_a_dict(x: np.ndarray) -> float:
    schedule = Schedule(0.5)
    if str(schedule) != "Schedule(0.5)":
        x = x * 2.0
    return float(np.sum(x * x))


def of_an_array_that_is_written(x: np.ndarray) -> float:
    x = x.copy()
    before, also = str(x[:2]), f"<{x[:2]}>"
    x[0] = 7.0
    print(before, also, repr(x[:2]))
    return float(np.sum(x * x))


def of_a_list_that_grows(x: np.ndarray) -> float:
    items = [1.0, 2.0]
    before = str(items)
    items.append(float(x[0]))
    print(before, f"{items}")
    return float(np.sum(x * x)) * items[2]


def joined(x: np.ndarray) -> float:
    told = ""
    for step in range(3):
        told = told + f"{step}: {x[:2]} {x.shape} {float(x[0]):.3f}"
        x = x * 1.5
    print(told)
    return float(np.sum(x * x))


def in_an_exception(x: np.ndarray) -> float:
    name = str(Unit())
    x = x * 2.0
    if x[0] > 1e9:
        raise ValueError("too large for " + name)
    return float(np.sum(x * x))


@pytest.mark.parametrize(
    "function",
    [
        of_an_object_that_ends,
        of_an_object_with_a_dict,
        of_an_array_that_is_written,
        of_a_list_that_grows,
        joined,
        in_an_exception,
    ],
)
@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
def test_texts_are_those_of_their_moment(
    function: Callable[[np.ndarray], float], capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.linspace(0.3, 1.3, 5)
    function(x.copy())
    told = capsys.readouterr().out
    gradient = ad.grad(function, native=True)
    expected = ad.grad(function)(x.copy())
    capsys.readouterr()
    for _ in range(50):
        np.testing.assert_allclose(gradient(x.copy()), expected)
        assert capsys.readouterr().out == told
    gc.collect()
