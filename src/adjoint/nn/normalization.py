"""Normalisation: mean zero and variance one, and then a scale and an offset that are learnt."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.phase import is_training
from adjoint.types import no_derivative

Array = NDArray[Any]


@differentiable
class BatchNorm:
    """Normalises each feature over all samples (Ioffe and Szegedy, 2015).

    In the training phase by the batch, whose mean and variance are averaged into running ones; else by these.

    Attributes
    ----------
    offset, scale
        ``(features,)``.
    running_mean, running_variance
        ``(features,)``; no parameters.
    axis
        That of the features.
    momentum
        How much of a running value stays at each batch.
    epsilon
        Added to the variance.

    Examples
    --------
    >>> from adjoint import nn
    >>> norm = nn.BatchNorm.init(2)
    >>> with nn.learning_phase():
    ...     norm(np.array([[1.0, 5.0], [3.0, 5.0]])).round(3)
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> norm.running_mean
    array([0.02, 0.05])
    """

    offset: Array
    scale: Array
    running_mean: Array = no_derivative()
    running_variance: Array = no_derivative()
    axis: int = no_derivative(default=-1)
    momentum: float = no_derivative(default=0.99)
    epsilon: float = no_derivative(default=0.001)

    @classmethod
    def init(
        cls,
        features: int,
        *,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 0.001,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """Of ``features`` features, with mean zero and variance one to begin with."""
        return cls(
            np.zeros(features, dtype),
            np.ones(features, dtype),
            np.zeros(features, dtype),
            np.ones(features, dtype),
            axis,
            momentum,
            epsilon,
        )

    def __call__(self, x: Array) -> Array:
        x = np.swapaxes(x, self.axis, -1)
        if is_training():
            mean = np.mean(x, axis=tuple(range(x.ndim - 1)))
            variance = np.mean((x - mean) ** 2, axis=tuple(range(x.ndim - 1)))
            keep = self.momentum
            self.running_mean = keep * self.running_mean + (1.0 - keep) * stop_gradient(mean)
            self.running_variance = keep * self.running_variance + (1.0 - keep) * stop_gradient(variance)
        else:
            mean = self.running_mean
            variance = self.running_variance
        y = (x - mean) * (self.scale / np.sqrt(variance + self.epsilon)) + self.offset
        return np.swapaxes(y, self.axis, -1)


@differentiable
class _OverSamples:
    """Normalises each sample by its own mean and variance."""

    offset: Array
    scale: Array
    epsilon: float = no_derivative(default=0.001)

    @classmethod
    def init(cls, features: int, *, epsilon: float = 0.001, dtype: DTypeLike = np.float64) -> Self:
        """Of ``features`` features."""
        return cls(np.zeros(features, dtype), np.ones(features, dtype), epsilon)


@differentiable
class LayerNorm(_OverSamples):
    """Normalises each sample over its features, the last axis (Ba et al., 2016).

    Attributes
    ----------
    offset, scale
        ``(features,)``.
    epsilon
        Added to the variance.
    """

    def __call__(self, x: Array) -> Array:
        return _standard(x, (-1,), self.epsilon) * self.scale + self.offset


@differentiable
class GroupNorm:
    """Normalises groups of features of each sample over them and all extents (Wu and He, 2018).

    Attributes
    ----------
    offset, scale
        ``(features,)``, of the last axis.
    groups
        How many; they divide the features.
    epsilon
        Added to the variance.
    """

    offset: Array
    scale: Array
    groups: int = no_derivative()
    epsilon: float = no_derivative(default=0.001)

    @classmethod
    def init(cls, features: int, groups: int, *, epsilon: float = 0.001, dtype: DTypeLike = np.float64) -> Self:
        """Of ``features`` features.

        Raises
        ------
        ValueError
            If the groups do not divide them.
        """
        if groups < 1 or features % groups:
            raise ValueError(f"{features} features do not fall into {groups} groups")
        return cls(np.zeros(features, dtype), np.ones(features, dtype), groups, epsilon)

    def __call__(self, x: Array) -> Array:
        each = x.reshape(*x.shape[:-1], self.groups, -1)
        axes = (*range(1, x.ndim - 1), x.ndim)
        return _standard(each, axes, self.epsilon).reshape(x.shape) * self.scale + self.offset


@differentiable
class InstanceNorm(_OverSamples):
    """Normalises each feature of each sample over all extents (Ulyanov et al., 2016).

    Attributes
    ----------
    offset, scale
        ``(features,)``, of the last axis.
    epsilon
        Added to the variance.
    """

    def __call__(self, x: Array) -> Array:
        return _standard(x, tuple(range(1, x.ndim - 1)), self.epsilon) * self.scale + self.offset


def _standard(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    centred = x - np.mean(x, axis=axes, keepdims=True)
    standard: Array = centred / np.sqrt(np.mean(centred**2, axis=axes, keepdims=True) + epsilon)
    return standard
