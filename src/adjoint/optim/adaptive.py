"""Descent whose rate adapts to the size that each component of the gradient has had."""


# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.optim.optimizer import Optimizer
from adjoint.optim.schedules import Rate, rate_at
from adjoint.parameters import Unrolled, unrolled


@unrolled
def rmsprop(p, g, square, *, rate, rho, epsilon, weight_decay, decays):
    d = g + weight_decay * p if decays else g
    square *= rho
    square += (1 - rho) * d * d
    p -= rate * d / (np.sqrt(square) + epsilon)


@dataclass(eq=False)
class RMSProp(Optimizer):
    """Descent divided by the root of a moving average of squared gradients.

    Parameters
    ----------
    learning_rate
        A number, or a function of the number of updates made before.
    rho
        How slowly the average changes.
    epsilon
        Added to the root.
    decay
        The rate at step t is divided by ``1 + decay * t``.
    weight_decay
        This multiple of the parameters is added to the gradient.
    """

    learning_rate: Rate = 1e-3
    rho: float = 0.9
    epsilon: float = 1e-8
    decay: float = 0.0
    weight_decay: float = 0.0
    settings = ("rho", "epsilon")

    def parts(self) -> dict[str, float]:
        return {"squares": 0.0}

    def rule(self, options: Any) -> Unrolled:
        return rmsprop


@unrolled
def adagrad(p, g, accumulator, *, rate, epsilon, weight_decay, decays):
    d = g + weight_decay * p if decays else g
    accumulator += d * d
    p -= rate * d / (np.sqrt(accumulator) + epsilon)


@dataclass(eq=False)
class AdaGrad(Optimizer):
    """Descent divided by the root of the sum of all squared gradients.

    Parameters
    ----------
    learning_rate, epsilon, weight_decay
        As for :class:`RMSProp`.
    initial_accumulator
        What the sums start from.
    """

    learning_rate: Rate = 1e-3
    initial_accumulator: float = 0.1
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    settings = ("epsilon",)

    def parts(self) -> dict[str, float]:
        return {"accumulators": self.initial_accumulator}

    def rule(self, options: Any) -> Unrolled:
        return adagrad

    def rate_of(self, options: Any, step: int) -> float:
        return rate_at(options.learning_rate, step - 1)


@unrolled
def adadelta(p, g, square, delta, *, rate, rho, epsilon, weight_decay, decays):
    d = g + weight_decay * p if decays else g
    square *= rho
    square += (1 - rho) * d * d
    step = d * np.sqrt(delta + epsilon) / np.sqrt(square + epsilon)
    p -= rate * step
    delta *= rho
    delta += (1 - rho) * step * step


@dataclass(eq=False)
class AdaDelta(Optimizer):
    """Descent scaled by the ratio of the sizes of past steps and past gradients.

    Parameters
    ----------
    learning_rate, rho, epsilon, decay, weight_decay
        As for :class:`RMSProp`.
    """

    learning_rate: Rate = 1.0
    rho: float = 0.95
    epsilon: float = 1e-6
    decay: float = 0.0
    weight_decay: float = 0.0
    settings = ("rho", "epsilon")

    def parts(self) -> dict[str, float]:
        return {"squares": 0.0, "deltas": 0.0}

    def rule(self, options: Any) -> Unrolled:
        return adadelta
