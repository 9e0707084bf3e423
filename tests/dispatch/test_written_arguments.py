"""Who differentiates a function that writes to its argument is told, once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def told(*calls: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for call in calls:
            call()
    return [str(warning.message) for warning in found]


def interpreted(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x)


def compiled(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x)


@pytest.mark.parametrize("doubled", [interpreted, compiled])
def test_once_for_each_function(doubled: Any) -> None:
    x = np.ones(3)
    derivative = ad.grad(doubled, native=doubled is compiled)
    (message,) = told(lambda: derivative(x), lambda: derivative(x), lambda: ad.vjp(doubled, x))
    assert message.startswith("warning[AD0505]: 'x' is written in place, by the derivative too")
    assert "x *= 2.0\n" in message and "'x' is changed here" in message
    assert "help: work on a copy: x = x.copy()" in message


def test_through_views_functions_and_containers() -> None:
    def later(x: Any) -> Any:
        y = x[1:]
        y += 1.0
        return np.sum(x * x)

    def pushed(u: Any) -> None:
        u[1:] += 0.1 * u[:-1]

    def in_a_call(x: Any) -> Any:
        pushed(x)
        return np.sum(x * x)

    def grown(xs: Any) -> Any:
        xs.append(xs[0] * 2.0)
        return xs[-1]

    def kept(p: Any) -> Any:
        p["a"] = p["a"] * 2.0
        return p["a"]

    given = {later: np.ones(3), in_a_call: np.ones(3), grown: [1.0], kept: {"a": 1.0}}
    for function, argument in given.items():
        (message,) = told(lambda function=function, argument=argument: ad.grad(function)(argument))
        assert "AD0505" in message
    named = ad.grad(lambda y, x: in_a_call(x) + np.sum(y), wrt="x")
    assert len(told(lambda: named(np.ones(3), np.ones(3)))) == 1


def test_what_nobody_is_told_of() -> None:
    """Buffers that are not differentiated, copies, state of objects; and what is asked to be left out."""

    def buffered(x: Any, buffer: Any) -> Any:
        buffer[:] = 2.0 * x
        return np.sum(buffer * x)

    def copied(x: Any) -> Any:
        x = x.copy()
        x *= 2.0
        return np.sum(x)

    class Counter:
        def __init__(self) -> None:
            self.value = 1.0

    def counted(state: Any) -> Any:
        state.value = state.value * 2.0
        return state.value

    x = np.ones(3)
    assert (
        told(
            lambda: ad.grad(buffered)(x, np.zeros(3)),
            lambda: ad.grad(copied)(x),
            lambda: ad.grad(counted)(Counter()),
            lambda: ad.compile(lambda x: x.fill(0.0), native=False)(np.ones(3)),
        )
        == []
    )

    def doubled(x: Any) -> Any:
        x *= 2.0
        return np.sum(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*AD0505")
        ad.grad(doubled)(x)
