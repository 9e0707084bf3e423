"""The exclusive or, learnt by a network of two layers: python examples/xor.py (needs matplotlib)."""

import sys
from dataclasses import dataclass

import numpy as np
from display import picture, progress

import adjoint as ad

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array([[0.0], [1.0], [1.0], [0.0]])


@dataclass
class Dense:
    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        return np.maximum(x @ self.weight + self.bias, 0.0)


@dataclass
class Classifier:
    l1: Dense
    l2: Dense

    def __call__(self, x):
        return self.l2(self.l1(x))


def loss(model, x, y):
    return np.mean((model(x) - y) ** 2)


def glorot(rng, inputs, outputs):
    limit = np.sqrt(6.0 / (inputs + outputs))
    return Dense(rng.uniform(-limit, limit, (inputs, outputs)), np.zeros(outputs))


def main(steps=3000, path="xor.png"):
    rng = np.random.default_rng(2)  # from many starts the output is stuck at zero; from this one it is not
    classifier = Classifier(glorot(rng, 2, 4), glorot(rng, 4, 1))
    optimizer = ad.optim.Adam(learning_rate=0.02)
    step = ad.value_and_grad(loss)
    losses = []
    for done in range(1, steps + 1):
        value, gradient = step(classifier, X, Y)
        optimizer.update(classifier, along=gradient)
        losses.append(value)
        if done % 100 == 0 or done == steps:
            progress(done, steps, f"step {done}  loss {value:.3g}")
    print(classifier(X))

    def draw(figure):
        left, right = figure.subplots(1, 2)
        left.semilogy(np.maximum(losses, 1e-30))
        left.set(xlabel="step", ylabel="loss", title="Training")
        grid = np.linspace(-0.5, 1.5, 101)
        points = np.stack(np.meshgrid(grid, grid), axis=-1)
        surface = right.contourf(grid, grid, classifier(points)[..., 0], levels=np.linspace(0, 2, 21))
        right.scatter(*X.T, c=Y[:, 0], cmap="gray", edgecolors="white", s=80)
        right.set(aspect="equal", title="What was learnt")
        figure.colorbar(surface, ax=right)

    picture(path, draw, figsize=(9, 4))
    return classifier(X)


if __name__ == "__main__":
    main(path=sys.argv[1] if len(sys.argv) > 1 else "xor.png")
