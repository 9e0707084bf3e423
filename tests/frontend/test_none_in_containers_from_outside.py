"""States that are None at first and arrays later, in lists, dicts and objects from outside: lazy initialisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from frontend.checked_gradients import checked_gradient

X = np.array([0.7, -1.2, 1.9])


def stepped(x: Any, held: Any, count: int) -> Any:
    for k in range(count):
        i = k % len(held)
        if held[i] is None:
            held[i] = np.zeros_like(x)
        held[i] = held[i] * x + x * x
    return sum(np.sum(each * each) for each in held if each is not None)


def test_an_index_that_is_known_at_run_time() -> None:
    checked_gradient(lambda x: stepped(x, [None] * 3, 5), X)
    given: list[Any] = [None] * 3
    np.testing.assert_allclose(
        ad.grad(stepped)(X, given, 5), ad.jacobian(lambda x: stepped(x, [None] * 3, 5))(X), rtol=1e-12
    )
    mine: list[Any] = [None] * 3
    stepped(X, mine, 5)
    np.testing.assert_allclose(given, mine, rtol=1e-12)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("given", [[None, None], [None], [X, None], [None, X, X]])
def test_lists_of_several_lengths(given: list[Any], native: bool) -> None:
    x, h = X.copy(), 1e-6
    slope = [(stepped(x + d, list(given), 4) - stepped(x - d, list(given), 4)) / (2 * h) for d in h * np.eye(len(x))]
    np.testing.assert_allclose(ad.grad(stepped, native=native)(x, list(given), 4), slope, rtol=1e-7)


HELD: list[Any] = [1.0, 2.0]


def emptied_and_filled(x: Any) -> Any:
    for i in range(len(HELD)):
        HELD[i] = None
    for i in range(len(HELD)):
        if HELD[i] is None:
            HELD[i] = x * (i + 1)
    return sum(np.sum(each * each) for each in HELD)


def test_how_many_items_a_captured_list_has_is_asked_at_each_call() -> None:
    for count in (2, 3, 1, 2):
        HELD[:] = [1.0] * count
        factor = 2.0 * sum((i + 1) ** 2 for i in range(count))
        np.testing.assert_allclose(ad.grad(emptied_and_filled)(X), factor * X)
        np.testing.assert_array_equal(HELD, [X * (i + 1) for i in range(count)])


TABLE: dict[str, Any] = {}


@pytest.mark.parametrize("items", [{"v": None}, {"v": None, "n": 0}, {}])
def test_entries_of_a_dict(items: dict[str, Any]) -> None:
    def f(x: Any) -> Any:
        for _ in range(3):
            v = TABLE.get("v")
            TABLE["v"] = x if v is None else v * x
        return np.sum(TABLE["v"])

    for _ in range(2):
        TABLE.clear()
        TABLE.update(items)
        np.testing.assert_allclose(ad.grad(f)(X), 3.0 * X**2)
        np.testing.assert_allclose(TABLE["v"], X**3)


class Momentum:
    def __init__(self) -> None:
        self.v: Any = None
        self.each: list[Any] = [None, None]

    def step(self, x: Any, g: Any) -> Any:
        if self.v is None:
            self.v = np.zeros_like(x)
        self.v = 0.9 * self.v + g
        for k in range(2):
            self.each[k] = g if self.each[k] is None else 0.5 * self.each[k] + g
        return x - 0.1 * self.v - 0.1 * self.each[1]


SHARED = Momentum()


def test_states_that_the_function_of_an_inner_derivative_makes() -> None:
    def outer(a: Any) -> Any:
        def loss(y: Any) -> Any:
            for _ in range(3):
                y = SHARED.step(y, a * y)
            return np.sum(y * y)

        return np.sum(ad.grad(loss)(X)) + np.sum(SHARED.v)

    def plain(a: float) -> Any:
        y, v, each = X, np.zeros_like(X), None
        factor = np.ones_like(X)
        velocity, inner = np.zeros_like(X), np.zeros_like(X)
        for _ in range(3):  # the states are linear in y
            v = 0.9 * v + a * y
            velocity = 0.9 * velocity + a * factor
            each = a * y if each is None else 0.5 * each + a * y
            inner = 0.5 * inner + a * factor
            y = y - 0.1 * v - 0.1 * each
            factor = factor - 0.1 * velocity - 0.1 * inner
        return np.sum(2.0 * y * factor) + np.sum(v)

    slope = (plain(2.0 + 1e-6) - plain(2.0 - 1e-6)) / 2e-6
    for _ in range(2):
        SHARED.v, SHARED.each = None, [None, None]
        np.testing.assert_allclose(ad.grad(outer)(2.0), slope, rtol=1e-7)
        assert isinstance(SHARED.v, np.ndarray)


class Unit:
    def __init__(self) -> None:
        self.layers: list[Any] = [None, None]
        self.state: dict[str, Any] = {"c": None}

    def __call__(self, x: Any) -> Any:
        for i in range(2):
            held = self.layers[i]
            x = self.layers[i] = np.tanh(x + (0.0 if held is None else 0.5 * held))
        self.state["c"] = x if self.state["c"] is None else self.state["c"] + x
        return self.state["c"]


@pytest.mark.parametrize("native", [False, True])
def test_states_of_objects(native: bool) -> None:
    def f(x: Any, units: Any) -> Any:
        for _ in range(2):
            for unit in units:
                x = unit(x)
        return np.sum(x * x)

    def plain(x: Any) -> Any:
        return f(x, [Unit(), Unit()])

    slope = [(plain(X + step) - plain(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(ad.grad(f, native=native)(X, [Unit(), Unit()]), slope, rtol=1e-6)


def test_numbers_beside_none_of_which_one_kind_is_left() -> None:
    def f(x: Any, held: Any) -> Any:
        for i in range(2):
            held[i] = x[i] if held[i] is None else held[i] + x[i] ** 2
        held[1], held[0] = held[0], held[1]
        return held[0] * held[1]

    np.testing.assert_allclose(ad.grad(f)(X, [0.5, None, 2.0]), [2 * X[0] * X[1], 0.5 + X[0] ** 2, 0.0])


def test_what_a_list_of_choices_holds_may_be_none_itself() -> None:
    def f(x: Any, place: int) -> Any:
        held = [np.sin if x > 5.0 else None, np.cos, np.exp if x > 2.0 else None]
        chosen = held[place]
        if chosen is None:
            return 3.0 * x
        return chosen(x)

    assert [ad.grad(f)(3.0, place) for place in range(3)] == [3.0, -np.sin(3.0), np.exp(3.0)]
    assert [ad.grad(f)(1.0, place) for place in (0, 2)] == [3.0, 3.0]


def test_containers_that_grow_besides_are_refused_with_a_way_out() -> None:
    def f(x: Any, held: Any) -> Any:
        for k in range(len(held)):
            held[k] = x if held[k] is None else held[k] * x
        held.append(x)
        return sum(np.sum(each) for each in held)

    with pytest.raises(ad.DifferentiationError, match="make the container in the function") as refused:
        ad.grad(f)(X, [None] * 2)
    assert [each.code for each in refused.value.diagnostics] == ["AD0402"]
    np.testing.assert_allclose(ad.grad(lambda x: f(x, [None] * 2))(X), 3.0)
