"""Metrics: what is measured of a model's outputs, over all batches of an epoch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Metric(Protocol):
    """What the training loop asks a metric; it makes a new one for each pass over the data."""

    name: str

    def add(self, loss: float, outputs: Array, targets: Array) -> None:
        """Takes in a batch."""

    def value(self) -> float:
        """The metric of all batches so far."""


class Mean:
    """The mean over samples of a number for each batch."""

    name = "mean"

    def __init__(self) -> None:
        self.total, self.samples = 0.0, 0

    def of_batch(self, loss: float, outputs: Array, targets: Array) -> float:
        """The mean over the samples of a batch."""
        raise NotImplementedError

    def add(self, loss: float, outputs: Array, targets: Array) -> None:
        """Takes in a batch."""
        self.total += self.of_batch(loss, outputs, targets) * len(targets)
        self.samples += len(targets)

    def value(self) -> float:
        """The mean over all samples so far."""
        return self.total / self.samples if self.samples else math.nan


class Loss(Mean):
    """The mean loss."""

    name = "loss"

    def of_batch(self, loss: float, outputs: Array, targets: Array) -> float:
        """The loss itself."""
        return loss


class Perplexity(Loss):
    """The exponential of the mean loss."""

    name = "perplexity"

    def value(self) -> float:
        """Of all batches so far."""
        return math.exp(super().value())


class Accuracy(Mean):
    """The share of samples whose class has the largest score; ``(..., classes)`` and ``(...)``."""

    name = "accuracy"

    def of_batch(self, loss: float, outputs: Array, targets: Array) -> float:
        """The share in a batch."""
        return float(np.mean(np.argmax(outputs, axis=-1) == targets))


class Top5Accuracy(Mean):
    """The share of samples whose class is among the five with the largest scores."""

    name = "top5_accuracy"

    def of_batch(self, loss: float, outputs: Array, targets: Array) -> float:
        """The share in a batch."""
        best = np.argsort(outputs, axis=-1)[..., -5:]
        return float(np.mean(np.any(best == targets[..., np.newaxis], axis=-1)))


class MatthewsCorrelation:
    """The correlation of two classes, as said and as they are: from -1 to 1 (Matthews, 1975)."""

    name = "matthews_correlation"

    def __init__(self) -> None:
        self.counts = np.zeros((2, 2))

    def add(self, loss: float, outputs: Array, targets: Array) -> None:
        """Takes in a batch."""
        np.add.at(self.counts, (np.argmax(outputs, axis=-1), np.asarray(targets)), 1.0)

    def value(self) -> float:
        """Of all batches so far; zero where one class is missing."""
        (tn, fn), (fp, tp) = self.counts
        scale = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return float((tp * tn - fp * fn) / scale) if scale else 0.0


METRICS: dict[str, Callable[[], Metric]] = {
    metric.name: metric for metric in (Accuracy, Loss, MatthewsCorrelation, Perplexity, Top5Accuracy)
}
"""Those that the training loop knows by name."""
