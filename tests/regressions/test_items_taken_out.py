"""Items that are read, and then taken out of the argument that holds them: what was read keeps its derivative."""

from __future__ import annotations

import copy
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.tools.float_leaves import flatten, moved, tangent_of

Pair = namedtuple("Pair", "x y")


@dataclass
class Held:
    x: float
    y: float


def _first(item: Any) -> Any:
    return item.x if isinstance(item, (Pair, Held)) else item[0]


def popped(items: Any, first: Callable[[Any], Any]) -> Any:
    x = first(items[1])
    items.pop(1)
    return x * x * first(items[1])


def popped_last(items: Any, first: Callable[[Any], Any]) -> Any:
    x = first(items[2])
    items.pop()
    items.pop()
    return x * first(items[0])


def deleted(items: Any, first: Callable[[Any], Any]) -> Any:
    item = items[0]
    del items[0]
    return first(item) * first(items[0])


def cleared(items: Any, first: Callable[[Any], Any]) -> Any:
    x, y = first(items[0]), first(items[1])
    items.clear()
    return x * y


def overwritten(items: Any, first: Callable[[Any], Any]) -> Any:
    x = first(items[0])
    items[0] = items[1]
    return x * first(items[0]) * first(items[1])


def put_back(items: Any, first: Callable[[Any], Any]) -> Any:
    x = first(items[0])
    items.append(items.pop(0))
    return x * first(items[0]) * first(items[-1])


def one_by_one(items: Any, first: Callable[[Any], Any]) -> Any:
    total = 0.0
    while items:
        total += first(items[0]) * first(items[-1])
        items.pop(0)
    return total


def returned_with_it(items: Any, first: Callable[[Any], Any]) -> Any:
    x = first(items[2])
    items.pop(2)
    items.insert(0, items[0])
    return [x, first(items[0])], [first(each) for each in items]


ITEMS = {
    "tuples": lambda: [(1.1, 2.0), (3.0, 0.4), (0.5, 0.6)],
    "named tuples": lambda: [Pair(1.1, 2.0), Pair(3.0, 0.4), Pair(0.5, 0.6)],
    "lists": lambda: [[1.1, 2.0], [3.0, 0.4], [0.5, 0.6]],
    "arrays": lambda: [np.array([1.1, 2.0]), np.array([3.0, 0.4]), np.array([0.5, 0.6])],
    "objects": lambda: [Held(1.1, 2.0), Held(3.0, 0.4), Held(0.5, 0.6)],
    "tuples of tuples": lambda: [((1.1, 2.0), 1.0), ((3.0, 0.4), 2.0), ((0.5, 0.6), 3.0)],
}
PROGRAMS = [popped, popped_last, deleted, cleared, overwritten, put_back, one_by_one, returned_with_it]


def _of_nested(item: Any) -> Any:
    return item[0][0] * item[1]


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_items_that_are_taken_out(program: Any, kind: str) -> None:
    first = _of_nested if kind == "tuples of tuples" else _first

    def f(items: Any) -> Any:
        return program(items, first)

    _check(f, ITEMS[kind]())


def _check(f: Any, items: Any) -> None:
    direction = np.array([0.3, -0.2, 0.5, 0.7, -0.4, 0.6, 0.1, 0.8, -0.9][: len(flatten(items))])
    ends = [flatten(f(copy.deepcopy(moved(items, direction, step)))) for step in (1e-6, -1e-6)]
    slopes = (ends[0] - ends[1]) / 2e-6
    _, tangent = ad.jvp(f, (copy.deepcopy(items),), (tangent_of(items, direction),))
    np.testing.assert_allclose(flatten(tangent), slopes, rtol=1e-7, atol=1e-8)
    value, pullback = ad.vjp(f, copy.deepcopy(items))
    weights = np.arange(1.0, len(slopes) + 1.0)
    for _ in range(2):
        gradient = flatten(pullback(tangent_of(value, weights))[0])
        np.testing.assert_allclose(gradient @ direction, weights @ slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("kind", ["tuples", "lists", "arrays"])
def test_entries_of_tables(kind: str) -> None:
    def popped_key(table: Any) -> Any:
        x = table["a"][0]
        table.pop("a")
        return x * table["b"][0]

    def deleted_key(table: Any) -> Any:
        x = table["a"][0]
        del table["a"]
        return x * table["b"][0]

    one, other, _ = ITEMS[kind]()
    for f in (popped_key, deleted_key):
        gradient = ad.grad(f)({"a": copy.deepcopy(one), "b": copy.deepcopy(other)})
        assert (gradient["a"][0], gradient["b"][0]) == (3.0, 1.1)


@dataclass
class Arrays:
    x: np.ndarray
    y: np.ndarray


def _one_field(held: Any) -> Any:
    held.x = held.y
    return held.x[0] * held.y[0]


def _new_field(held: Any) -> Any:
    held.z = held.y
    return held.z[0] * held.y[0] * held.x[1]


def _late_field(held: Any) -> Any:
    total = 0.0
    if held.x[0] > 0.4:
        held.z = held.y
        total += held.z[1]
    return total


def _swapped_fields(held: Any) -> Any:
    held.x, held.y = held.y, held.x
    return held.x[0] * held.y[1]


def _one_key(table: Any) -> Any:
    table["a"] = table["b"]
    return table["a"][0] * table["b"][0]


def _new_key(table: Any) -> Any:
    table["c"] = table["b"]
    return table["c"][0] * table["b"][0] * table["a"][1]


def _inserted(rows: Any) -> Any:
    rows.insert(0, rows[0])
    return rows[0][0] * rows[1][0]


def _written(rows: Any) -> Any:
    rows[0] = rows[1]
    rows[1][0] *= 2.0
    return rows[0][0] * rows[1][0]


def _written_apart(rows: Any) -> Any:
    first = rows[0]
    rows[0] = rows[1]
    first[0] *= 3.0
    return rows[0][0] * first[0]


def _of_rows(rows: Any) -> Any:
    rows[0][0] = rows[1][1]
    return rows[0][0][0] * rows[1][1][0]


def _arrays() -> list[np.ndarray]:
    return [np.array([1.1, 2.0]), np.array([3.0, 0.4])]


@pytest.mark.parametrize(
    ("f", "given"),
    [
        *[(f, lambda: Arrays(*_arrays())) for f in (_one_field, _new_field, _late_field, _swapped_fields)],
        *[(f, lambda: dict(zip("ab", _arrays(), strict=True))) for f in (_one_key, _new_key)],
        *[(f, _arrays) for f in (_inserted, _written, _written_apart)],
        (_of_rows, lambda: [_arrays(), _arrays()]),
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_arrays_of_an_argument_that_come_to_lie_in_two_slots(f: Any, given: Any) -> None:
    """What flows back to one slot must not flow back to the other, too."""
    _check(f, given())
