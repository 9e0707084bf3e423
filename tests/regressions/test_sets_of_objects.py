"""Sets of objects that are equal to themselves only: graphs of operations that a program makes and goes through."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second
from sampling import THOROUGH

X = np.array([0.7, -1.2, 0.4])


class Value:
    """A number that knows how it was made, after Karpathy's micrograd."""

    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, other):
        out = Value(self.data**other, (self,), f"**{other}")

        def _backward():
            self.grad += (other * self.data ** (other - 1)) * out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Value(0.0 if self.data < 0 else self.data, (self,), "ReLU")

        def _backward():
            self.grad += (out.data > 0) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1
        for v in reversed(topo):
            v._backward()

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + (-other)

    def __rmul__(self, other):
        return self * other


class Neuron:
    def __init__(self, count, scale):
        self.w = [Value(scale * 0.3 * (i + 1)) for i in range(count)]
        self.b = Value(scale * 0.1)

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        return act.relu()

    def parameters(self):
        return [*self.w, self.b]


class Net:
    def __init__(self, scale):
        self.neurons = [Neuron(2, scale * (k + 1)) for k in range(2)]
        self.last = Neuron(2, scale)

    def __call__(self, x):
        return self.last([neuron(x) for neuron in self.neurons])

    def parameters(self):
        return [p for neuron in self.neurons + [self.last] for p in neuron.parameters()]


def values(x):
    a, b = Value(x[0]), Value(x[1])
    c = a * b + a * a * x[2] - b
    return (c * c + 2.0 * c).data


def gradients(x):
    a, b, c = Value(x[0]), Value(x[1]), Value(x[2])
    d = a * b + c**2
    e = (d + a * a * 2.0).relu() * d
    e.backward()
    return a.grad * b.grad + c.grad * e.data


def trained(x):
    net = Net(x[0])
    for _ in range(2):
        loss = (net([Value(x[1] + 2.0), Value(0.5)]) - 1.0) ** 2 + (net([Value(0.3), Value(x[2])]) - 0.2) ** 2
        for p in net.parameters():
            p.grad = 0.0
        loss.backward()
        for p in net.parameters():
            p.data += -0.05 * p.grad
    return loss.data + sum(p.data for p in net.parameters())


def operations(x):
    a, b, c = Value(x[0]), Value(x[1]), Value(x[0] * x[2])
    some = set([a, b, a])
    some.add(c)
    some.discard(a)
    both = some | {a}
    others = both.copy()
    others.remove(c)
    total = x[0] * len(some) + sum(v.data**2 for v in both) + (5.0 * x[1] if a in some else x[1] * x[2])
    total = total + (others.pop().data + others.pop().data) * x[2] + len(others)
    both.clear()
    return total + len(both)


@pytest.mark.parametrize("f", [values, gradients, operations, *([trained] if THOROUGH else [])])
def test_graphs_of_operations(f: Callable[[Any], Any]) -> None:
    right(f, X)
    second(f, X)
    np.testing.assert_array_equal(ad.grad(f)(X), ad.grad(f)(X))


def test_sets_of_what_does_not_vary_are_sets() -> None:
    def f(x):
        seen = set()
        for i in (3, 1, 3, 2):
            seen.add(i)
        return x * len(seen) * sum(sorted(seen))

    right(f, 1.3)


def test_sets_of_numbers_that_vary_are_refused() -> None:
    refused(lambda: ad.grad(lambda x: sum({x, 2.0 * x}))(1.0))
