"""Containers ask whether items are one object before they ask whether they are equal, which NaN never is."""

import operator
import sys
from collections import deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad

UNKNOWN = float("nan")
PAIR = (UNKNOWN, 1.0)
Pair = namedtuple("Pair", "one other")


@dataclass(order=True)
class Point:
    one: float
    other: float


class Holder:
    def __init__(self, held: float) -> None:
        self.held = held


def several(n: float, count: float) -> list[float]:
    return [n for _ in range(int(count) + 3)]


def doubled(n: float, count: float) -> list[float]:
    return [n * 2.0 for _ in range(int(count) + 3)]


def table(n: float, count: float) -> dict[int, float]:
    return {i: n for i in range(int(count) + 3)}


def put_in(one: Any, other: Any) -> dict[Any, float]:
    items = {one: 1.0}
    items[other] = 3.0
    return items


def put_twice(n: float) -> dict[float, float]:
    items = {n * 2.0: 1.0}
    items[n * 2.0] = 2.0
    return items


def grown(n: float) -> set[float]:
    items = {n * 2.0}
    items.add(n * 2.0)
    return items


def told_again(items: list[float]) -> bool:
    found = [item * 2.0 for item in items]
    return found[0] in found and found[0] * 1.0 not in found


Asked = Callable[[float, float], Any]

ITEMS: dict[str, Asked] = {
    "known tuples": lambda x, n: (n, x) == (n, x),
    "unequal": lambda x, n: (n,) != (n,),
    "of two parts": lambda x, n: (n, x) == (n, x * 2.0),
    "inside another": lambda x, n: ((n,), x) == ((n,), x),
    "tuple in a list": lambda x, n: (n,) in [(n,)],
    "known lists": lambda x, n: [n] == [n],
    "plain": lambda x, n: n == n,
    "computed": lambda x, n: (n * 2.0,) == (n * 2.0,),
    "computed, in lists": lambda x, n: [n * 2.0] == [n * 2.0],
    "computed, in order": lambda x, n: (n * 2.0, x) < (n * 2.0, x * 2.0),
    "in order": lambda x, n: (n, x) < (n, x * 2.0),
    "computed member": lambda x, n: n * 2.0 in (n * 2.0,),
    "computed count": lambda x, n: [n * 2.0].count(n * 2.0) == 1,
    "computed in a dict": lambda x, n: {"a": n * 2.0} == {"a": n * 2.0},
    "computed in sets": lambda x, n: len({n * 2.0, n * 2.0}) == 1,
    "complex": lambda x, n: complex(n, 1.0) in (complex(n, 1.0),),
    "by a factor of one": lambda x, n: [n * 1.0] == [n],
    "itself by a sign": lambda x, n: (+n,) == (float(n),),
    "of NumPy": lambda x, n: [np.sin(n)] == [np.sin(n)],
    "constants": lambda x, n: (UNKNOWN,) == (UNKNOWN,) and PAIR == (UNKNOWN, 1.0),
    "other constants": lambda x, n: (UNKNOWN,) == (float("nan"),),
    "place of a constant": lambda x, n: [1.0, UNKNOWN].index(UNKNOWN) == 1,
    "choice": lambda x, n: (n if x > 0 else x,) == (n,),
    "attribute": lambda x, n: [Holder(n).held] == [n],
    "computed attribute": lambda x, n: [Holder(n * 2.0).held] == [n * 2.0],
    "named": lambda x, n: Pair(n, x) == (n, x),
    "dataclasses in order": lambda x, n: Point(n, x) < Point(n, x * 2.0),
    "by the operator": lambda x, n: operator.eq((n,), (n,)),
    "number": lambda x, n: (n, 1).count(n) == 1,
    "member": lambda x, n: n in [n],
    "of lists": lambda x, n: several(n, x) == several(n, x),
    "of other lists": lambda x, n: doubled(n, x) == doubled(n, x),
    "of tuples": lambda x, n: tuple(several(n, x)) == tuple(several(n, x)),
    "multiplied by one": lambda x, n: [item * 1.0 for item in several(n, x)] == several(n, x),
    "items": lambda x, n: (several(n, x)[0],) == (several(n, x)[1],),
    "other items": lambda x, n: (doubled(n, x)[0],) == (doubled(n, x)[1],),
    "items of dicts": lambda x, n: (table(n, x)[0],) == (table(n, x)[1],),
    "dicts": lambda x, n: table(n, x) == table(n, x),
    "list member": lambda x, n: n in several(n, x),
    "other list member": lambda x, n: n * 2.0 in doubled(n, x),
    "list count": lambda x, n: several(n, x).count(n) == 3,
    "list place": lambda x, n: [x, *several(n, x)].index(n) == 1,
    "of what is generated": lambda x, n: n in (item for item in several(n, x)),
    "of what is mapped": lambda x, n: n in map(abs, several(n, x)),
    "deques": lambda x, n: deque([n]) == deque([n]),
    "elements": lambda x, n: (np.array([n])[0],) == (np.array([n])[0],),
    "elements of one array": lambda x, n: (lambda a: a[0] in [a[0]])(np.array([n, x])),
    "twice": lambda x, n: told_again(several(n, x)),
    "keys": lambda x, n: len({n * 2.0: x, n * 2.0: x}) == 1,
    "keys put in": lambda x, n: len(put_in(n * 2.0, n * 2.0)) == 1,
    "keys put in by computing": lambda x, n: len(put_twice(n)) == 1,
    "key asked for": lambda x, n: n * 2.0 in put_in(n * 2.0, x),
    "key got": lambda x, n: put_in(n * 2.0, x).get(n * 2.0, 2.0) == 1.0,
    "key of its own": lambda x, n: put_in(n, x).get(n, 2.0) == 1.0,
    "key taken out": lambda x, n: put_in(n * 2.0, x).pop(n * 2.0, 2.0) == 1.0,
    "key set by default": lambda x, n: put_in(n * 2.0, x).setdefault(n * 2.0, 2.0) == 1.0,
    "keys that are tuples": lambda x, n: len(put_in((n * 2.0, 1), (n * 2.0, 1))) == 1,
    "tuple asked for": lambda x, n: (n * 2.0,) in put_in((n * 2.0,), (x,)),
    "keys in loops": lambda x, n: len({n * 2.0 + 0 * i: x for i in range(int(x) + 3)}) == 1,
    "sets grown": lambda x, n: len(grown(n)) == 1,
    "sorted tuples": lambda x, n: sorted([(n * 1.0, 2), (n, 1)])[0][1] == 1,
    "sorted list": lambda x, n: sorted([(n, 3.0 - i) for i in range(int(x) + 3)])[0][1] == 1.0,
    "least": lambda x, n: min((n, 2), (n, 1))[1] == 1,
    "arrays": lambda x, n: (lambda v: (v[0],) == (v[1],))([np.array([n, x])] * (int(x) + 3)),
}
BY_MACHINE_CODE = [
    *("known tuples", "of two parts", "known lists", "plain", "computed", "in order", "computed member", "constants"),
    *("complex", "number", "place of a constant", "of lists", "of other lists", "items", "items of dicts", "dicts"),
    *("list member", "other list member", "list count", "list place", "deques", "elements", "computed in sets"),
    *("keys put in", "keys put in by computing", "keys in loops", "sets grown", "keys that are tuples"),
    *("keys", "sorted tuples", "sorted list", "least", "arrays"),
]


