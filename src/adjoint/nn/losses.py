"""Losses: numbers that say how far ``predicted`` is from ``expected``.

Each adds up or averages as the reference system's does; ``reduction`` is another way, a function of an array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjoint.nn.activations import log_softmax, softplus

Array = NDArray[Any]
Reduction = Callable[[Array], Any]


def total(x: Array) -> Any:
    """The sum, as a reduction."""
    return np.sum(x)


def mean(x: Array) -> Any:
    """The mean, as a reduction."""
    return np.mean(x)


def l1_loss(predicted: Array, expected: Array, reduction: Reduction = total) -> Any:
    """The sum of ``|predicted - expected|``."""
    return reduction(np.abs(predicted - expected))


def l2_loss(predicted: Array, expected: Array, reduction: Reduction = total) -> Any:
    """The sum of ``(predicted - expected) ** 2``."""
    return reduction((predicted - expected) ** 2)


def mean_absolute_error(predicted: Array, expected: Array) -> Any:
    """The mean of ``|predicted - expected|``."""
    return l1_loss(predicted, expected, mean)


def mean_squared_error(predicted: Array, expected: Array) -> Any:
    """The mean of ``(predicted - expected) ** 2``.

    >>> import adjoint as ad
    >>> ad.grad(mean_squared_error)(np.array([1.0, 2.0]), np.array([0.0, 2.0]))
    array([1., 0.])
    """
    return l2_loss(predicted, expected, mean)


def mean_squared_logarithmic_error(predicted: Array, expected: Array) -> Any:
    """The mean of ``(log(1 + expected) - log(1 + predicted)) ** 2``; what is negative counts as zero."""
    logarithms = np.log1p(np.maximum(expected, 0.0)) - np.log1p(np.maximum(predicted, 0.0))
    return np.mean(logarithms**2)


def mean_absolute_percentage_error(predicted: Array, expected: Array) -> Any:
    """A hundred times the mean of ``|(expected - predicted) / expected|``."""
    return 100.0 * np.mean(np.abs((expected - predicted) / np.abs(expected)))


def hinge_loss(predicted: Array, expected: Array, reduction: Reduction = mean) -> Any:
    """The mean of ``max(0, 1 - expected * predicted)``; ``expected`` is -1 or 1."""
    return reduction(np.maximum(0.0, 1.0 - expected * predicted))


def squared_hinge_loss(predicted: Array, expected: Array, reduction: Reduction = mean) -> Any:
    """The mean of the squares of the hinge; the reference system squares the mean."""
    return reduction(np.maximum(0.0, 1.0 - expected * predicted) ** 2)


def categorical_hinge_loss(predicted: Array, expected: Array, reduction: Reduction = mean) -> Any:
    """The mean of ``max(0, max((1 - expected) * predicted) - sum(expected * predicted) + 1)`` of the last axis."""
    positive = np.sum(expected * predicted, axis=-1)
    negative = np.max((1.0 - expected) * predicted, axis=-1)
    return reduction(np.maximum(0.0, negative - positive + 1.0))


def log_cosh_loss(predicted: Array, expected: Array, reduction: Reduction = mean) -> Any:
    """The mean of ``log(cosh(predicted - expected))``, without overflow."""
    x = predicted - expected
    return reduction(x + softplus(-2.0 * x) - np.log(2.0))


def poisson_loss(predicted: Array, expected: Array, reduction: Reduction = mean) -> Any:
    """The mean of ``predicted - expected * log(predicted)``."""
    return reduction(predicted - expected * np.log(predicted))


def kullback_leibler_divergence(predicted: Array, expected: Array, reduction: Reduction = total) -> Any:
    """The sum of ``expected * log(expected / predicted)``."""
    return reduction(expected * np.log(expected / predicted))


def softmax_cross_entropy(logits: Array, labels: NDArray[np.integer[Any]], reduction: Reduction = mean) -> Any:
    """The mean over samples of ``-log_softmax(logits)[label]``.

    Parameters
    ----------
    logits
        ``(..., classes)``.
    labels
        The class of each sample, ``(...)``.
    reduction
        Of the losses of samples.

    Examples
    --------
    >>> softmax_cross_entropy(np.zeros((3, 4)), np.array([0, 1, 3])).round(6) == np.log(4.0).round(6)
    np.True_
    """
    rows = log_softmax(logits).reshape(-1, logits.shape[-1])
    return reduction(-rows[np.arange(len(rows)), labels.reshape(-1)])


def softmax_cross_entropy_of_probabilities(logits: Array, probabilities: Array, reduction: Reduction = mean) -> Any:
    """The mean over samples of ``-sum(probabilities * log_softmax(logits))``."""
    return reduction(-np.sum(probabilities * log_softmax(logits), axis=-1))


def sigmoid_cross_entropy(logits: Array, labels: Array, reduction: Reduction = mean) -> Any:
    """The mean of ``-labels * log(p) - (1 - labels) * log(1 - p)`` with ``p = sigmoid(logits)``, without overflow."""
    return reduction(np.maximum(logits, 0.0) - logits * labels + np.log1p(np.exp(-np.maximum(logits, -logits))))


def huber_loss(predicted: Array, expected: Array, delta: float = 1.0, reduction: Reduction = total) -> Any:
    """The sum of ``0.5 * d**2`` for distances ``d`` up to ``delta``, and linear from there (Huber, 1964)."""
    difference = predicted - expected
    near = np.minimum(np.maximum(difference, -delta), delta)
    return reduction(0.5 * near**2 + delta * (np.abs(difference) - np.abs(near)))


def negative_log_likelihood(logarithms: Array, labels: NDArray[np.integer[Any]], reduction: Reduction = mean) -> Any:
    """The mean over samples of ``-logarithms[label]``: of probabilities whose logarithms are given."""
    rows = logarithms.reshape(-1, logarithms.shape[-1])
    return reduction(-rows[np.arange(len(rows)), labels.reshape(-1)])


def cosine_distance(predicted: Array, expected: Array, reduction: Reduction = mean) -> Any:
    """The mean of one minus the cosine of the angle between vectors of the last axis."""
    lengths = np.linalg.norm(predicted, axis=-1) * np.linalg.norm(expected, axis=-1)
    return reduction(1.0 - np.sum(predicted * expected, axis=-1) / lengths)
