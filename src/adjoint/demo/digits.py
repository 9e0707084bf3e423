"""Handwritten digits: a model made of plain dataclasses, and its training.

Nothing here knows how derivatives are made: the gradient of a model is a vector with the model's field names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adjoint as ad
from adjoint.types import moved

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

SPLIT_SEED = 2024
TEST_IMAGES = 360
BATCH = 32


@dataclass
class Dense:
    w: Floats
    b: Floats

    def __call__(self, x: Floats) -> Floats:
        return x @ self.w + self.b


@dataclass
class Classifier:
    hidden: Dense
    output: Dense

    def __call__(self, images: Floats) -> Floats:
        return self.output(np.maximum(self.hidden(images), 0.0))


def loss(model: Classifier, images: Floats, labels: Labels) -> Any:
    """The mean cross-entropy of the model's scores."""
    scores = model(images)
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_sums = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_sums - shifted[np.arange(len(labels)), labels])


@dataclass(frozen=True)
class Data:
    """Images as rows of 64 brightnesses between 0 and 1, and the digits that they show."""

    train_images: Floats
    train_labels: Labels
    test_images: Floats
    test_labels: Labels


def load() -> Data:
    """The 1,797 digits that come with scikit-learn, always split in the same way."""
    from sklearn.datasets import load_digits  # lazy

    digits = load_digits()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(digits.target))
    images, labels = digits.data[order] / 16.0, digits.target[order]
    return Data(images[TEST_IMAGES:], labels[TEST_IMAGES:], images[:TEST_IMAGES], labels[:TEST_IMAGES])


def initial(rng: np.random.Generator, hidden: int = 128) -> Classifier:
    """A model with small random weights."""

    def dense(inputs: int, outputs: int) -> Dense:
        return Dense(rng.normal(size=(inputs, outputs)) * np.sqrt(2.0 / inputs), np.zeros(outputs))

    return Classifier(dense(64, hidden), dense(hidden, 10))


@dataclass(frozen=True)
class Epoch:
    """Where training stands after one pass over the images."""

    model: Classifier
    losses: tuple[float, ...]
    """One for each step of the pass."""
    accuracy: float
    """On the test images, between 0 and 1."""


def train(data: Data, epochs: int, seed: int, rate: float = 0.1, momentum: float = 0.9) -> Iterator[Epoch]:
    """Stochastic gradient descent with momentum, one pass at a time.

    Parameters
    ----------
    data
        What to learn from, and what to measure with.
    epochs
        How many passes over the training images.
    seed
        Of the first weights and of the order of the images.
    rate, momentum
        Of the descent; the rate falls to zero along half a cosine.
    """
    rng = np.random.default_rng(seed)
    model = initial(rng)
    velocity = None
    for epoch in range(epochs):
        falling = rate * 0.5 * (1.0 + np.cos(np.pi * epoch / epochs))
        losses = []
        for batch in batches(rng, len(data.train_labels)):
            value, gradient = step(model, data.train_images[batch], data.train_labels[batch])
            velocity = gradient if velocity is None else momentum * velocity + gradient
            model = moved(model, -falling * velocity)
            losses.append(float(value))
        yield Epoch(model, tuple(losses), accuracy(model, data.test_images, data.test_labels))


step = ad.value_and_grad(loss)


def batches(rng: np.random.Generator, count: int) -> list[NDArray[np.int64]]:
    """All indices in a random order, in pieces."""
    order = rng.permutation(count)
    return [order[start : start + BATCH] for start in range(0, count, BATCH)]


def predicted(model: Classifier, images: Floats) -> Labels:
    """The digit that the model sees in each image."""
    digits: Labels = np.argmax(model(images), axis=1)
    return digits


def accuracy(model: Classifier, images: Floats, labels: Labels) -> float:
    """The share of images that the model reads rightly."""
    return float(np.mean(predicted(model, images) == labels))
