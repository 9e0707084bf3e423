"""A list that changes while a loop runs through it is gone through by places, under whatever name it changes."""

import collections

import pytest

import adjoint as ad
from regressions.differences import right, second


def through_an_alias(x, n):
    xs = [x * i for i in range(n)]
    box = [xs]
    total = 0.0
    for v in xs:
        if len(xs) < 6:
            box[n - n].append(v * x)
        total += v
    return total


def test_through_an_alias() -> None:
    right(through_an_alias, 2.0, 3)
    second(lambda x: through_an_alias(x, 3), 2.0)


def over_a_queue(x, n):
    items = collections.deque([x, 2 * x, 3 * x])
    total = 0.0
    for item in items:
        total += item * item
        if n == 1:
            items.append(items.popleft())
        if n == 2:
            items.append(x)
            break
    return total + sum(items)


def test_queues_that_change_are_not_gone_through() -> None:
    right(over_a_queue, 2.0, 0)
    right(over_a_queue, 2.0, 2)
    with pytest.raises(RuntimeError, match="deque mutated"):
        ad.grad(over_a_queue)(2.0, 1)
