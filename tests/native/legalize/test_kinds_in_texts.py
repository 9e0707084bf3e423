"""Texts of numbers of several kinds: machine code has one kind for them, and Python writes ``3`` or ``3.0``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad


def of_a_choice(x: float) -> float:
    number = 3 if x > 1.0 else 3.0
    return x * 2.0 if str(number) == "3" else x * 3.0


def of_a_truth(x: float) -> float:
    number = True if x > 1.0 else 1
    return x * 2.0 if repr(number) == "True" else x * 3.0


def of_an_item(x: float) -> float:
    items = [1]
    items.append(3 if x > 1.0 else 3.0)  # type: ignore[arg-type]
    return x * 2.0 if f"{items[-1]}" == "3" else x * 3.0


def of_what_is_computed(x: float) -> float:
    number = 3 if x > 1.0 else 3.0
    return x * len("%s" % (number * 2))


def of_a_sum(x: float) -> float:
    total = 0
    for i in range(3 if x > 1.0 else 0):
        total += x * i  # type: ignore[assignment]
    return x * len(f"{total}")


def beside_several_results(x: float) -> float:
    mantissa, _ = math.frexp(3 if x > 1.0 else 3.0)
    return x * mantissa * len(f"{x:.1f}")


def of_what_floats_make_a_float(x: float) -> float:
    number = 3 if x > 1.0 else 3.0
    return x * len(str(number * 0.5)) if number < 100 else refused(number)


def refused(number: float) -> float:
    raise ValueError(f"{number} is too large")


UNCLEAR: list[Callable[[float], Any]] = [of_a_choice, of_a_truth, of_an_item, of_what_is_computed, of_a_sum]


@pytest.mark.parametrize("x", [2.0, 0.5])
@pytest.mark.parametrize("f", [*UNCLEAR, of_what_floats_make_a_float])
def test_texts_are_those_of_python(f: Callable[[float], Any], x: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ad.grad(f, native=True)(x) == pytest.approx(f(x) / x)


@pytest.mark.parametrize("f", UNCLEAR)
def test_no_machine_code_makes_them(f: Callable[[float], Any]) -> None:
    with pytest.raises(ad.DifferentiationError, match="may be of several kinds"):
        ad.grad(f, native="strict")(2.0)


def test_other_texts_and_messages_are_compiled() -> None:
    assert ad.grad(of_what_floats_make_a_float, native="strict")(2.0) == 3.0
    assert ad.grad(beside_several_results, native="strict")(2.0) == 2.25
