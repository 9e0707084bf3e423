"""Lists that hold constants in objects that vary, read by functions that stay functions: their shadows fell behind."""

from __future__ import annotations

import collections
from collections.abc import Callable

import pytest

from adjoint.testing import check_grads


def turned(x):
    queue = collections.deque([1.0, 2.0, 3.0])
    queue.extend([1.0, 4.0])
    queue.reverse()
    other = queue.copy()
    queue.appendleft(x)
    return x + sum(other) ** 2 * sum([v * v for v in queue])


def filled_anew(x):
    queue = collections.deque([1.0, 2.0, 3.0])
    queue.extend([4.0, 5.0])
    items = list(queue)
    queue.clear()
    for item in items:
        queue.appendleft(item * x)
    other = queue.copy()
    return x + sum(other) ** 2 * sum([v * v for v in queue])


def copied_between(x):
    queue = collections.deque([1.0, 2.0, 3.0])
    queue.extend([4.0, 5.0])
    items = list(queue)
    queue.clear()
    queue.extendleft(items)
    queue.appendleft(x)
    other = queue.copy()
    queue.appendleft(x * x)
    return sum(other) ** 2 * sum([v * v for v in list(queue)])


class Stacks:
    def __init__(self):
        self.left, self.right = [], []

    def put(self, item):
        self.right.append(item)

    def put_left(self, item):
        self.left.append(item)

    def __len__(self):
        return len(self.left) + len(self.right)

    def __getitem__(self, place):
        count = len(self.left)
        if place < 0 or place >= len(self):
            raise IndexError("no such place")
        if place < count:
            return self.left[count - 1 - place]
        return self.right[place - count]


def of_ones_own(x):
    stacks = Stacks()
    for k in range(3):
        stacks.put(float(k))
    first = [stacks[i] for i in range(len(stacks))]
    for _ in range(len(first)):
        stacks.right.pop()
    for item in first:
        stacks.put_left(item * x)
    other = Stacks()
    for i in range(len(stacks)):
        other.put(stacks[i])
    return sum([other[i] ** 2 for i in range(len(other))]) * sum([stacks[i] for i in range(len(stacks))])


@pytest.mark.parametrize("function", [turned, filled_anew, copied_between, of_ones_own])
def test_what_is_rearranged_is_followed(function: Callable[[float], float]) -> None:
    check_grads(function, (1.5,), order=1)


def moved(x):
    queue = collections.deque([x, 2 * x, 3 * x])
    queue.extend([1.0, x])
    queue.reverse()
    other = queue.copy()
    return (x + sum(other) ** 2) ** 2


def test_second_derivatives_of_numbers_that_move_in_a_deque() -> None:
    check_grads(moved, (1.5,), order=2)
