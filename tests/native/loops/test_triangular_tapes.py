"""What loops in triangles keep for the reverse sweep lies in arrays by machine code: the longest side bounds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.9, -0.4, 1.3, 0.7, -1.1, 0.2, 0.5])


def below(x):
    total = 1.0
    for i in range(len(x)):
        for j in range(i):
            total = np.sin(total * x[j] + x[i])
    return total


def up_to_it(x):
    total = 1.0
    for i in range(len(x)):
        for j in range(i + 1):
            total = np.sin(total * x[j] + x[i])
    return total


def shrinking(x):
    n, total = len(x), 1.0
    for i in range(n):
        for j in range(n - i - 1):
            total = np.sin(total * x[j] + x[i + j])
    return total


def backward_induction(x):
    v = x.copy()
    for t in range(len(x) - 2, -1, -1):
        for i in range(t + 1):
            v[i] = np.sin(v[i + 1] * v[i]) + 0.1 * x[t]
    return v[0]


def back_substitution(x):
    y, n = x.copy(), len(x)
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i, -1):
            y[i] = np.sin(y[i] * y[j] + x[j])
    return y[0] * y[-1]


def down_in_a_triangle(x):
    total = 1.0
    for i in range(len(x)):
        for j in range(len(x) - 1, i - 1, -1):
            total = np.sin(total * x[j] + x[i])
    return total


def down_from_it(x):
    total = 1.0
    for i in range(len(x)):
        for j in range(i, -1, -1):
            total = np.sin(total * x[j] + x[i])
    return total


def pyramid(x):
    total = 1.0
    for i in range(len(x)):
        for j in range(i):
            for k in range(j):
                total = np.sin(total * x[k] + x[i] * x[j])
    return total


def band(x):
    n, total = len(x), 1.0
    for i in range(n):
        for j in range(i, min(i + 3, n)):
            total = np.sin(total * x[j] + x[i])
    return total


def where_it_is_chosen(x):
    total = 1.0
    for i in range(1, len(x)):
        for j in range(2 * i - i):
            if x[j] > 0.0:
                total = np.sin(total * x[j] + x[i])
    return total


def steps_of_two(x):
    total = 1.0
    for i in range(len(x) - 1, 0, -2):
        for j in range(i):
            total = np.sin(total * x[j] + x[i])
    return total


FUNCTIONS = [
    *(
        below,
        up_to_it,
        shrinking,
        backward_induction,
        back_substitution,
        down_in_a_triangle,
        down_from_it,
        pyramid,
        band,
    ),
    *(where_it_is_chosen, steps_of_two),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_machine_code_and_python_agree(function: Callable[..., Any]) -> None:
    compiled, interpreted = ad.value_and_grad(function, native="strict"), ad.value_and_grad(function)
    second = ad.jvp(ad.grad(function, native=True), (X,), (np.cos(X),))[1]
    np.testing.assert_allclose(second, ad.jvp(ad.grad(function), (X,), (np.cos(X),))[1], rtol=1e-9, atol=1e-12)
    for n in (7, 3, 2, 1):
        value, gradient = compiled(X[:n].copy())
        expected, slopes = interpreted(X[:n].copy())
        assert value == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("function", [backward_induction, back_substitution], ids=lambda f: f.__name__)
def test_no_list_grows(function: Callable[..., Any]) -> None:
    text = ad.grad(function, native="strict").specialized((X,), {}).call.emitted.text
    assert "_kept = np.empty(" in text and ".append(" not in text


def steps_in_a_band(x):
    y, n = x.copy(), len(x)
    for i in range(n):
        for j in range(i, min(i + 3, n)):
            y[i] = np.sin(y[i] * y[j] + x[j])
    return y[0] * y[-1]


def steps_in_a_pyramid(x):
    y, n = x.copy(), len(x)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                y[i] = np.sin(y[i] * y[k] + x[j])
    return y[0] * y[-1]


@pytest.mark.parametrize("function", [steps_in_a_band, steps_in_a_pyramid], ids=lambda f: f.__name__)
def test_what_would_stay_empty_is_no_array(function: Callable[..., Any]) -> None:
    derivative = ad.grad(function, native="strict")
    assert "t_kept = []" in derivative.specialized((X,), {}).call.emitted.text
    np.testing.assert_allclose(derivative(X), ad.grad(function)(X), rtol=1e-12)


def test_a_derivative_with_tapes_runs_without_supports() -> None:
    """Their memory is empty at first, which nobody sees: the derivative may run twice."""

    def factored(x):
        n = len(x)
        factor = np.outer(x, x) + 8.0 * np.eye(n)
        for j in range(n):
            for i in range(j, n):
                for k in range(j):
                    factor[i, j] -= factor[i, k] * factor[j, k]
                factor[i, j] = np.sqrt(factor[i, j]) if i == j else factor[i, j] / factor[j, j]
        return factor[n - 1, n - 1]

    derivative = ad.grad(factored, native="strict")
    text = derivative.specialized((X,), {}).call.emitted.text
    assert "_kept" in text and "support" not in text
    np.testing.assert_allclose(derivative(X), ad.grad(factored)(X), rtol=1e-12)
