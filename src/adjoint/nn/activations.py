"""Activations: functions of arrays, element by element or along the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
"""With them mean zero and variance one are a fixed point of layers: Klambauer et al., 2017."""


def identity(x: Array) -> Array:
    """``x`` itself."""
    return x


def relu(x: Array) -> Array:
    """``max(x, 0)``; the slope at zero is zero.

    >>> import adjoint as ad, numpy as np
    >>> ad.grad(lambda x: np.sum(ad.nn.relu(x)))(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 1.])
    """
    return np.maximum(0.0, x)


def relu6(x: Array) -> Array:
    """``min(relu(x), 6)``."""
    return np.minimum(relu(x), 6.0)


def leaky_relu(x: Array, alpha: float = 0.2) -> Array:
    """``x``, and ``alpha * x`` where it is negative."""
    return np.where(x > 0.0, x, alpha * x)


def elu(x: Array) -> Array:
    """``x``, and ``exp(x) - 1`` where it is negative."""
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))


def selu(x: Array) -> Array:
    """The scaled :func:`elu` of self-normalising networks (Klambauer et al., 2017)."""
    return SELU_SCALE * np.where(x > 0.0, x, SELU_ALPHA * np.expm1(np.minimum(x, 0.0)))


def gelu(x: Array) -> Array:
    """``x`` times the normal distribution function, by ``tanh`` (Hendrycks and Gimpel, 2016)."""
    return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def sigmoid(x: Array) -> Array:
    """``1 / (1 + exp(-x))``, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def swish(x: Array) -> Array:
    """``x * sigmoid(x)``."""
    return x * sigmoid(x)


def hard_sigmoid(x: Array) -> Array:
    """``relu6(x + 3) / 6``."""
    return relu6(x + 3.0) / 6.0


def softplus(x: Array) -> Array:
    """``log(1 + exp(x))``, without overflow."""
    return np.logaddexp(0.0, x)


def softsign(x: Array) -> Array:
    """``x / (1 + |x|)``."""
    return x / (1.0 + np.abs(x))


def log_softmax(x: Array) -> Array:
    """The logarithm of :func:`softmax`, along the last axis."""
    shifted = x - np.max(x, axis=-1, keepdims=True)
    logarithms: Array = shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    return logarithms


def softmax(x: Array) -> Array:
    """``exp(x)`` divided by its sum along the last axis."""
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    shares: Array = powers / np.sum(powers, axis=-1, keepdims=True)
    return shares
