"""True or false: a network that follows the branches of a tree learns what logical formulas mean.

The network is a recursive function over a recursive type; it is trained on small formulas and asked about larger ones:
python examples/trees.py (needs matplotlib).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from display import picture, progress

import adjoint as ad

OPERATORS = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


@dataclass(frozen=True)
class Leaf:
    value: int


@dataclass(frozen=True)
class Node:
    left: Tree
    operator: int
    right: Tree


Tree = Leaf | Node


@dataclass
class Classifier:
    """A vector for each leaf, a matrix for each operator, and a direction that means "true"."""

    leaves: np.ndarray
    matrices: np.ndarray
    biases: np.ndarray
    direction: np.ndarray

    def meaning(self, tree: Tree):
        match tree:
            case Leaf(value):
                return self.leaves[value]
            case Node(left, operator, right):
                both = np.concatenate([self.meaning(left), self.meaning(right)])
                return np.tanh(self.matrices[operator] @ both + self.biases[operator])

    def score(self, tree: Tree):
        return np.dot(self.direction, self.meaning(tree))


def loss(model, tree, label):
    return np.log1p(np.exp(-label * model.score(tree)))


def formula(rng, depth):
    """A random formula: a leaf is 0 or 1."""
    if depth == 0 or rng.random() < 0.2:
        return Leaf(int(rng.integers(2)))
    return Node(formula(rng, depth - 1), int(rng.integers(len(OPERATORS))), formula(rng, depth - 1))


def truth(tree):
    """What a formula means."""
    match tree:
        case Leaf(value):
            return bool(value)
        case Node(left, operator, right):
            return bool(list(OPERATORS.values())[operator](truth(left), truth(right)))


def sample(rng, count, depth):
    trees = [formula(rng, depth) for _ in range(count)]
    return trees, [1.0 if truth(tree) else -1.0 for tree in trees]


def accuracy(model, trees, labels):
    return np.mean([model.score(tree) * label > 0 for tree, label in zip(trees, labels, strict=True)])


def main(steps=600, path="trees.png", size=6, batch=16):
    rng = np.random.default_rng(0)
    model = Classifier(
        leaves=rng.normal(size=(2, size)),
        matrices=rng.normal(size=(len(OPERATORS), size, 2 * size)) / np.sqrt(2 * size),
        biases=np.zeros((len(OPERATORS), size)),
        direction=rng.normal(size=size),
    )
    optimizer = ad.optim.Adam(ad.optim.Cosine(0.02, steps))
    step = ad.value_and_grad(loss)
    losses = []
    for done in range(1, steps + 1):
        total, direction = 0.0, None
        for tree, label in zip(*sample(rng, batch, depth=3), strict=True):
            value, gradient = step(model, tree, label)  # the derivative is compiled once for each shape of trees
            total, direction = total + value / batch, ad.tangents.add(direction, gradient)
        optimizer.update(model, along=ad.tangents.scale(direction, 1.0 / batch))
        losses.append(total)
        progress(done, steps, f"step {done}  loss {total:.4f}")

    depths = range(1, 9)
    found = [accuracy(model, *sample(rng, 200, depth)) for depth in depths]
    for depth, part in zip(depths, found, strict=True):
        print(f"depth {depth}: {part:.1%} right" + ("  (trained up to depth 3)" if depth == 3 else ""))

    def draw(figure):
        left, right = figure.subplots(1, 2)
        left.semilogy(losses)
        left.set(xlabel="step", ylabel="loss", title="Training on formulas up to depth 3")
        right.bar(depths, found)
        right.set(xlabel="depth of the formula", ylabel="part that is right", ylim=(0, 1), title="Larger formulas")

    picture(path, draw, figsize=(9, 4))
    return found


if __name__ == "__main__":
    main(path=sys.argv[1] if len(sys.argv) > 1 else "trees.png")
