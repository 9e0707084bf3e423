"""Products of which one factor moves with the direction may skip its zeros."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.api.jvp_vjp import specialized_jvp
from adjoint.codegen.python import emit
from adjoint.differentiation.directions.sparse_tangents import with_zeros_skipped

A, X = np.ones((3, 4)), np.ones((4, 2))


def text_of(function: Callable[..., Any], *arguments: Any) -> str:
    """The derivative in the direction of the first argument."""
    compiled = specialized_jvp(function, arguments, [arguments[0], *[None] * (len(arguments) - 1)])
    return emit(with_zeros_skipped(compiled.function, [len(arguments)])).text


def test_the_factor_that_stays_is_tested_where_it_is_made() -> None:
    def powers(x: np.ndarray, a: np.ndarray) -> np.ndarray:
        for _ in range(3):
            x = np.tanh(a @ x)
        return x

    text = text_of(powers, X, np.ones((4, 4)))
    assert "rt.product_of_moving(a, x_dot, skips, False)" in text
    assert text.index("rt.lets_zeros_be_skipped(a)") < text.index("for _ in")
    assert text.count("rt.lets_zeros_be_skipped(") == 1


def test_what_is_written_is_tested_where_it_is_used() -> None:
    def growing(x: np.ndarray, a: np.ndarray) -> np.ndarray:
        a = a.copy()
        for i in range(3):
            x = x @ a
            a[0, 0] += i
        return x

    text = text_of(growing, X, np.ones((2, 2)))
    assert "rt.product_of_moving(x_dot, a, rt.lets_zeros_be_skipped(a), True)" in text
    assert text.index("for i in") < text.index("rt.lets_zeros_be_skipped(a)")


def test_products_of_other_kinds_stay() -> None:
    assert "product_of_moving" not in text_of(lambda x, a: a @ x, np.ones(4), A)
    assert "product_of_moving" not in text_of(lambda x, a: a @ x, np.ones((2, 4, 2)), A)
    assert "product_of_moving" not in text_of(lambda x, a: a @ x, X.astype(complex), A.astype(complex))


def test_both_factors_may_move() -> None:
    text = text_of(lambda x: x.T @ x, X)
    assert sorted(re.findall(r"rt.product_of_moving.*?(True|False)\)", text)) == ["False", "True"]


def test_pullbacks() -> None:
    _, pullback = ad.vjp(lambda x, a: a @ x, X, A)
    function = pullback._compiled.adjoint_function
    assert function is not None
    text = emit(with_zeros_skipped(function, [len(function.params) - 1])).text
    assert sorted(re.findall(r"rt.product_of_moving.*?(True|False)\)", text)) == ["False", "True"]
