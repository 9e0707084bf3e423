"""Descent along the gradient, with momentum or without."""


# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.optim.optimizer import Optimizer
from adjoint.optim.schedules import Rate, rate_at
from adjoint.parameters import Unrolled, unrolled


@unrolled
def sgd(p, g, *, rate, weight_decay, decays):
    d = g + weight_decay * p if decays else g
    p -= rate * d


@unrolled
def sgd_momentum(p, g, velocity, *, rate, momentum, weight_decay, decays, nesterov):
    d = g + weight_decay * p if decays else g
    velocity *= momentum
    velocity -= rate * d
    if nesterov:
        p += momentum * velocity - rate * d
    else:
        p += velocity


@dataclass(eq=False)
class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    Parameters
    ----------
    learning_rate
        A number, or a function of the number of updates made before (:class:`Cosine` and its kin).
    momentum
        How much of the last step goes into the next one.
    decay
        The rate at step t is divided by ``1 + decay * t``.
    nesterov
        Whether the gradient counts as that of the point to which momentum leads.
    weight_decay
        This multiple of the parameters is added to the gradient.

    Examples
    --------
    >>> import adjoint as ad
    >>> point = {"x": 1.0}
    >>> ad.optim.SGD(0.25).update(point, along=ad.grad(lambda p: p["x"] ** 2)(point))
    >>> point
    {'x': 0.5}
    """

    learning_rate: Rate = 0.01
    momentum: float = 0.0
    decay: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0

    def parts(self) -> dict[str, float]:
        return {"velocities": 0.0} if self._has_momentum else {}

    @property
    def _has_momentum(self) -> bool:
        return bool(self.momentum or any(group.hyperparameters.get("momentum") for group in self.groups))

    def rule(self, options: Any) -> Unrolled:
        return sgd_momentum if self._has_momentum else sgd

    def settings_of(self, options: Any) -> dict[str, Any]:
        settings = super().settings_of(options)
        if self._has_momentum:
            settings["momentum"] = options.momentum
            settings["nesterov"] = bool(options.nesterov)
        return settings


@unrolled
def lars(p, g, velocity, *, rate, momentum, trust_coefficient, epsilon, weight_decay, nesterov):
    size = np.sqrt(np.sum(p * p))
    divisor = np.sqrt(np.sum(g * g)) + weight_decay * size + epsilon
    trust = trust_coefficient * size / divisor if divisor > 0 else 1.0
    d = (rate * trust) * (g + weight_decay * p)
    velocity *= momentum
    velocity += d
    if nesterov:
        p -= d + momentum * velocity
    else:
        p -= velocity


@dataclass(eq=False)
class LARS(Optimizer):
    """Descent whose rate is scaled, for each parameter array, by the ratio of its norm to that of its gradient.

    Parameters
    ----------
    learning_rate, momentum, nesterov
        As for :class:`SGD`.
    trust_coefficient
        How far to trust an array to change at one update, as a part of its norm.
    epsilon
        Added to the norm of the gradient.
    weight_decay
        This multiple of the parameters is added to the gradient, and of its norm to the gradient's.
    """

    learning_rate: Rate = 0.01
    momentum: float = 0.9
    trust_coefficient: float = 0.001
    nesterov: bool = False
    epsilon: float = 0.0
    weight_decay: float = 0.0

    def parts(self) -> dict[str, float]:
        return {"velocities": 0.0}

    def rule(self, options: Any) -> Unrolled:
        return lars

    def rate_of(self, options: Any, step: int) -> float:
        return rate_at(options.learning_rate, step - 1)

    def settings_of(self, options: Any) -> dict[str, Any]:
        return {
            "momentum": options.momentum,
            "trust_coefficient": options.trust_coefficient,
            "epsilon": options.epsilon,
            "weight_decay": options.weight_decay,
            "nesterov": bool(options.nesterov),
        }


@unrolled
def lion(p, g, momentum, *, rate, beta1, beta2, weight_decay, decays):
    direction = np.sign(beta1 * momentum + (1 - beta1) * g)
    momentum *= beta2
    momentum += (1 - beta2) * g
    if decays:
        direction += weight_decay * p
    p -= rate * direction


@dataclass(eq=False)
class Lion(Optimizer):
    """Steps of one size: the sign of a moving average of gradients.

    Parameters
    ----------
    learning_rate
        The size of the steps: a number, or a function of the number of updates made before.
    beta1, beta2
        How slowly the averages change: that which gives the direction, and that which is kept.
    weight_decay
        Parameters shrink by this part of the learning rate at each update.
    """

    learning_rate: Rate = 1e-4
    beta1: float = 0.9
    beta2: float = 0.99
    weight_decay: float = 0.0
    settings = ("beta1", "beta2")

    def parts(self) -> dict[str, float]:
        return {"momenta": 0.0}

    def rule(self, options: Any) -> Unrolled:
        return lion

    def rate_of(self, options: Any, step: int) -> float:
        return rate_at(options.learning_rate, step - 1)
