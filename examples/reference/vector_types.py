"""The whitepaper's types: trees, and vectors of any kind: python examples/reference/vector_types.py"""

from __future__ import annotations

import numpy as np

import adjoint as ad
from adjoint.types.protocols import filled


@ad.differentiable(frozen=True)
class Leaf:
    value: float

    def __add__(self, other: Tree) -> Tree:
        match other:
            case Leaf(value):
                return Leaf(self.value + value)
            case Node(left, value, right):
                return Node(left, self.value + value, right)


@ad.differentiable(frozen=True)
class Node:
    left: Tree
    value: float
    right: Tree

    def __add__(self, other: Tree) -> Tree:
        match other:
            case Leaf(value):
                return Node(self.left, self.value + value, self.right)
            case Node(left, value, right):
                return Node(self.left + left, self.value + value, self.right + right)


Tree = Leaf | Node


def energy(tree: Tree):
    match tree:
        case Leaf(value):
            return value * value
        case Node(left, value, right):
            return energy(left) + value * value + energy(right)


three = Node(Leaf(1.0), 2.0, Leaf(3.0))
ten = Node(Leaf(10.0), 20.0, Leaf(30.0))
print(Leaf(1.0) + Leaf(2.0))
print(Leaf(1.0) + ten)
print(three + ten)
print(ad.grad(energy)(three))
print(ad.grad(lambda a, b: energy(a + b), wrt=1)(three, Leaf(0.5)))

print(filled(np.ndarray, [2, 3], 1.5))

# Prints:
# Leaf(value=3.0)
# Node(left=Leaf(value=10.0), value=21.0, right=Leaf(value=30.0))
# Node(left=Leaf(value=11.0), value=22.0, right=Leaf(value=33.0))
# Node.TangentVector(left=Leaf.TangentVector(value=2.0), value=4.0, right=Leaf.TangentVector(value=6.0))
# Leaf.TangentVector(value=5.0)
# [[1.5 1.5 1.5]
#  [1.5 1.5 1.5]]
