"""Layers that need no neighbours: dense, embedding, shapes, functions, and layers in sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.activations import identity
from adjoint.nn.initializers import Initializer, generator, glorot_uniform, uniform, zeros
from adjoint.types import moved, no_derivative

Array = NDArray[Any]
Activation = Callable[[Array], Array]
Random = np.random.Generator | int | None


@differentiable
class Dense:
    """``activation(x @ weight + bias)``, for ``x`` of shape ``(..., inputs)``.

    Attributes
    ----------
    weight
        ``(inputs, outputs)``, or ``(samples, inputs, outputs)``: one for each sample.
    bias
        ``(outputs,)``, or None.
    activation
        Of the result.

    Examples
    --------
    >>> from adjoint import nn
    >>> layer = nn.Dense.init(3, 2, activation=nn.relu, rng=0)
    >>> layer(np.ones((5, 3))).shape
    (5, 2)
    """

    weight: Array
    bias: Array | None
    activation: Activation = no_derivative(default=identity)

    @classmethod
    def init(
        cls,
        inputs: int,
        outputs: int,
        *,
        activation: Activation = identity,
        use_bias: bool = True,
        weight_initializer: Initializer = glorot_uniform,
        bias_initializer: Initializer = zeros,
        rng: Random = None,
        dtype: DTypeLike = np.float64,
    ) -> Dense:
        """A layer with random weights."""
        rng = generator(rng)
        weight = weight_initializer((inputs, outputs), rng, dtype)
        return cls(weight, bias_initializer((outputs,), rng, dtype) if use_bias else None, activation)

    def __call__(self, x: Array) -> Array:
        if self.weight.ndim == 3:
            y = np.matmul(x[:, np.newaxis, :], self.weight)[:, 0, :]
        else:
            y = x @ self.weight
        if self.bias is not None:
            y = y + self.bias
        return self.activation(y)


_NARROW = uniform(-0.05, 0.05)


@differentiable
class Embedding:
    """The rows of a table that indices name.

    Attributes
    ----------
    table
        ``(vocabulary, features)``.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.Embedding(np.array([[1.0, 2.0], [3.0, 4.0]]))(np.array([1, 1]))
    array([[3., 4.],
           [3., 4.]])
    """

    table: Array

    @classmethod
    def init(
        cls,
        vocabulary: int,
        features: int,
        *,
        initializer: Initializer = _NARROW,
        rng: Random = None,
        dtype: DTypeLike = np.float64,
    ) -> Embedding:
        """A table with random entries."""
        return cls(initializer((vocabulary, features), generator(rng), dtype))

    def __call__(self, indices: NDArray[np.integer[Any]]) -> Array:
        rows: Array = self.table[indices]
        return rows


@differentiable
class Flatten:
    """``(samples, ...)`` as ``(samples, features)``."""

    def __call__(self, x: Array) -> Array:
        return x.reshape(x.shape[0], -1)


@differentiable
class Reshape:
    """An array in another shape; one extent may be -1."""

    shape: tuple[int, ...] = no_derivative()

    def __call__(self, x: Array) -> Array:
        return x.reshape(self.shape)


@differentiable
class Function:
    """A function as a layer."""

    function: Activation = no_derivative()

    def __call__(self, x: Any) -> Any:
        return self.function(x)


@differentiable
class Sequential:
    """Layers, each applied to what the one before gives.

    Examples
    --------
    >>> from adjoint import nn
    >>> model = nn.Sequential([nn.Dense.init(2, 4, activation=np.tanh, rng=0), nn.Dense.init(4, 1, rng=1)])
    >>> model(np.zeros((3, 2))).shape
    (3, 1)
    """

    layers: list[Any]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def sequenced(x: Any, *layers: Callable[[Any], Any]) -> Any:
    """``x`` through several layers or functions.

    >>> sequenced(4.0, np.sqrt, lambda x: x + 1.0)
    np.float64(3.0)
    """
    for layer in layers:
        x = layer(x)
    return x


@differentiable
class Freezable:
    """A parameter that stays where it is while ``is_frozen`` is true.

    Examples
    --------
    >>> import adjoint as ad
    >>> weight = ad.nn.Freezable(2.0, is_frozen=True)
    >>> ad.moved(weight, along=ad.nn.Freezable.TangentVector(4.0))
    Freezable(value=2.0, is_frozen=True)
    """

    value: Any
    is_frozen: bool = no_derivative(default=False)

    def moved(self, along: Any) -> Freezable:
        """The parameter, further by a tangent unless it is frozen."""
        return self if self.is_frozen else Freezable(moved(self.value, along.value), False)