def chosen(asked: Asked) -> Callable[[float, float], float]:
    return lambda x, n: x * x if asked(x, n) else x**3


@pytest.mark.parametrize("asked", ITEMS.values(), ids=ITEMS)
@pytest.mark.parametrize("n", [np.nan, 1.5])
def test_items_are_equal_as_in_python(asked: Asked, n: float) -> None:
    function = chosen(asked)
    expected = (0.09, 0.6) if asked(0.3, n) else (0.027, 0.27)
    assert ad.value_and_grad(function)(0.3, n) == pytest.approx(expected)
    assert ad.jvp(function, (0.3, n), (1.0, 0.0)) == pytest.approx(expected)


@pytest.mark.parametrize("name", BY_MACHINE_CODE)
def test_machine_code_refuses_what_only_objects_tell(name: str) -> None:
    asked = ITEMS[name]
    derivative = ad.value_and_grad(chosen(asked), native=True)
    for n in (1.5, np.nan):
        expected = (0.09, 0.6) if asked(0.3, n) else (0.027, 0.27)
        try:
            assert derivative(0.3, n) == pytest.approx(expected)
        except ad.DifferentiationError as refusal:
            assert np.isnan(n) or name in ("place of a constant", "constants", "arrays")
            assert refusal.diagnostics[0].helps[0] == "leave out native=True"


@pytest.mark.parametrize("n", [np.nan, 1.5])
def test_dataclasses_compare_as_they_do(n: float) -> None:
    def function(x: float) -> float:
        return x * x if Point(n * x, x) == Point(n * x, x) else x**3

    assert ad.value_and_grad(function)(0.3) == pytest.approx((0.027, 0.27) if np.isnan(n) else (0.09, 0.6))

    def of_one(x: float, n: float) -> float:
        return x * x if Point(n, x) == Point(n, x) else x**3

    same = sys.version_info < (3, 13) or n == 1.5
    assert ad.value_and_grad(of_one)(0.3, n) == pytest.approx((0.09, 0.6) if same else (0.027, 0.27))


def test_numbers_that_nobody_asks_for_are_merged() -> None:
    def function(x: float, y: float) -> float:
        return np.sin(x * y) * np.sin(x * y) if (x, y) == (y, x) else x * np.exp(x * y) + np.exp(x * y)

    assert str(ad.source(ad.grad(function), 0.3, 0.4)).count("np.exp(") == 1
