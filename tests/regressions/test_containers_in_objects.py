"""Lists and dicts that a function puts into an argument and goes on writing, and those that lie there in two places."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import adjoint as ad


def filled_later(state, x):
    state.log = []
    state.log.append(x)
    return x * x


def dict_filled_later(state, x):
    state.log = {}
    state.log["last"] = x
    state.log["last"] *= 2
    return x * x


def written_under_its_first_name(state, x):
    buffer = [0.0, 0.0]
    state.log = buffer
    buffer[0] = 3 * x
    return x * state.log[0]


def in_two_fields(state, x):
    state.log = [1.0]
    state.other = state.log
    state.other[0] = x
    return x * state.log[0]


def inside_another(state, x):
    state.log = ([1.0], 2.0)
    state.log[0].append(x)
    return x


def on_one_path(state, x):
    if not state.ready:
        state.log = {"rows": []}
    state.log["rows"].append(x)
    return x * x


def by_a_function_of_its_own(state, x):
    state.log = []

    def add(value):
        state.log.append(value)

    add(x)
    add(2 * x)
    return sum(state.log)


def fresh() -> SimpleNamespace:
    return SimpleNamespace(log=[1.0], other=None, ready=False)


@pytest.mark.parametrize(
    "f",
    [
        filled_later,
        dict_filled_later,
        written_under_its_first_name,
        in_two_fields,
        inside_another,
        on_one_path,
        by_a_function_of_its_own,
    ],
)
def test_what_an_argument_holds_afterwards(f: Callable[..., Any]) -> None:
    expected = fresh()
    value = f(expected, 2.0)
    slope = (f(fresh(), 2.0 + 1e-6) - f(fresh(), 2.0 - 1e-6)) / 2e-6
    for derivative in (
        lambda state: ad.value_and_grad(f, wrt=1)(state, 2.0),
        lambda state: ad.jvp(f, (state, 2.0), (None, 1.0)),
    ):
        state = fresh()
        found, derived = derivative(state)
        assert (found, state) == (value, expected)
        assert derived == pytest.approx(slope)


def item_read(state, x):
    state.log[0] = x
    return state.other[0] * x


def key_read(state, x):
    state.log["a"] = x
    return state.other["a"] * x


def item_of_an_item(state, x):
    state.other[0] = x
    return state.log[0][0] * x


def grown(state, x):
    state.log.append(x)
    return state.other[-1] * x


def of_another_argument(state, x, other):
    state.log[0] = x
    return other["a"][0] * x


def shared(items: Any, part: Any) -> SimpleNamespace:
    return SimpleNamespace(log=items, other=part, ready=False)


@pytest.mark.parametrize(
    ("f", "items", "part"),
    [
        (item_read, [1.0], lambda items: items),
        (grown, [1.0], lambda items: items),
        (key_read, {"a": 1.0}, lambda items: items),
        (item_of_an_item, [[1.0], 2.0], lambda items: items[0]),
    ],
)
@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("native", [False, True])
def test_what_lies_in_two_places_is_not_written(
    f: Callable[..., Any], items: Any, part: Callable[[Any], Any], native: bool
) -> None:
    gradient = ad.grad(f, wrt=1, native=native)
    for _ in range(2):
        gradient(shared(copy.deepcopy(items), part(copy.deepcopy(items))), 3.0)
        own = copy.deepcopy(items)
        with pytest.raises(ad.DifferentiationError, match="is reached in two ways, and the function writes it"):
            gradient(shared(own, part(own)), 3.0)
        assert own == items


def test_a_container_of_two_arguments_is_not_written() -> None:
    gradient = ad.grad(of_another_argument, wrt=1)
    own = [1.0]
    assert gradient(shared(own, None), 3.0, {"a": [5.0]}) == 5.0
    with pytest.raises(ad.DifferentiationError, match="is reached in two ways"):
        gradient(shared(own, None), 3.0, {"a": own})


def test_what_lies_in_two_places_may_be_read() -> None:
    def f(state, x):
        state.ready = True
        return state.log[0] * x + state.other[0]

    own = [2.0]
    assert ad.grad(f, wrt=1)(shared(own, own), 3.0) == 2.0
