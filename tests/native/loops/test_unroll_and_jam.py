"""Loops whose inner loops are chains, side by side in machine code: the same numbers for any number of iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import THOROUGH, check_grads

pytest.importorskip("llvmlite")

RNG = np.random.default_rng(5)
X = RNG.normal(size=7)


def polynomial_error(x, n):
    error = 0.0
    for i in range(n):
        t = -1.0 + 2.0 * i / (n + 1.5)
        value, power = 0.0, 1.0
        for j in range(len(x)):
            value += x[j] * power
            power *= t
        error += (np.sign(t) - value) ** 2
    return 0.5 * error


def rows_times(x, n):
    a = np.outer(np.arange(1.0, n + 1.0), x)
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(len(x)):
            total += a[i, j] * x[j]
        out[i] = total * total
    return np.sum(out)


def two_chains(x, n):
    total = 0.0
    for i in range(n):
        s = 0.1 * i
        for j in range(len(x)):
            s = 0.5 * s + x[j]
        u = 1.0
        for j in range(len(x) - 1, -1, -1):
            u = u * 0.9 + s * x[j]
        total += s * u
    return total


def through_places(x, n):
    places = np.arange(n * 3) % len(x)
    total = 0.0
    for i in range(1, n):
        p = 1.0
        for j in range(3):
            p = p * x[places[3 * i + j]] + 0.1
        total -= p
    return total


def long_as_the_index(x, n):
    total = 0.0
    for i in range(n):
        p = 1.0
        for j in range(min(i, len(x))):
            p = p * x[j] + 0.2
        total += p
    return total


def left_early(x, n):
    total = 0.0
    for i in range(n):
        p = 1.0 + i
        for j in range(len(x)):
            if p > 5.0:
                break
            p = p * 1.1 + x[j]
        total += p * p
    return total


def handed_on(x, n):
    state = 0.3
    for i in range(n):
        s = state
        for j in range(len(x)):
            s = 0.5 * s + x[j] / (i + 1)
        state = s
    return state


def in_one_array(x, n):
    a = np.zeros(n + 1)
    a[0] = x[0]
    for i in range(n):
        s = a[i]
        for j in range(len(x)):
            s = 0.4 * s + x[j]
        a[i + 1] = s
    return np.sum(a * a)


def own_work_array(x, n):
    total = 0.0
    for i in range(n):
        work = np.empty(len(x))
        p = 1.0 + 0.1 * i
        for j in range(len(x)):
            p = p * x[j] + 0.5
            work[j] = p
        for j in range(len(x)):
            total += work[j] * x[j]
    return total


def least_so_far(x, n):
    found, least = -1, np.inf
    for i in range(n):
        distance = 0.0
        for j in range(len(x)):
            distance += (x[j] - 0.3 * i + 0.2 * j) ** 2
        if distance < least:
            found, least = i, distance
    return (x[0] if found < 0 else least) * (found + 2)


def three_that_depend(x, n):
    best, second, last = 0.0, 0.0, 1.0
    for i in range(n):
        p = 1.0
        for j in range(len(x)):
            p = p * x[j] + 0.1 * i
        size = abs(p) + 0.01 * last
        if size > best:
            second = best
            best = size if size < 3.0 else 3.0 + 0.1 * size
        elif size > second:
            second = size * 0.9
        last = best - 0.5 * second
    return best + 2.0 * second + 3.0 * last


FUNCTIONS = [
    least_so_far,
    three_that_depend,
    polynomial_error,
    rows_times,
    two_chains,
    through_places,
    long_as_the_index,
    left_early,
    handed_on,
    in_one_array,
    own_work_array,
]


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_any_number_of_iterations(function: Callable[..., Any]) -> None:
    plain, native_form = (ad.value_and_grad(function, native=native) for native in (False, "strict"))
    forms = [native_form]
    if THOROUGH or function in (polynomial_error, least_so_far):
        forms.append(ad.value_and_grad(function, native="strict", fastmath=True))
    check_grads(function, (X, 6), wrt=0, order=1)
    for n in (*range(9), 16, 19, 21):
        value, gradient = plain(X, n)
        for run in forms:
            same(run(X, n)[0], value)
            same(run(X, n)[1], gradient)


@pytest.mark.parametrize("function", FUNCTIONS[:: 1 if THOROUGH else 2], ids=lambda f: f.__name__)
def test_parts_of_arrays_and_empty_ones(function: Callable[..., Any]) -> None:
    for x in (RNG.normal(size=20)[::-3], RNG.normal(size=(4, 6)).T[1], X[:0] if function not in EMPTY else X[:1]):
        same(ad.grad(function, native="strict")(x, 6), ad.grad(function)(x, 6))


EMPTY = (in_one_array, through_places)


@pytest.mark.parametrize("function", FUNCTIONS if THOROUGH else FUNCTIONS[1::2], ids=lambda f: f.__name__)
def test_second_derivatives(function: Callable[..., Any]) -> None:
    direction = np.cos(np.arange(len(X)))
    for run in (ad.grad(function, native=True), ad.grad(function)):
        found = ad.jvp(run, (X, 6), (direction, None))[1]
        expected = (ad.grad(function)(X + 1e-6 * direction, 6) - ad.grad(function)(X - 1e-6 * direction, 6)) / 2e-6
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.max(np.abs(expected)))


def text_for_machine(function: Callable[..., Any]) -> str:
    text = ad.grad(function, native="strict").specialized((X, 5), {}).call.emitted.text
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("function", [polynomial_error, rows_times, two_chains, through_places, own_work_array])
def test_side_by_side(function: Callable[..., Any]) -> None:
    assert ", 4):" in text_for_machine(function)


@pytest.mark.parametrize("function", [least_so_far, three_that_depend])
def test_what_follows_the_chains_is_done_in_order(function: Callable[..., Any]) -> None:
    compiled = ad.compile(function, native="strict")
    text = compiled.specialized((X, 5), {}).call.emitted.text
    group, left = text.split(", 4):")[1].split("for ", 2)[1:]
    assert group.count("if ") >= 4 > left.count("if ")
    for n in range(10):
        assert compiled(X, n) == pytest.approx(function(X, n), rel=1e-13)


def test_the_first_of_equals_and_what_is_not_a_number() -> None:
    def nearest(rows, x):
        found, least = -1, np.inf
        for i in range(len(rows)):
            distance = 0.0
            for j in range(len(x)):
                distance += (rows[i, j] - x[j]) ** 2
            if distance < least:
                found, least = i, distance
        return found

    compiled = ad.compile(nearest, native="strict")
    rows = RNG.integers(0, 2, size=(11, 2)).astype(float)
    rows[3] = np.nan
    for n in range(12):
        for x in (np.zeros(2), np.ones(2), np.array([0.5, 0.5]), np.array([np.nan, 0.0])):
            assert compiled(rows[:n], x) == nearest(rows[:n], x)
    text = compiled.specialized((rows, x), {}).call.emitted.text
    assert text.count("rows[unsigned(") == 5 and "rows[i" not in text  # also what groups of four leave over


def test_what_is_left_of_a_number_may_be_negative() -> None:
    def picked(x, n):
        return x[n - n % 4] * x[len(x) - len(x) % 3 - 1]

    compiled = ad.grad(picked, native="strict")
    for n in (-3, -1, 0, 3):
        for x in (X, X[:5], np.append(X, 2.0)):
            np.testing.assert_array_equal(compiled(x, n), ad.grad(picked)(x, n))


def writes_what_it_found(x, n):
    found, least = np.zeros(n + 1), np.inf
    for i in range(n):
        distance = 0.0
        for j in range(len(x)):
            distance += (x[j] - i) ** 2 * (1.0 + found[i])
        if distance < least:
            least = distance
        found[i + 1] = 0.1 * least
    return np.sum(found)


@pytest.mark.parametrize("function", [long_as_the_index, left_early, handed_on, in_one_array, writes_what_it_found])
def test_one_after_the_other(function: Callable[..., Any]) -> None:
    assert ", 4):" not in text_for_machine(function)


def turned(x, n):
    """Products of matrices of two rows, which do not commute: neither do the steps of the reverse sweep."""
    u, v = x[0], x[1]
    for i in range(n):
        c = 1.0
        for _ in range(3):
            c = c * 0.5 + 0.1 * i
        u, v = u * c, v + 0.3 * u * i
    return u * v


@pytest.mark.each_time
@pytest.mark.parametrize("n", [3, 9])
def test_what_a_sweep_carries_back_stays_in_order(n: int) -> None:
    found, expected = ad.grad(turned, native="strict")(X, n), ad.grad(turned)(X, n)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
