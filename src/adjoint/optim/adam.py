"""Adam and its relatives: descent along a moving average of gradients, scaled by one of their squares."""


# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.optim.optimizer import Optimizer, decayed_rate
from adjoint.optim.schedules import Rate
from adjoint.parameters import Unrolled, unrolled


@dataclass(eq=False)
class _Moments(Optimizer):
    """What the family has in common."""

    learning_rate: Rate = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.0
    weight_decay: float = 0.0
    settings = ("beta1", "beta2", "epsilon")

    def parts(self) -> dict[str, float]:
        return {"first_moments": 0.0, "second_moments": 0.0}

    def rate_of(self, options: Any, step: int) -> float:
        """The learning rate with the corrections for moments that start at zero."""
        correction = math.sqrt(1.0 - options.beta2**step) / (1.0 - options.beta1**step)
        return decayed_rate(options, step) * float(correction)


@unrolled
def adam(p, g, m, v, *, rate, beta1, beta2, epsilon, weight_decay, decays):
    d = g + weight_decay * p if decays else g
    m *= beta1
    m += (1 - beta1) * d
    v *= beta2
    v += (1 - beta2) * d * d
    p -= rate * m / (np.sqrt(v) + epsilon)


@dataclass(eq=False)
class Adam(_Moments):
    """Descent along a moving average of gradients, divided by the root of one of their squares.

    Parameters
    ----------
    learning_rate
        A number, or a function of the number of updates made before (:class:`Cosine` and its kin).
    beta1, beta2
        How slowly the averages of gradients and of their squares change.
    epsilon
        Added to the root.
    decay
        The rate at step t is divided by ``1 + decay * t``.
    weight_decay
        This multiple of the parameters is added to the gradient.

    Examples
    --------
    >>> import adjoint as ad
    >>> optimizer = ad.optim.Adam(learning_rate=0.1)
    >>> x = 1.0
    >>> for _ in range(100):
    ...     x = optimizer.updated(x, along=ad.grad(lambda x: (x - 3.0) ** 2)(x))
    >>> round(x, 1)
    3.0
    """

    def rule(self, options: Any) -> Unrolled:
        return adam


@unrolled
def adamax(p, g, m, largest, *, rate, beta1, beta2, epsilon, weight_decay, decays):
    d = g + weight_decay * p if decays else g
    m *= beta1
    m += (1 - beta1) * d
    largest = np.maximum(beta2 * largest, np.abs(d))
    p -= rate * m / (largest + epsilon)


@dataclass(eq=False)
class AdaMax(_Moments):
    """Adam with the largest gradient, slowly forgotten, in place of the root of the squares.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon, decay, weight_decay
        As for :class:`Adam`.
    """

    learning_rate: Rate = 0.002

    def parts(self) -> dict[str, float]:
        return {"first_moments": 0.0, "infinity_norms": 0.0}

    def rule(self, options: Any) -> Unrolled:
        return adamax

    def rate_of(self, options: Any, step: int) -> float:
        return decayed_rate(options, step) / (1.0 - float(options.beta1**step))


@unrolled
def amsgrad(p, g, m, v, largest, *, rate, beta1, beta2, epsilon, weight_decay, decays):
    d = g + weight_decay * p if decays else g
    m *= beta1
    m += (1 - beta1) * d
    v *= beta2
    v += (1 - beta2) * d * d
    largest = np.maximum(largest, v)
    p -= rate * m / (np.sqrt(largest) + epsilon)


@dataclass(eq=False)
class AMSGrad(_Moments):
    """Adam whose average of squares never shrinks.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon, decay, weight_decay
        As for :class:`Adam`.
    """

    def parts(self) -> dict[str, float]:
        return {"first_moments": 0.0, "second_moments": 0.0, "largest_second_moments": 0.0}

    def rule(self, options: Any) -> Unrolled:
        return amsgrad


@unrolled
def radam(p, g, m, v, *, rate, beta1, beta2, epsilon, weight_decay, decays, is_rectified):
    d = g + weight_decay * p if decays else g
    m *= beta1
    m += (1 - beta1) * d
    v *= beta2
    v += (1 - beta2) * d * d
    if is_rectified:
        p -= rate * m / (np.sqrt(v) + epsilon)
    else:
        p -= rate * m


@dataclass(eq=False)
class RAdam(_Moments):
    """Adam that does not divide by the average of squares while that rests on too few gradients.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon, decay, weight_decay
        As for :class:`Adam`.
    """

    def rule(self, options: Any) -> Unrolled:
        return radam

    def constants(self, options: Any, step: int) -> dict[str, Any]:
        return {**super().constants(options, step), "is_rectified": bool(_length(options.beta2, step) >= 5.0)}

    def rate_of(self, options: Any, step: int) -> float:
        rate = decayed_rate(options, step) / (1.0 - float(options.beta1**step))
        length = _length(options.beta2, step)
        if length < 5.0:
            return rate
        longest = 2.0 / (1.0 - options.beta2) - 1.0
        part = (length - 4.0) * (length - 2.0) * longest / ((longest - 4.0) * (longest - 2.0) * length)
        return rate * math.sqrt(part) * math.sqrt(1.0 - options.beta2**step)


def _length(beta2: float, step: int) -> float:
    """On how many gradients an average of squares rests, for the purpose of its variance."""
    longest = 2.0 / (1.0 - beta2) - 1.0
    return float(longest - 2.0 * step * beta2**step / (1.0 - beta2**step))


@unrolled
def adamw(p, g, m, v, *, rate, beta1, beta2, epsilon, correction, shrink, shrinks):
    m *= beta1
    m += (1 - beta1) * g
    v *= beta2
    v += (1 - beta2) * g * g
    if shrinks:
        p *= shrink
    p -= rate * m / (np.sqrt(v) / correction + epsilon)


@dataclass(eq=False)
class AdamW(_Moments):
    """Adam whose weight decay does not go through the averages.

    Parameters
    ----------
    learning_rate, beta1, beta2, epsilon, decay
        As for :class:`Adam`.
    weight_decay
        Parameters shrink by this part of the learning rate at each update.
    bias_correction
        Whether averages are corrected for having started at zero.
    """

    weight_decay: float = 0.01
    bias_correction: bool = True

    def rule(self, options: Any) -> Unrolled:
        return adamw

    def constants(self, options: Any, step: int) -> dict[str, Any]:
        rate = decayed_rate(options, step)
        corrects = options.bias_correction
        return {
            "rate": rate / (1.0 - options.beta1**step) if corrects else rate,
            "beta1": options.beta1,
            "beta2": options.beta2,
            "epsilon": options.epsilon,
            "correction": math.sqrt(1.0 - options.beta2**step) if corrects else 1.0,
            "shrink": 1.0 - rate * options.weight_decay,
            "shrinks": bool(options.weight_decay != 0),
        }
