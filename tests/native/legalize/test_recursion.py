"""Derivatives of recursive functions in machine code: each level runs once, and gives what Python gives."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from golden.programs import halves_sorted
from sampling import THOROUGH, check_grads

pytest.importorskip("llvmlite")

X = np.array([1.3, -0.4, 0.7, 2.1, 0.6])


def minor(a, row, used):
    total, sign = 0.0, 1.0
    for column in range(len(a)):
        if not used >> column & 1:
            if row == len(a) - 1:
                total += a[row, column]
            else:
                total += sign * a[row, column] * minor(a, row + 1, used | 1 << column)
            sign = -sign
    return total


def chain(x, n):
    if n == 0:
        return 1.0
    return x[n - 1] * chain(x, n - 1)


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def two_below(x, n):
    if n < 2:
        return x[n] ** 2
    return x[n] * two_below(x, n - 1) - 0.5 * two_below(x, n - 2)


def counted(x, n):
    total, step = 0.0, 1
    for i in range(len(x)):
        step = step * 3 % 7
        total += x[i] * step
        if n > 0:
            total += 0.1 * step * x[i] * counted(x, n - 1)
    return total


def polynomial(x, y, n):
    if n == 0:
        return x[0] + y[-1]
    return y[n] * polynomial(x, y, n - 1) + x[n] ** 2


def pair(x, n):
    if n == 0:
        return x[0], x[1]
    p, q = pair(x, n - 1)
    return x[n] * p + q, q - p * x[0]


def first_of_pair(x, n):
    return pair(x, n)[0]


def product_of_pair(x, n):
    p, q = pair(x, n)
    return p * q


TOGETHER = [
    (minor, (np.random.default_rng(1).normal(size=(4, 4)), 0, 0)),
    (chain, (X, 5)),
    (power, (1.1, 7)),
    (two_below, (X, 4)),
    (counted, (X, 2)),
    (polynomial, (X, X[::-1] * 0.5, 4)),
    (first_of_pair, (X, 4)),
    (product_of_pair, (X, 4)),
]
"""Cotangents of the inner calls do not depend on their results."""


def sines(x, n):
    return x[0] if n == 0 else math.sin(x[n] * sines(x, n - 1))


def product_of_two(x, n):
    if n < 2:
        return x[n]
    return product_of_two(x, n - 1) * product_of_two(x, n - 2)


def squared_sum(x, n):
    total = 0.0
    for i in range(n):
        t = squared_sum(x, i)
        total += x[i] * t + 0.1 * t * t
    return total + x[n]


def written_after(x, n):
    if n == 0:
        return x[0] * x[1]
    b = x * 1.1
    t = written_after(b, n - 1)
    b[1] = 5.0 * x[2]
    return t * b[1] + b[0]


def written_between(x, n):
    if n == 0:
        return x[0] * x[1]
    b = x.copy()
    t = written_between(b, n - 1)
    b[0] = x[1] * 2.0
    return t * x[2] + 0.3 * written_between(b, n - 1)


def even(x, n):
    return x[0] if n == 0 else x[n] * odd(x, n - 1)


def odd(x, n):
    return x[1] ** 2 if n == 0 else x[n] + 2.0 * even(x, n - 1)


def refused(x, n):
    if n > len(x):
        raise ValueError("too deep")
    return 1.0 if n == 0 else x[n - 1] * refused(x, n - 1)


OTHERS = [
    (sines, (X, 4)),
    (product_of_two, (X, 4)),
    (squared_sum, (X, 4)),
    (written_between, (X, 3)),
    (even, (X, 4)),
    (written_after, (X, 3)),
    (refused, (X, 4)),
]


def same(found: Any, expected: Any) -> None:
    for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def varying(args: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(place for place, arg in enumerate(args) if not isinstance(arg, int))


def gradients(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    wrt = varying(args)
    return ad.value_and_grad(function, wrt, native=True), ad.value_and_grad(function, wrt)


@pytest.mark.parametrize(("function", "args"), TOGETHER + OTHERS)
def test_as_in_python(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    native, interpreted = gradients(function, args)
    (value, found), (expected_value, expected) = native(*args), interpreted(*args)
    same(value, expected_value)
    for one, other in zip(found, expected, strict=True):
        same(one, other)
    check_grads(function, args, order=1, wrt=varying(args))


@pytest.mark.parametrize(("function", "args"), TOGETHER)
def test_function_is_not_called_besides(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    text = ad.source(ad.grad(function, varying(args), native=True), *args)
    adjoints = re.findall(r"^def \w+_adjoint.*?(?=^def |\Z)", text, re.MULTILINE | re.DOTALL)
    assert adjoints
    for body in adjoints:
        called = set(re.findall(r"(\w+)\(", body)) - {"range", "len", "enumerate"}
        assert all("_adjoint" in name for name in called), body


@pytest.mark.parametrize(("function", "args"), (TOGETHER + OTHERS[:5])[:: 1 if THOROUGH else 2])
def test_second_derivatives(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    directions = tuple(
        None if isinstance(arg, int) else np.cos(np.arange(np.size(arg))).reshape(np.shape(arg))[()] for arg in args
    )
    native, interpreted = (
        ad.jvp(ad.grad(function, varying(args), native=compiled), args, directions) for compiled in (True, False)
    )
    for one, other in zip(native, interpreted, strict=True):
        same(one, other)


@pytest.mark.parametrize("shape", ["strided", "fortran", "empty", "one"])
def test_layouts(shape: str) -> None:
    dense = np.random.default_rng(0).normal(size=(8, 8))
    a = {
        "strided": dense[::2, ::-2],
        "fortran": np.asfortranarray(dense[:4, :4]),
        "empty": dense[:0, :0],
        "one": dense[:1, 3:4],
    }[shape]
    native = ad.value_and_grad(minor, native=True)(a, 0, 0)
    value, gradient = ad.value_and_grad(minor)(a, 0, 0)
    assert native[0] == value
    np.testing.assert_allclose(native[1], gradient, rtol=1e-12)
    if a.size:
        np.testing.assert_allclose(value, np.linalg.det(a), rtol=1e-9)


def test_one_array_for_two_parameters() -> None:
    def f(x, y):
        return polynomial(x, y, 4)

    native, interpreted = ad.grad(f, (0, 1), native=True), ad.grad(f, (0, 1))
    for found, expected in zip(native(X, X), interpreted(X, X), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_errors_are_those_of_python() -> None:
    with pytest.raises(ValueError, match="too deep"):
        ad.grad(refused, native=True)(X, 9)


def test_time_grows_with_depth_only() -> None:
    calls = ad.source(ad.grad(chain, native=True), X, 5).count("chain_adjoint(")
    assert calls == 3  # where it starts, the definition, and one level


KEPT = """
import numpy as np
import adjoint as ad


def rows(x, n):
    return x if n == 0 else x * rows(x * 0.9, n - 1)


def sum_of_rows(x, n):
    return np.sum(rows(x, n))


def test(native):
    return ad.grad(sum_of_rows, native=native)(np.arange(5.0), 3)


assert (test("strict") == test(False)).all()
"""


def test_a_second_process_finds_nothing_that_crashes(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(KEPT)
    for _ in range(2):
        folders = os.pathsep.join(sys.path)
        env = {**os.environ, "ADJOINT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": folders}
        run = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr


def test_lists_that_are_returned():
    def f(x):
        items = []
        for item in x:
            items.append(item * item)
        return sum(k * item for k, item in enumerate(halves_sorted(items)))

    compiled = ad.value_and_grad(f, native="strict")(X)
    assert compiled[0] == pytest.approx(f(X))
    np.testing.assert_allclose(compiled[1], ad.grad(f)(X))
