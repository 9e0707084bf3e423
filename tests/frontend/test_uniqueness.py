"""Operators in place on what is a number on one path and an array on another."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([[1.0, 2.0], [0.5, 3.0]])


def _least(x: Any, k: float) -> Any:
    return np.min(x, axis=None if k > 1 else 0)


def made_and_read(x: Any, k: float) -> Any:
    least = _least(x, k)
    before = np.sum(np.sin(least))
    least *= 2.0
    least -= x[0]
    return np.sum(least * least) * before


def made_on_paths(x: Any, k: float) -> Any:
    found: Any = 0
    if k > 0.7:
        found = np.max(x, axis=None if k > 1 else 0)
    found += np.sum(x)
    return np.sum(found * found)


def _by_horner(coefficients: Any, x: Any) -> Any:
    total: Any = 0.0
    for c in coefficients:
        total = total * x + c
    return total


def given_back_by_a_loop(x: Any, k: float) -> Any:
    found = _by_horner(x[0] * k, x[1])
    found += _by_horner(x[1], x[0])
    return np.sum(found * found)


def named_twice(x: Any, k: float) -> Any:
    least = other = _least(x, k)
    least *= 2.0
    return np.sum(least * other)


def in_a_list(x: Any, k: float) -> Any:
    least = _least(x, k)
    kept = [least]
    least *= 2.0
    return np.sum(least * kept[0])


def seen_by_a_view(x: Any, k: float) -> Any:
    least = _least(x, k)
    view = np.atleast_1d(least)
    least *= 2.0
    return np.sum(least * view)


def named_on_one_path(x: Any, k: float) -> Any:
    least = _least(x, k)
    other = least if x[0, 0] > 0 else 1.0
    least *= 2.0
    return np.sum(least * other)


def _last(coefficients: Any, x: Any, seen: Any) -> Any:
    total: Any = 0.0
    for c in coefficients:
        seen.append(total)
        total = total * x + c
    seen.append(total)
    return total


def kept_by_a_loop(x: Any, k: float) -> Any:
    seen: list[Any] = []
    found = _last(x[0] * k, x[1], seen)
    found *= 2.0
    return np.sum(found * seen[-1])


def left_by_another_variable(x: Any, k: float) -> Any:
    total: Any = 0.0
    other: Any = 0.0
    for c in x[0]:
        other, total = total, total * x[1] + c * k
        if k > 100.0:
            other = total
    total *= 2.0
    return np.sum(total * other)


def carried_by_a_loop(x: Any, k: float) -> Any:
    least = _least(x, k)
    kept = 0.0
    for _ in range(3):
        kept = least
        least *= 2.0
    return np.sum(kept * least)


@pytest.mark.parametrize("function", [made_and_read, made_on_paths, given_back_by_a_loop])
def test_what_nobody_else_has_is_bound_anew(function: Callable[..., Any]) -> None:
    ks = (0.5, 0.8, 1.5) if function is made_on_paths else (1.5,)
    for k in ks:
        check_grads(lambda x: function(x, k), (X,))


_OF_AXES = (named_twice, in_a_list, seen_by_a_view, named_on_one_path, carried_by_a_loop)


@pytest.mark.parametrize("function", [*_OF_AXES, kept_by_a_loop, left_by_another_variable])
def test_arrays_that_others_have_are_refused(function: Callable[..., Any]) -> None:
    for options in ({}, {"native": True}):
        with pytest.raises(ad.DifferentiationError, match=r"AD0401(.|\n)*something else may have"):
            ad.grad(function, **options)(X, 0.5)
    with pytest.raises(ad.DifferentiationError, match=r"AD0401(.|\n)*something else may have"):
        ad.jvp(function, (X, 0.5), (X, 0.0))


@pytest.mark.parametrize("function", _OF_AXES)
def test_numbers_that_others_have_are_bound_anew(function: Callable[..., Any]) -> None:
    check_grads(function, (X, 1.5), wrt=0)
    np.testing.assert_allclose(ad.grad(function, native=True)(X, 1.5), ad.grad(function)(X, 1.5))


def test_what_does_not_fit_raises_what_numpy_raises() -> None:
    def grown(x: Any, k: float) -> Any:
        least = _least(x, k)
        least += x
        return np.sum(least)

    for function in (grown, ad.grad(grown)):
        with pytest.raises(ValueError, match=r"non-broadcastable output operand with shape \(2,\)"):
            function(X, 0.5)
    np.testing.assert_allclose(ad.grad(grown)(X, 1.5), [[1.0, 1.0], [5.0, 1.0]])
