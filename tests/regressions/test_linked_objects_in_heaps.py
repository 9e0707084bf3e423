"""Objects that refer to each other as items of tuples: in heaps, in dicts, compared item by item."""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second

X = np.array([0.7, 1.2, 0.4, 2.1, 0.9, 1.6])


class Tree:
    def __init__(self, weight, left=None, right=None):
        self.weight = weight
        self.left = left
        self.right = right


class Node:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following

    def __lt__(self, other):
        return self.value < other.value


def huffman(x):
    heap = []
    for i in range(len(x)):
        heapq.heappush(heap, (x[i] * x[i], i, Tree(x[i] * x[i])))
    made = len(x)
    while len(heap) > 1:
        a, _, left = heapq.heappop(heap)
        b, _, right = heapq.heappop(heap)
        heapq.heappush(heap, (a + b, made, Tree(a * b, left, right)))
        made += 1
    root = heap[0][2]
    total = root.weight
    while root.left is not None:
        total = total * 0.5 + root.left.weight * root.right.weight
        root = root.left if root.left.weight > root.right.weight else root.right
    return total


def ties(x):
    heap = []
    last = None
    for i in range(len(x)):
        last = Node(x[i], last)
        heapq.heappush(heap, (i % 2, last))
    total = 0.0
    while heap:
        even, node = heapq.heappop(heap)
        total = total * 0.7 + node.value * (even + 1)
        if node.following is not None:
            total = total + node.following.value**2
    return total


def shortest(x):
    nodes = {}
    last = None
    for i in range(len(x)):
        last = Node(x[i], last)
        nodes[i] = last
    best = {0: 0.0 * x[0]}
    heap = [(0.0, 0, nodes[0])]
    while heap:
        so_far, place, node = heapq.heappop(heap)
        for other in (place + 1, 2 * place + 1):
            if other < len(x):
                way = so_far + (node.value - nodes[other].value) ** 2 + 0.1
                if other not in best or way < best[other]:
                    best[other] = way
                    heapq.heappush(heap, (way, other, nodes[other]))
    return sum(best.values())


@pytest.mark.parametrize("f", [huffman, ties, shortest])
def test_right_in_all_modes(f: Callable[[Any], Any]) -> None:
    right(f, X)
    second(f, X)
    np.testing.assert_array_equal(ad.grad(f)(X), ad.grad(f)(X))


def test_objects_without_an_order_raise_where_all_before_them_are_equal() -> None:
    def f(x):
        heap = []
        for i in range(3):
            heapq.heappush(heap, (x * i if x > 1.0 else x * 0.0, Tree(x, Tree(x * i))))
        return heap[0][1].left.weight + heap[-1][1].left.weight

    right(f, 2.0)
    with pytest.raises(TypeError):
        f(0.5)
    with pytest.raises(TypeError):
        ad.grad(f)(0.5)
