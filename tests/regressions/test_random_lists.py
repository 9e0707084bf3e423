"""Items that are put into the middle of lists, and taken out there: random programs, and what callers see."""

from __future__ import annotations

import bisect
import copy
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.random_lists import outcome
from sampling import THOROUGH

SEEDS = range(400) if THOROUGH else range(0, 400, 10)
WRITTEN = "ignore:.*AD0505"


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_random_programs(seed: int) -> None:
    found = outcome(seed)
    assert found == "right" or (found.startswith("interpreted") and "list.index" in found)


@dataclass
class Pair:
    a: float
    b: float


def of_numbers(items: list[float], k: int) -> float:
    items.insert(k, items[0] * items[1])
    t = items.pop(-2)
    del items[k % len(items)]
    s = t * t
    for i, v in enumerate(items):
        s = s + (i + 1) * v * v
    return s


def of_arrays(items: list[np.ndarray], k: int) -> float:
    items.insert(k, items[0] * items[1])
    items[1] *= 1.5
    t = items.pop(-2)
    t[0] = t[1] * 2
    del items[k % len(items)]
    s = np.sum(t * t)
    for i, v in enumerate(items):
        s = s + (i + 1) * np.sum(v * v)
    return s


def of_records(items: list[Pair], k: int) -> float:
    items.insert(k, Pair(items[0].a * items[1].b, items[1].a))
    t = items.pop(-2)
    t.a = t.b * 2
    del items[k % len(items)]
    s = t.a * t.b
    for i, v in enumerate(items):
        s = s + (i + 1) * v.a * v.b
    return s


NUMBERS = [0.3, 0.7, 1.4]
ARRAYS = [np.array([0.3, 0.7]), np.array([1.4, 0.2]), np.array([0.5, 0.9])]
PAIRS = [Pair(0.3, 0.7), Pair(1.4, 0.2), Pair(0.5, 0.9)]


@pytest.mark.filterwarnings(WRITTEN)
@pytest.mark.parametrize("k", [0, 1, -1, 7])
@pytest.mark.parametrize(
    ("f", "items", "order"), [(of_numbers, NUMBERS, 2), (of_arrays, ARRAYS, 1), (of_records, PAIRS, 1)]
)
def test_lists_of_the_caller_are_left_as_the_function_leaves_them(f: Any, items: Any, order: int, k: int) -> None:
    ad.testing.check_grads(f, (copy.deepcopy(items), k), wrt=0, analytic=False, order=order)
    given = [copy.deepcopy(items) for _ in range(3)]
    f(given[0], k)
    found = ad.grad(f)(given[1], k)
    assert str(ad.grad(f, native=True)(given[2], k)) == str(found)
    assert str(given[0]) == str(given[1]) == str(given[2])


def taken(x: float, items: list[float], k: int) -> float:
    items.append(x)
    return items.pop(k) * x


def deleted(x: float, items: list[float], k: int) -> float:
    items.append(x)
    del items[k]
    return items.pop() * x


def first_of(x: float, items: list[float], k: int) -> float:
    for _ in range(k):
        items.pop(0)
    return items.pop(0) * x


@pytest.mark.filterwarnings(WRITTEN)
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(("f", "k"), [(taken, 3), (taken, -4), (deleted, 3), (deleted, -4), (first_of, 2)])
def test_places_outside_of_a_list_raise_what_python_raises(f: Any, k: int, native: bool) -> None:
    with pytest.raises(IndexError) as ours:
        ad.grad(f, native=native)(0.5, [0.1, 0.2], k)
    with pytest.raises(IndexError) as theirs:
        f(0.5, [0.1, 0.2], k)
    assert str(ours.value) == str(theirs.value)


def front(x: Any) -> Any:
    items = []
    for i in range(len(x)):
        items.insert(0, x[i] * x[i])
    s = 0.0
    while len(items) > 0:
        s = 0.5 * s + items.pop(len(items) // 2)
    return s


def test_nothing_is_moved_item_by_item() -> None:
    text = ad.source(ad.grad(front), np.ones(3))
    assert "items.insert(0, t * t)" in text
    assert "items_bar.pop(0)" in text
    assert "items_bar.insert(" in text


def cut(x: Any) -> Any:
    items = []
    for i in range(3):
        items.append(x * x[i])
    items.pop()
    s = 0.0
    for v in items:
        s += np.sum(v * v)
    return s


def test_items_that_nobody_names_go_back_into_the_derivative_of_a_derivative() -> None:
    ad.testing.check_grads(cut, (np.array([0.3, 0.7, 1.4]),))


def caught(x: Any, k: int) -> Any:
    items = []
    for v in x:
        items.insert(k, v * v)
    s = 0.0
    for j in range(4):
        try:
            s = s + items.pop(k + j) * (j + 1)
            items.insert(0, s)
        except IndexError:
            s = s * 1.1
    for i, v in enumerate(items):
        s = s + (i + 1) * v * v
    return s


def kept(x: Any, k: int) -> Any:
    items = [v * v for v in x]
    for i in ad.checkpointed(range(6), snapshots=2):
        t = items.pop(k % len(items))
        items.insert(i % 3, t * items[0] + x[1])
        items.insert(-1, t)
    s = 0.0
    for i, v in enumerate(items):
        s = s + (i + 1) * v * v
    return s


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("f", [caught, kept])
def test_under_handlers_and_checkpoints(f: Any, k: int) -> None:
    x = np.array([0.3, 0.7, 1.4])
    ad.testing.check_grads(f, (x, k), wrt=0, analytic=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.allclose(ad.grad(f, native=True)(x, k), ad.grad(f)(x, k), rtol=1e-13)


def runs(x: Any) -> Any:
    items = []
    for i in range(len(x)):
        bisect.insort(items, x[i] * x[i])
        bisect.insort_left(items, 0.5 * x[i])
    s = 0.0
    for i in range(len(items)):
        s = 0.5 * s + items[i] ** 2
    return s


def looked_up(x: Any, table: list[float]) -> Any:
    s = 0.0
    for i in range(len(x)):
        k = bisect.bisect_left(table, x[i], 1)
        s = s + (table[k - 1] * x[i] + k) * x[i]
        s = s + bisect.bisect(table, x[i], 0, 3) * x[i]
    return s


def behind(x: Any, table: list[float]) -> Any:
    return bisect.bisect_left(table, x[0], -1) * x[0]


def test_places_by_bisection_in_machine_code() -> None:
    x = np.array([0.3, -0.7, 1.2, 0.4, 0.4])
    ad.testing.check_grads(runs, (x[:4],))
    for f, given in ((runs, (x,)), (looked_up, (x, [-0.7, 0.2, 0.4, np.nan])), (looked_up, (x, [0.4] * 4))):
        found = ad.grad(f, native="strict")(*given)
        np.testing.assert_allclose(found, ad.grad(f)(*given), rtol=1e-14)
    for native in (False, True):
        with pytest.raises(ValueError, match="lo must be non-negative"):
            ad.grad(behind, native=native)(x, [0.1])
