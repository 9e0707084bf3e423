"""Whole numbers where floats are meant: in fields of floats, and as places in lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


@dataclass
class State:
    position: float
    speed: float


def reset(x: float, state: State, count: int) -> float:
    for _ in range(count):
        state.speed = x + state.position
        state = replace(state, position=1)
    return state.speed * state.speed


@pytest.mark.parametrize("count", [0, 1, 3])
def test_in_an_object_made_at_run_time(count: int) -> None:
    x, state = 0.7, State(0.8, 1.1)
    expected = 2.0 * (x + (0.8 if count == 1 else 1.0)) if count else 0.0
    value, tangent = ad.jvp(reset, (x, State(0.8, 1.1), count), (1.0, ad.tangents.zero(state), None))
    assert value == pytest.approx((x + (0.8 if count == 1 else 1.0)) ** 2 if count else 1.1**2)
    assert tangent == pytest.approx(expected)
    of_x, of_state, _ = ad.vjp(reset, x, State(0.8, 1.1), count)[1](1.0)
    assert of_x == pytest.approx(expected)
    assert of_state.position == pytest.approx(expected if count == 1 else 0.0)
    assert of_state.speed == pytest.approx(0.0 if count else 2.2)


def test_as_places_that_are_floats() -> None:
    def picked(values: Any) -> float:
        return np.take(values, 1.0) * values[0]

    check_grads(picked, ([0.3, 0.5],))


def test_as_places_that_are_true_or_false() -> None:
    def picked(values: Any) -> Any:
        return np.take(values, [True, False, True]) * values[2]

    check_grads(picked, ([0.3, 0.5, 0.7],))
