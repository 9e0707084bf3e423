"""``is`` of two values: tuples are made again where they are kept, and what is computed alike gives two objects."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right

NOTHING = ()


class Pair(NamedTuple):
    one: float
    other: float


class Holder:
    def __init__(self, held: Any = (1e-5, 1e5)) -> None:
        self.held = held


def chosen(x: float, is_first: Any) -> float:
    return x * x if is_first else x**3


def kept_in_a_list(x: float) -> float:
    pair, pairs = (x, 2.0), []
    for _ in range(int(x) + 3):
        pairs.append(pair)
    return chosen(x, pairs[0] is pairs[1])


def beside_what_is_kept(x: float) -> float:
    pair, pairs = Pair(x, 2.0), {}
    for i in range(int(x) + 3):
        pairs[i] = pair
    return chosen(x, pairs[0] is not pair)


def chosen_by_a_branch(x: float) -> float:
    one, other = (x, 2.0), (x, 2.0)
    found = one if x < 0.5 else other
    return chosen(x, found is one)


def carried_by_a_loop(x: float) -> float:
    one = found = (x, 2.0)
    for i in range(int(x) + 3):
        found = found if i < 10 else (x, 1.0)
    return chosen(x, found is one)


def by_a_function(x: float) -> float:
    one = (x, 2.0)
    return chosen(x, operator.is_(one, one if x < 0.5 else (x, 1.0)))


def in_objects(x: float) -> float:
    holders = [Holder()]
    for _ in range(int(x) + 3):
        holders.append(Holder())
    return chosen(x, holders[0].held is holders[1].held)


@pytest.mark.parametrize(
    "function", [kept_in_a_list, beside_what_is_kept, chosen_by_a_branch, carried_by_a_loop, by_a_function, in_objects]
)
def test_tuples_have_no_identity(function: Callable[..., float]) -> None:
    refusal = refused(lambda: ad.grad(function)(0.3))
    (found,) = refusal.diagnostics
    assert found.code == "AD0301" and "two tuples" in found.labels[0].text
    assert found.helps == ("compare what they hold: ==",)


UNKNOWN = np.nan


@pytest.mark.parametrize("asked", [lambda x: UNKNOWN is np.nan, lambda x: x in (None, np.nan)])
def test_numbers_are_not_known_to_be_nan_itself(asked: Callable[[float], bool]) -> None:
    refusal = refused(lambda: ad.grad(lambda x: chosen(x, asked(x)))(0.3))
    assert refusal.diagnostics[0].helps == ("ask whether it is one: math.isnan(x)",)


def of_one_length(x: float) -> float:
    one, other = (x, 2.0), (x, 2.0, 1.0)
    return chosen(x, one is other) + chosen(x, one is one)


def of_no_item(x: float, *more: float) -> float:
    return chosen(x, more is NOTHING)


def numbers(x: float) -> float:
    one, other = x * 2.0, x * 2.0
    return chosen(x, one is other) + chosen(x, one is one)


def arrays(x: float) -> float:
    one = np.array([x, 1.0])
    same, other = one * 1.0, one * 1.0
    return chosen(x, same is one) + chosen(x, same is other) + chosen(x, np.asarray(one) is one)


def copies_and_views(x: float) -> float:
    rows = np.array([[x, 1.0], [2.0, x]])
    copies = chosen(x, rows.copy() is rows) + 2.0 * chosen(x, np.copy(rows) is rows)
    return copies + 4.0 * chosen(x, rows[0] is rows[0]) + 8.0 * chosen(x, rows.T is rows.T)


def nan_among_others(x: float) -> float:
    unknown = x * UNKNOWN
    return chosen(x, unknown in (1.0, unknown)) + chosen(x, None in (1.0, np.nan))


def items_of_arrays(x: float) -> float:
    number, numbers = x * 2.0, np.zeros(2)
    numbers[0] = number
    return chosen(x, numbers[0] is number) + 2.0 * chosen(x, [number][0] is number)


def told_by_id(x: float) -> float:
    one, other = np.sin(np.array([x, 1.0])), np.sin(np.array([x, 1.0]))
    return chosen(x, id(one) == id(other)) + chosen(x, operator.is_((x,), (x, 1.0)))


def in_one_memory(x: float) -> float:
    one = np.array([x, 1.0])
    other, shared = one * 1.0, chosen(x, np.shares_memory(one[:1], one))
    return (
        shared + 2.0 * chosen(x, np.shares_memory(one, other)) + 4.0 * chosen(x, np.may_share_memory(one.copy(), one))
    )


def of_own_memory(x: float) -> float:
    one = np.array([x, 1.0])
    other = one.copy()
    return chosen(x, other.base is None) + 2.0 * chosen(x, np.shares_memory(one, other))


def handed_to_a_function(x: float) -> float:
    def total(n: int, one: Any, other: Any) -> Any:
        return chosen(x, one is other) if n == 0 else total(n - 1, one, other)

    return total(int(x) + 3, np.sin(x * np.ones(2)), np.sin(x * np.ones(2)))


def same_in_all(x: float) -> float:
    numbers, kept = np.array([x, 1.0]), []
    for _ in range(int(x) + 3):
        kept.append(numbers)
    return chosen(x, kept[0] is kept[1])


@pytest.mark.parametrize(
    "function",
    [
        of_one_length,
        of_no_item,
        numbers,
        arrays,
        copies_and_views,
        items_of_arrays,
        nan_among_others,
        told_by_id,
        in_one_memory,
        of_own_memory,
        handed_to_a_function,
        same_in_all,
    ],
)
def test_objects_are_told_apart(function: Callable[..., float]) -> None:
    right(function, 0.3)
