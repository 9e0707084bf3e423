"""The form of derivatives for machine code, run by Python: it gives what the ordinary form gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import clone, leaves
from golden.programs import by_heun
from native.machine_form import machine_text
from numbers_of import numbers
from programs.registry import Case, collect
from sampling import THOROUGH, is_chosen

pytestmark = [
    pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning"),
    pytest.mark.usefixtures("machine_form"),
]


UNTYPED = ("kernels.sinkhorn",)
"""Programs with a cotangent that is a number in one iteration and an array in the next: Numba refuses them."""
CASES = [case for case in collect() if case.name not in UNTYPED]
"""All programs of the corpus, but these."""
BY_GRADIENT = [case for case in CASES if is_chosen(case.name, 3)]
BY_PULLBACK = [case for case in CASES if THOROUGH or (is_chosen(case.name, 2) and case not in BY_GRADIENT)]
"""Of programs that give numbers, those of which the gradient is looked at each time, and those of which a pullback."""


def same(found: Any, expected: Any, arguments: Any) -> None:
    """Compares but for what the order of a sum makes of it."""
    single = any(np.asarray(part).dtype == np.float32 for part in numbers(arguments))
    np.testing.assert_allclose(found, expected, rtol=1e-6 if single else 1e-9, atol=1e-12)


@pytest.mark.parametrize("case", BY_GRADIENT, ids=lambda case: case.name)
def test_same_gradient(case: Case) -> None:
    arguments, again = clone(case.arguments()), clone(case.arguments())
    wrt = tuple(place for place, argument in enumerate(arguments) if leaves(argument))
    if not isinstance(case.function(*clone(arguments)), (float, np.floating)) or not wrt:
        pytest.skip("not a function to a number")
    expected = numbers(ad.grad(case.function, wrt=wrt)(*arguments))
    found = numbers(ad.grad(case.function, wrt=wrt, native=True)(*again))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        same(one, other, arguments)
    for after, before in zip(again, arguments, strict=True):
        for one, other in zip(leaves(after), leaves(before), strict=True):
            np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_pullback(case: Case) -> None:
    arguments, again = clone(case.arguments()), clone(case.arguments())
    value = case.function(*clone(arguments))
    if not isinstance(value, (float, np.floating, np.ndarray)) or not np.issubdtype(
        np.asarray(value).dtype, np.floating
    ):
        pytest.skip("not a function to a number or an array")
    if isinstance(value, (float, np.floating)) and case not in BY_PULLBACK:
        pytest.skip("its gradient is looked at, or 'make thorough' does")
    value, pullback = ad.vjp(case.function, *arguments)
    cotangent = np.cos(np.arange(np.size(value))).reshape(np.shape(value)) if np.ndim(value) else 0.7
    expected = numbers(pullback(cotangent))
    second, other_pullback = ad.vjp(case.function, *again, native=True)
    same(second, value, arguments)
    for found in (numbers(other_pullback(cotangent)), numbers(other_pullback(cotangent))):
        for one, other in zip(found, expected, strict=True):
            same(one, other, arguments)


def test_what_is_filled_anew_each_time_is_not_cleared() -> None:
    arguments = [np.linspace(0.5, -0.7, count) for count in (1, 2, 3, 7)]
    expected = [ad.grad(by_heun)(x, 10) for x in arguments]
    gradient = ad.grad(by_heun, native=True)
    for x, slope in zip(arguments, expected, strict=True):
        np.testing.assert_allclose(gradient(x, 10), slope, rtol=1e-12)
    text = machine_text(gradient, arguments[-1], 10)
    assert len(re.findall(r"\bt_bar\w*\[unsigned\(i\)\] = 0\.0", text)) == 1  # the last place, to which no slope adds
    assert text.count("_rows = ") == 1 and text.count(".append(") == 1  # of the states, the first is made elsewhere


def test_sums_of_a_loop_over_all_places_are_stored() -> None:
    def f(x, steps):
        total = 0.0
        for _ in range(steps):
            work = np.zeros(len(x))
            for i in range(len(x)):
                work[i] -= x[i] * x[i]
            total += work[0] * work[-1]
        return total

    value = ad.compile(f, native=True)
    assert value(np.array([2.0, 5.0, 3.0]), 4) == 144.0
    text = machine_text(value, np.array([2.0, 5.0, 3.0]), 4)
    assert "work[unsigned(i)] = -" in text and "work[...]" not in text


def test_what_is_read_before_it_is_filled_is_cleared() -> None:
    def f(x, steps):
        total, work = 0.0, np.zeros(len(x))
        for _ in range(steps):
            total += work[1] * work[2]
            for i in range(len(x)):
                work[i] = x[i] * x[i]
            work[2] = work[1] * x[0]
        return total

    def expected(a, b):
        return np.array([3 * b**4, 12 * a * b**3, 0.0])

    np.testing.assert_allclose(ad.grad(f, native=True)(np.array([0.5, 1.5, -0.7]), 4), expected(0.5, 1.5), rtol=1e-12)


@pytest.mark.parametrize("columns", [3, 5])
def test_known_places_are_stored_and_those_behind_them_cleared(columns: int) -> None:
    def f(row):
        return row[2] * row[0] - row[1] * row[1] * row[0]

    def gradients(rows):
        found = np.empty_like(rows)
        for i in range(len(rows)):
            found[i] = ad.grad(f)(rows[i])
        return found

    rows = np.random.default_rng(3).normal(size=(4, columns))
    compiled = ad.compile(gradients, native=True)
    a, b, c = rows[:, 0], rows[:, 1], rows[:, 2]
    rest = [np.zeros(4)] * (columns - 3)
    np.testing.assert_allclose(compiled(rows), np.stack([c - b * b, -2 * a * b, a, *rest], axis=1), rtol=1e-12)
    text = machine_text(compiled, rows)
    assert "_bar[...]" not in text and "t_bar[0] = " in text and "t_bar[2] = " in text
