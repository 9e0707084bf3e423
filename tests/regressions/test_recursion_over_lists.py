"""Recursive functions of lists of objects, that make lists of other lengths for themselves."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from regressions.support import right_or_refused
from sampling import IN_DEPTH, check_grads


@dataclass(frozen=True)
class Complex:
    re: float
    im: float = 0.0

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other):
        return Complex(self.re - other.re, self.im - other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)


def transform(values):
    n = len(values)
    if n == 1:
        return values
    even, odd = transform(values[0::2]), transform(values[1::2])
    result = list(values)
    for k in range(n // 2):
        angle = -2 * math.pi * k / n
        turned = Complex(math.cos(angle), math.sin(angle)) * odd[k]
        result[k] = even[k] + turned
        result[k + n // 2] = even[k] - turned
    return result


def test_fast_fourier_transform() -> None:
    signal = [Complex(1.0, 0.5), Complex(-0.3, 0.2), Complex(0.7, -0.1), Complex(0.2, 0.9)]
    right_or_refused(lambda values: transform(values)[1].re, signal)


def energy(values, k):
    """Two forms of it call each other, and both need ``k`` from outside."""

    def of(part):
        if len(part) == 1:
            return part[0].re * k
        return of(part[0::2]) * k + of(part[1::2]) * part[0].im

    return of(values)


def test_forms_that_call_each_other_and_need_a_variable_from_outside() -> None:
    signal = [Complex(1.0, 0.5), Complex(-0.3, 0.2), Complex(0.7, -0.1), Complex(0.2, 0.9)]
    check_grads(energy, (signal, 0.7))


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


@IN_DEPTH
def test_trees_of_objects() -> None:
    def built(values, low, high):
        if low >= high:
            return None
        middle = (low + high) // 2
        node = Node(values[middle] ** 2)
        node.left = built(values, low, middle)
        node.right = built(values, middle + 1, high)
        return node

    def f(values):
        root = built(values, 0, len(values))
        return root.key * root.left.key + root.right.key

    check_grads(f, (np.array([0.5, 1.5, 2.5]),))


def test_trees_of_tuples_are_refused_with_a_way_out() -> None:
    def built(values, low, high):
        if low >= high:
            return None
        middle = (low + high) // 2
        return values[middle] ** 2, built(values, low, middle), built(values, middle + 1, high)

    with pytest.raises(ad.DifferentiationError, match="keep the nodes in lists") as refusal:
        ad.grad(lambda x: built(x, 0, len(x))[0])(np.ones(3))
    assert refusal.value.diagnostics[0].code == "AD0402"


class Nodes:
    """The same tree, whose nodes name each other by index."""

    def __init__(self):
        self.keys, self.left, self.right = [], [], []

    def insert(self, node, key):
        if node < 0:
            self.keys.append(key)
            self.left.append(-1)
            self.right.append(-1)
            return len(self.keys) - 1
        side = self.left if key < self.keys[node] else self.right
        side[node] = self.insert(side[node], key)
        return node

    def in_order(self, node):
        if node < 0:
            return []
        return [*self.in_order(self.left[node]), self.keys[node], *self.in_order(self.right[node])]


@IN_DEPTH
def test_trees_of_indices() -> None:
    def f(x):
        nodes, root = Nodes(), -1
        for value in x:
            root = nodes.insert(root, value * x[0])
        return sum(k * key for k, key in enumerate(nodes.in_order(root)))

    check_grads(f, (np.array([1.3, -0.4, 2.2, 0.7, -1.1]),))


def test_tuple_that_grows_with_each_call_is_refused() -> None:
    def grown(items, n):
        return items if n == 0 else grown((*items, items[-1] * 1.5), n - 1)

    with pytest.raises(ad.DifferentiationError, match="is handed another structure each time"):
        ad.grad(lambda x, n: sum(grown((x,), n)))(1.3, 3)
