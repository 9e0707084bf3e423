"""Functions in parts give what they give as a whole."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch import call_cache, compiling, specialize
from adjoint.native.legalize import outlining
from adjoint.pipeline import TOUCH_UP
from adjoint.testing import clone, leaves
from numbers_of import numbers
from programs.registry import Case, collect

TOPICS = ("straight", "kernels", "views", "array_algorithms", "recursion_on_memory")
pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


@pytest.mark.parametrize(
    "case", [case for case in collect() if case.name.startswith(TOPICS)], ids=lambda case: case.name
)
def test_same_gradient(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, again = clone(case.arguments()), clone(case.arguments())
    wrt = tuple(place for place, argument in enumerate(arguments) if leaves(argument))
    if not isinstance(case.function(*clone(arguments)), (float, np.floating)) or not wrt:
        pytest.skip("not a function to a number")
    expected = numbers(ad.grad(case.function, wrt=wrt)(*arguments))
    monkeypatch.setattr(outlining, "LONGEST_FUNCTION", 6)
    monkeypatch.setattr(outlining, "SHORTEST_PART", 3)
    monkeypatch.setattr(outlining, "LONGEST_PART", 5)
    monkeypatch.setattr(specialize, "_tables", weakref.WeakKeyDictionary())
    monkeypatch.setattr(call_cache, "_known", {})
    monkeypatch.setattr(compiling, "TOUCH_UP", (*TOUCH_UP, "split-functions"))
    found = numbers(ad.grad(case.function, wrt=wrt)(*again))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def polynomial(x: float) -> float:
    y = 1.0 + x * x
    y = y * x + 2.0 * x
    y = y * y - x
    y = y * x + 3.0
    return y * y


def test_parts_are_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, length in (("LONGEST_FUNCTION", 6), ("SHORTEST_PART", 3), ("LONGEST_PART", 5)):
        monkeypatch.setattr(outlining, name, length)
    monkeypatch.setattr(specialize, "_tables", weakref.WeakKeyDictionary())
    monkeypatch.setattr(call_cache, "_known", {})
    monkeypatch.setattr(compiling, "TOUCH_UP", (*TOUCH_UP, "split-functions"))
    text = ad.source(ad.grad(polynomial), 1.5)
    assert text.count("\ndef polynomial_grad_part") >= 2
    assert len(set(line for line in text.splitlines() if line.startswith("def "))) == text.count("def ")
