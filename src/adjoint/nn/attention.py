"""Attention: mixtures of values, by how well keys fit queries (Vaswani et al., 2017)."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.activations import softmax
from adjoint.nn.basic import Dense, Random
from adjoint.nn.initializers import generator
from adjoint.types import no_derivative

Array = NDArray[Any]


def attention(queries: Array, keys: Array, values: Array, mask: NDArray[np.bool_] | None = None) -> Array:
    """``softmax(queries @ keys.T / sqrt(features)) @ values``.

    Parameters
    ----------
    queries
        ``(..., n, features)``.
    keys, values
        ``(..., m, features)``, ``(..., m, outputs)``.
    mask
        Broadcasts to ``(..., n, m)``: which keys a query may see; at least one each.

    Returns
    -------
    array
        ``(..., n, outputs)``.

    Examples
    --------
    >>> seen = np.tril(np.ones((2, 2), bool))
    >>> attention(np.zeros((2, 1)), np.zeros((2, 1)), np.array([[1.0], [3.0]]), seen)
    array([[1.],
           [2.]])
    """
    scores = queries @ np.swapaxes(keys, -1, -2) * (1.0 / math.sqrt(queries.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    return softmax(scores) @ values


@differentiable
class MultiHeadAttention:
    """Several attentions side by side, of ``(samples, time, features)``.

    Attributes
    ----------
    query, key, value, output
        Dense layers, from features to features.
    heads
        How many; they divide the features.

    Examples
    --------
    >>> from adjoint import nn
    >>> layer = nn.MultiHeadAttention.init(8, heads=2, rng=0)
    >>> layer(np.ones((3, 5, 8))).shape
    (3, 5, 8)
    """

    query: Dense
    key: Dense
    value: Dense
    output: Dense
    heads: int = no_derivative()

    @classmethod
    def init(cls, features: int, heads: int, *, rng: Random = None, dtype: DTypeLike = np.float64) -> Self:
        """A layer with random weights.

        Raises
        ------
        ValueError
            If the heads do not divide the features.
        """
        if heads < 1 or features % heads:
            raise ValueError(f"{features} features do not fall to {heads} heads")
        rng = generator(rng)
        query, key, value, output = (Dense.init(features, features, rng=rng, dtype=dtype) for _ in range(4))
        return cls(query, key, value, output, heads)

    def __call__(self, x: Array, others: Array | None = None, mask: NDArray[np.bool_] | None = None) -> Array:
        """What ``x`` takes from ``others``, or from itself.

        Parameters
        ----------
        x, others
            ``(samples, time, features)``.
        mask
            Broadcasts to ``(samples, heads, time of x, time of others)``: what may be seen.
        """
        y = x if others is None else others
        mixed = attention(self._split(self.query(x)), self._split(self.key(y)), self._split(self.value(y)), mask)
        return self.output(np.swapaxes(mixed, 1, 2).reshape(x.shape))

    def _split(self, x: Array) -> Array:
        return np.swapaxes(x.reshape(x.shape[0], x.shape[1], self.heads, -1), 1, 2)
