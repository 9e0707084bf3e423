"""A variable that is bound on one path only is unbound on the others, whatever it is bound to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from adjoint.testing import check_grads


def number_in_a_branch(x, c):
    if c:
        q = 2.0
    return q * x


def number_in_a_loop(x, c):
    for _ in range(c):
        q = 3.0
    return q * x


def number_in_a_while_loop(x, c):
    while c > 0:
        c -= 1
        n = 2
    return x * n


def pair_in_a_branch(x, c):
    if c:
        q = (2.0, 3.0)
    return q[0] * x


def number_before_an_exception(x, c):
    try:
        if not c:
            raise ValueError
        q = 2.0
    except ValueError:
        pass
    return q * x


def argument_in_a_branch(x, c):
    if c:
        q = x
    return q * x


def same_value_in_a_loop(x, c):
    y = x * 3
    for _ in range(c):
        q = y
    return q * x


def two_of_three_paths(x, c):
    if c > 0:
        q = x
    elif c == 0:
        pass
    else:
        q = 2 * x
    return q * x


PROGRAMS = [
    number_in_a_branch,
    number_in_a_loop,
    number_in_a_while_loop,
    pair_in_a_branch,
    number_before_an_exception,
    argument_in_a_branch,
    same_value_in_a_loop,
    two_of_three_paths,
]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_what_is_unbound_is_not_known_by_what_it_is_elsewhere(function: Callable[..., Any]) -> None:
    check_grads(function, (1.5, 1), order=2)
    with pytest.raises(UnboundLocalError):
        function(1.5, 0)
    with pytest.raises(UnboundLocalError):
        ad.value_and_grad(function)(1.5, 0)
    with pytest.raises(UnboundLocalError):
        ad.jvp(function, (1.5, 0), (1.0, None))


IN_MACHINE_CODE = [function for function in PROGRAMS if function is not number_before_an_exception]


@pytest.mark.parametrize("function", IN_MACHINE_CODE, ids=lambda function: function.__name__)
def test_machine_code_asks_too(function: Callable[..., Any]) -> None:
    pytest.importorskip("numba")
    derivative = ad.value_and_grad(function, native="strict")
    assert derivative(1.5, 1) == pytest.approx(ad.value_and_grad(function)(1.5, 1))
    with pytest.raises(UnboundLocalError, match=r"'[qn](_0)?'"):
        derivative(1.5, 0)


def test_what_is_read_under_the_same_condition_is_bound() -> None:
    def f(x, c):
        if c:
            q = 2.0
        y = x * x
        return q * y if c else y

    check_grads(f, (1.5, 1), order=2)
    check_grads(f, (1.5, 0), order=2)
