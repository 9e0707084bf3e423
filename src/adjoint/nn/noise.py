"""Layers that draw random numbers, in the training phase only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.activations import SELU_ALPHA, SELU_SCALE
from adjoint.nn.phase import is_training
from adjoint.types import no_derivative

Array = NDArray[Any]


@differentiable
class Noise:
    """What these layers have: a generator of random numbers, or the seed of one."""

    rng: Any = no_derivative(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.rng)


@differentiable
class Dropout(Noise):
    """Sets elements to zero, each with probability ``rate``, and divides the others by ``1 - rate``.

    In the training phase, with masks that are drawn at each call (Srivastava et al., 2014).
    """

    rate: float = no_derivative()

    def __post_init__(self) -> None:
        if not 0.0 <= self.rate < 1.0:
            raise ValueError(f"a rate is a number from zero up to one, and not {self.rate!r}")
        self.rng = np.random.default_rng(self.rng)

    def __call__(self, x: Array) -> Array:
        if is_training():
            kept = (self.rng.random(x.shape) >= self.rate).astype(x.dtype)
            x = x * (kept * (1.0 / (1.0 - self.rate)))
        return x


@differentiable
class GaussianNoise(Noise):
    """Adds normal noise of standard deviation ``deviation``."""

    deviation: float = no_derivative()

    def __call__(self, x: Array) -> Array:
        if is_training():
            x = x + (self.deviation * self.rng.standard_normal(x.shape)).astype(x.dtype)
        return x


@differentiable
class GaussianDropout(Noise):
    """Multiplies by normal noise of mean one and variance ``rate / (1 - rate)``."""

    rate: float = no_derivative()

    def __call__(self, x: Array) -> Array:
        if is_training():
            deviation = math.sqrt(self.rate / (1.0 - self.rate))
            x = x * (1.0 + deviation * self.rng.standard_normal(x.shape)).astype(x.dtype)
        return x


@differentiable
class AlphaDropout(Noise):
    """A dropout that keeps mean and variance of what :func:`selu` gives (Klambauer et al., 2017)."""

    rate: float = no_derivative()

    def __call__(self, x: Array) -> Array:
        if is_training():
            low = -SELU_ALPHA * SELU_SCALE
            kept = (self.rng.random(x.shape) >= self.rate).astype(x.dtype)
            a = 1.0 / math.sqrt((1.0 - self.rate) * (1.0 + self.rate * low * low))
            x = a * (x * kept + low * (1.0 - kept)) - a * low * self.rate
        return x
