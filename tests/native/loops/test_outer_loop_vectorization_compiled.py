"""Iterations whose inner loops are chains, as bundles in machine code."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from native.loops.chains import Chains
from sampling import THOROUGH, check_grads

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

LENGTHS = (0, 1, 15, 16, 17, 20, 39)
C = np.random.default_rng(7).uniform(-0.9, 0.9, size=5)


def points(count: int) -> np.ndarray:
    return np.random.default_rng(count).uniform(0.2, 0.9, size=count)


def polynomials(x, c):
    out = np.empty(len(x))
    for i in range(len(x)):
        value = 0.0
        for j in range(len(c)):
            value = value * x[i] + c[j]
        out[i] = value
    return np.sum(out * out)


def pendulums(x, c):
    total = 0.0
    for i in range(len(x)):
        angle, speed = x[i], 0.0
        for j in range(len(c)):
            speed = speed - 0.1 * np.sin(angle) * c[j]
            angle = angle + 0.1 * speed
        total += angle * angle
    return total


def roots(x, c):
    total = 1.0
    for i in range(len(x)):
        square, root = 2.0 + x[i], 1.0 + x[i] * x[i]
        for _ in range(len(c)):
            root = 0.5 * (root + square / root)
        total -= root
    return total


def all_functions(x, c):
    out = np.zeros(len(x))
    for i in range(len(x)):
        p = x[i]
        for j in range(len(c)):
            p = np.exp(-p * p) + np.log(2.0 + np.cos(p)) * np.tanh(c[j] * p)
            p = p - np.sqrt(1.0 + abs(p)) * np.sign(p) + (2.0 + p * p) ** 0.7 * p**3
            p = p / (p * p + 1.5) + p**-2 / (1.0 + p**-2)
        out[i] += p
        out[i] -= 0.5
    return out @ out


def counted(x, c):
    total, count = 0.0, 0
    for i in range(3, len(x)):
        p = 0.01 * i
        for j in range(len(c)):
            p = p * c[j] + i / 50.0
        total += i * p * x[0]
        count += 2
    return total * count


def shared_places(x, c):
    at = np.zeros((2, len(c)))
    for i in range(len(x)):
        p = x[i]
        for j in range(len(c)):
            p = 0.8 * p + c[j]
            at[0, j] += p
            at[1, -1] -= p * p
    return np.sum(at * at)


def own_work(x, c):
    found = np.zeros((len(x), 2))
    for i in range(len(x)):
        work = np.zeros(len(c))
        p = 0.5
        for j in range(len(c)):
            p = p * x[i] + c[j]
            work[j] += p
        q = 1.0
        for j in range(len(c) - 1, -1, -1):
            q = 0.5 * q + work[j] * work[0]
        found[i, 1] = q
        found[i, 0] = i
    return np.sum(found * found)


def deep(x, c):
    total = 0.0
    for k in range(2):
        for i in range(len(x)):
            p = 0.1 * k
            for j in range(len(c)):
                for _ in range(2):
                    p = 0.5 * p + c[j] * x[i]
                if k > 0:
                    p = 0.9 * p
            total += p * p
    return total


def numbers_of_python(x, c):
    total = 0.0
    for i in range(len(x)):
        p, q = 1.0 / (i + 0.5), 0.3
        for j in range(1, len(c) + 1):
            p = math.exp(-p * p) + math.log(2.0 + math.cos(p)) * math.tanh(p / j)
            q = p**2 / (1.0 + q * q) + math.sqrt(1.0 + abs(q)) * 2.0**-q + math.pow(1.5 + p, 1.5) / j
        total += p * x[i] + q * c[0]
    return total


def choices(x, c):
    at, total = np.zeros(len(c)), 0.0
    for i in range(len(x)):
        p, work = x[i], np.ones(len(c))
        for j in range(len(c)):
            if p > 0.3 and p < 0.8:
                p = p * c[j] + np.sin(x[i])
                at[j] += p
            elif i > 20 or not p > c[j]:
                work[j] = p
                p = p + 0.3 if p * p > 0.1 else 0.1 * p
            p = (
                min(p, 3.0)
                - max(-0.5, min(p, 0.5 * p))
                + np.maximum(0.1 * p, np.minimum(x[i], p)) * np.clip(p, 0.1, 1.4)
            )
            if p > 100.0:
                p = p * c[j + len(c)] * (j % (len(c) - 5))
        for j in range(len(c)):
            p += work[j] * c[j]
        total += p * p
    return total + at @ c


FUNCTIONS = [
    polynomials,
    pendulums,
    roots,
    all_functions,
    counted,
    shared_places,
    own_work,
    deep,
    numbers_of_python,
    choices,
]


def text_for_machine(run: Any, *arguments: Any) -> str:
    text = run.specialized(arguments, {}).call.emitted.text
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_any_number_of_iterations(function: Callable[..., Any]) -> None:
    plain = ad.value_and_grad(function, wrt=(0, 1))
    check_grads(function, (points(18), C), order=1)
    for options in ({}, {"fastmath": True}) if function is polynomials or THOROUGH else ({},):
        run = ad.value_and_grad(function, wrt=(0, 1), native="strict", **options)
        for length in LENGTHS if function is not counted else LENGTHS[1:]:
            x = points(length)
            (value, gradient), (expected, changes) = run(x, C), plain(x, C)
            np.testing.assert_allclose(value, expected, rtol=1e-12)
            for one, other in zip(gradient, changes, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)
    assert "bundle" in text_for_machine(run, x, C)


@pytest.mark.parametrize("function", FUNCTIONS[:: 3 if THOROUGH else 6], ids=lambda f: f.__name__)
def test_the_program_itself_and_second_derivatives(function: Callable[..., Any]) -> None:
    x = points(21)[::-1]
    assert ad.compile(function, native="strict")(x, C) == pytest.approx(function(x, C), rel=1e-13)
    along = np.cos(np.arange(21.0))
    found = ad.hvp(function, (x, C), (along, None), native="strict")[0]
    np.testing.assert_allclose(found, ad.hvp(function, (x, C), (along, None))[0], rtol=1e-9, atol=1e-9)


def test_what_is_not_a_number_stays_in_its_iteration() -> None:
    x = points(40)
    x[3], x[20], x[35], x[39] = np.nan, np.inf, 1e200, 1e7
    with np.errstate(all="ignore"):
        for function in (pendulums, all_functions) if THOROUGH else (all_functions,):
            found, expected = (ad.grad(function, native=native)(x, C) for native in ("strict", False))
            np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
            sure = np.isfinite(expected)
            np.testing.assert_allclose(found[sure], expected[sure], rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_random_programs(seed: int) -> None:
    program = Chains(seed)
    function, arguments = program.function(), program.arguments()
    found, expected = (ad.value_and_grad(function, wrt=(0, 1, 2, 3), native=n)(*arguments) for n in ("strict", False))
    assert found[0] == pytest.approx(expected[0], rel=1e-11)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def whole_numbers(x, c):
    total = 0.0
    for i in range(len(x)):
        p = x[i % 3]
        for j in range(len(c)):
            p = p * c[j] + 0.1
        total += p
    return total


def counted_on(x, c):
    total = 0.0
    for i in range(len(x)):
        p, k = x[i], i
        for j in range(len(c)):
            p = p * c[j] + 0.1 * k
            k += 1
        total += p * p
    return total


def from_below(x, c):
    total = 0.0
    for i in range(-3, len(x)):
        p = 0.5
        for j in range(len(c)):
            p = p * x[i] + c[j]
        total += p
    return total


def refused_on_one_side(x, c):
    total = 0.0
    for i in range(len(x)):
        p = 0.1 * i
        for j in range(len(c)):
            p = 1.0 / p if p > 0.5 else p + 0.4
        total += p * x[i]
    return total


def counted_on_one_side(x, c):
    total = 0.0
    for i in range(len(x)):
        p, k = x[i], 0
        for j in range(len(c)):
            p = 0.9 * p + c[j]
            if p > 0.3:
                k += 1
        total += p * p * c[k % 5]
    return total


def shorter_than_the_loop(x, c):
    total = 0.0
    for i in range(len(x)):
        p = 0.1 * i
        for j in range(3):
            if i < len(c):
                p = p * c[i] + 0.1
        total += p * x[i]
    return total


@pytest.mark.parametrize(
    "function",
    [
        whole_numbers,
        counted_on,
        from_below,
        refused_on_one_side,
        counted_on_one_side,
        shorter_than_the_loop,
    ],
)
def test_one_after_the_other(function: Callable[..., Any]) -> None:
    x = points(39)
    run = ad.grad(function, native="strict")
    np.testing.assert_allclose(run(x, C), ad.grad(function)(x, C), rtol=1e-11)
    assert "bundle" not in text_for_machine(run, x, C)


def refused(x, c, kind):
    total = 0.0
    for i in range(len(x)):
        p = 0.5
        for j in range(len(c)):
            p = 0.5 * p + j
            if kind == 0:
                p = p + 1.0 / (i - 20.0)
            elif kind == 1:
                p = p + math.log(20.0 - i)
            elif kind == 2:
                p = p + math.exp(36.0 * i)
            else:
                p = p + (1e5 + i) ** (2.0 * i)
        total += p * x[i]
    return total


@pytest.mark.parametrize("kind", range(4))
def test_what_python_refuses(kind: int) -> None:
    x, run = points(39), ad.grad(refused, native="strict")
    with pytest.raises((ArithmeticError, ValueError)) as expected:
        refused(x, C, kind)
    with pytest.raises(expected.type, match=re.escape(str(expected.value))):
        run(x, C, kind)
    np.testing.assert_allclose(run(x[:19], C, kind), ad.grad(refused)(x[:19], C, kind), rtol=1e-10)
    assert "bundle" in text_for_machine(run, x, C, kind)


def on_the_border(x, c):
    total = 0.0
    for i in range(len(x)):
        p, q = 0.01 * i, x[i]
        for j in range(len(c)):
            q = 0.5 * q + c[j] * x[i] if p > 0.3 else 0.3 * q
            p = 0.01 * i
        total += q
    return total


def test_numbers_of_iterations_are_what_they_are_whatever_is_reordered() -> None:
    x = points(48)
    found = ad.grad(on_the_border, native="strict", fastmath=True)(x, C)
    np.testing.assert_allclose(found, ad.grad(on_the_border)(x, C), rtol=1e-11)


def beyond_the_end(x, tall, c, n):
    total = 0.0
    for i in range(n):
        p = x[i]
        for j in range(len(c)):
            p = p * c[j] * p + tall[i, j]
        total += p * p
    return total


def test_elements_that_are_not_there() -> None:
    run = ad.grad(beyond_the_end, native="strict", boundscheck=True)
    x, tall = points(40), np.ones((60, 5))
    np.testing.assert_allclose(run(x, tall, C, 40), ad.grad(beyond_the_end)(x, tall, C, 40), rtol=1e-12)
    for rows, n, columns in ((60, 41, 5), (60, 48, 5), (16, 40, 5), (60, 32, 4)):
        with pytest.raises(IndexError):
            run(x, tall[:rows, :columns], C, n)


def numbers_added_up(x, c):
    total, count = 0.0, 0
    for i in range(len(x)):
        p = 0.1 * i
        for j in range(len(c)):
            p = p * c[j] + 0.1 * x[i]
        total += p * p
        count += i
    return total, count


def test_whole_numbers_stay_whole() -> None:
    total, count = ad.compile(numbers_added_up, native="strict")(points(39), C)
    assert (type(count), count) == (int, 741)
    assert total == pytest.approx(numbers_added_up(points(39), C)[0], rel=1e-13)


def test_numbers_of_half_the_size() -> None:
    x = points(39).astype(np.float32)
    found, expected = (ad.grad(polynomials, native=native)(x, C) for native in ("strict", False))
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4)
