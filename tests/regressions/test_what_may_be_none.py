"""Whether something is None is asked at run time where one of its structures may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from regressions.differences import right


class Node:
    def __init__(self, item, rest=None):
        self.item = item
        self.rest = rest


def last_of(items, otherwise):
    for item in items:
        otherwise = item
    return otherwise


def is_there(x, items):
    return x * 2.0 if last_of(items, (x, x)) is not None else x * 3.0


def is_missing(x, items):
    found = last_of(items, (x, x))
    return x * 2.0 if found is None or x > 5.0 else x * 3.0


def is_equal(x, items):
    found = last_of(items, (x, x))
    return x * 2.0 if found == None else x * 3.0  # noqa: E711


def until_it_is_there(x, items):
    found = last_of(items, (x, x))
    while found is None:
        found = x
        x = x * x
    return x


def assigned_in_the_test(x, items):
    return x * 2.0 if (found := last_of(items, (x, x))) is None else x * 3.0 if found else x


def assigned_where_all_is_data(x, items):
    return x * 2.0 if (found := last_of(items, None)) is not None and found else x * 3.0


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("items", [[], [None], ["t"], ["t", None], [None, "t"]], ids=str)
@pytest.mark.parametrize(
    "f", [is_there, is_missing, is_equal, until_it_is_there, assigned_in_the_test, assigned_where_all_is_data]
)
def test_one_of_several_structures(f: Callable[..., Any], items: list[Any], native: bool) -> None:
    right(f, 0.7, items, native=native)


def followed(x, n):
    top = None
    for i in range(n):
        top = Node(x * (i + 1), top)
    total = top.item
    node = top
    while (node := node.rest) is not None:
        total = total + node.item * x
    return total


def followed_once(x, n):
    top = None
    for i in range(n):
        top = Node(x * (i + 1), top)
    if (node := top.rest) is None:
        return top.item * 1.0
    return top.item * node.item


@pytest.mark.parametrize("f", [followed, followed_once])
@pytest.mark.parametrize("n", [1, 3])
def test_references_that_are_assigned_in_a_test(f: Callable[..., Any], n: int) -> None:
    right(f, 0.7, n)


def written_on_the_way(x):
    for _ in ad.checkpointed(range(3), snapshots=1):
        node = Node(x, Node(x, None))
        while node is not None:
            node.item = x
            node = node.rest
    return 1.5 * x


def test_the_end_of_a_list_that_is_written() -> None:
    """It was taken for one more node: the loop went on behind the end."""
    value, pullback = ad.vjp(written_on_the_way, 0.3)
    assert value == pytest.approx(0.45)
    assert pullback(1.0) == (1.5,)
