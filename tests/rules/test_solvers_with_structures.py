"""Solvers of functions that are handed lists and dicts of parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import integrate, optimize

import adjoint as ad

RNG = np.random.default_rng(0)
LAYERS = [(0.5 * RNG.normal(size=(2, 3)), RNG.normal(size=3)), (0.5 * RNG.normal(size=(3, 2)), RNG.normal(size=2))]
NAMED = {"rate": 0.7, "limit": 2.0}
ROWS = [(0.3, 0.1), (0.2, 0.4)]
LISTS = {"a": [0.3, 0.1], "b": [0.2]}
RAGGED = [[0.3, 0.1], [0.2]]
TABLES = {"first": {"a": 0.3, "b": 0.1}, "second": {"a": 0.2}}
TIMES = np.array([0.0, 0.3, 0.6])


def network(y: Any, layers: Any) -> Any:
    for weights, bias in layers:
        y = np.tanh(y @ weights + bias)
    return y


def by_odeint(layers: Any, y: Any) -> Any:
    return integrate.odeint(lambda y, t, layers: network(y, layers), y, TIMES, args=(layers,), rtol=1e-10, atol=1e-10)


def by_solve_ivp(layers: Any, y: Any) -> Any:
    return integrate.solve_ivp(lambda t, y: network(y, layers), (0.0, 0.6), y, t_eval=TIMES, rtol=1e-10, atol=1e-10).y


def growth(named: dict[str, float], y: Any) -> Any:
    def rate(y: Any, t: float) -> Any:
        total = 0.0
        for value in named.values():
            total = total + value
        return total * y * (1.0 - y / named["limit"])

    return integrate.odeint(rate, y, TIMES, rtol=1e-10, atol=1e-10)


def root(rows: list[tuple[float, float]], y: Any) -> Any:
    def residual(x: Any) -> Any:
        total = x**3
        for row in rows:
            for at, value in enumerate(row):
                total = total + value * (at + 1) * x
        return total - y

    return optimize.root(residual, np.ones(2), tol=1e-12).x


def root_of_lists(lists: dict[str, list[float]], y: Any) -> Any:
    def residual(x: Any) -> Any:
        total = x**3
        for values in lists.values():
            for value in values:
                total = total + value * x
        return total - y

    return optimize.root(residual, np.ones(2), tol=1e-12).x


def root_of_deep_lists(lists: Any, y: Any) -> Any:
    def residual(x: Any) -> Any:
        total = x**3
        for rows in lists:
            for row in rows:
                for value in row:
                    total = total + value * x
        return total - y

    return optimize.root(residual, np.ones(2), tol=1e-12).x


def area(layers: Any, y: Any) -> Any:
    return integrate.quad(lambda t: network(t * y, layers)[0], 0.0, 1.0)[0]


@pytest.mark.parametrize(
    ("f", "given"),
    [
        (by_odeint, LAYERS),
        (by_solve_ivp, LAYERS),
        (growth, NAMED),
        (root, ROWS),
        (root_of_lists, LISTS),
        (area, LAYERS),
        (root, RAGGED),
        (lambda tables, y: root([table.values() for table in tables.values()], y), TABLES),
    ],
    ids=["odeint", "solve_ivp", "dict", "root", "dict of lists", "quad", "ragged", "dict of dicts"],
)
def test_gradients_of_what_a_structure_holds(f: Callable[[Any, Any], Any], given: Any) -> None:
    ad.testing.check_grads(f, (given, np.array([0.4, 0.6])), order=1, tol=1e-5)


def test_lists_of_other_lengths_are_other_calls() -> None:
    gradient = ad.grad(lambda layers, y: np.sum(by_odeint(layers, y)))
    y = np.array([0.4, 0.6])
    for layers in (LAYERS, [*LAYERS, *LAYERS]):
        found = gradient(layers, y)
        assert [np.shape(bar) for bar, _ in found] == [np.shape(weights) for weights, _ in layers]
    step, (weights, bias) = 1e-6, LAYERS[0]
    moved = [np.sum(by_odeint([(weights, bias + s * step), LAYERS[1]], y)) for s in (1, -1)]
    assert np.sum(gradient(LAYERS, y)[0][1]) == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-5)


def of_a_list_made_here(a: float) -> float:
    weights = []
    for i in range(int(a) + 3):
        weights.append(a * i)
    return optimize.brentq(lambda x: sum(weights) * x - 1.0, 0.0, 100.0, xtol=1e-14)


def test_a_list_may_be_made_where_the_solver_is_called() -> None:
    assert ad.grad(of_a_list_made_here)(1.5) == pytest.approx(-1 / (6 * 1.5**2))
    assert ad.jvp(of_a_list_made_here, (1.5,), (1.0,))[1] == pytest.approx(-1 / (6 * 1.5**2))


def of_lists_in_an_argument(k: float) -> float:
    def slope(y: Any, t: float, rates: list[list[float]]) -> list[float]:
        return [sum(rates[i][j] * y[j] for j in range(2)) for i in range(2)]

    return integrate.odeint(slope, [1.0, 0.5], [0.0, 1.0], ([[k, 2.0], [k * k, -1.0]],), rtol=1e-10, atol=1e-10)[-1, 0]


def test_lists_of_lists_as_parameters() -> None:
    ad.testing.check_grads(of_lists_in_an_argument, (0.3,), tol=1e-5)


class Row(NamedTuple):
    first: float
    second: float


@pytest.mark.parametrize("rows", [[np.ones(2, np.float32), np.ones(2, np.float32)], [Row(0.3, 0.1), Row(0.2, 0.4)]])
def test_other_items_are_refused(rows: Any) -> None:
    """Numbers of single precision, which a vector does not hold, and named tuples."""
    with pytest.raises(ad.DifferentiationError, match="whose parts are not known here"):
        ad.grad(lambda rows, y: np.sum(root(rows, y)))(rows, np.array([0.4, 0.6]))


def test_lists_three_deep_are_refused() -> None:
    with pytest.raises(ad.DifferentiationError, match="whose parts are not known here"):
        ad.grad(lambda lists, y: np.sum(root_of_deep_lists(lists, y)))([[[0.3], [0.1]], [[0.4]]], np.array([0.4, 0.6]))
