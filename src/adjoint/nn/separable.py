"""Separable convolutions, and other layers with windows: padding, morphology."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.activations import identity
from adjoint.nn.basic import Activation, Random
from adjoint.nn.convolution import Padding, channels_first, convolution, depthwise_convolution, margins_of, per_axis
from adjoint.nn.initializers import Initializer, generator, glorot_uniform, zeros
from adjoint.nn.windows import Ints, counts_of, patches
from adjoint.types import no_derivative

Array = NDArray[Any]


@differentiable
class SeparableConvolution:
    """A convolution of each channel by itself, and a mixture of the channels in each place.

    Attributes
    ----------
    depthwise
        ``(*window, inputs, multiplier)``.
    pointwise
        ``(*ones, inputs * multiplier, outputs)``.
    bias
        ``(outputs,)``, or None.
    strides, padding
        As those of :func:`convolution`, of the first.
    activation
        Of the result.
    """

    rank: ClassVar[int]

    depthwise: Array
    pointwise: Array
    bias: Array | None = None
    strides: Ints | None = no_derivative(default=None)
    padding: Padding = no_derivative(default="valid")
    activation: Activation = no_derivative(default=identity)

    @classmethod
    def init(
        cls,
        window: int | Ints,
        inputs: int,
        outputs: int,
        *,
        multiplier: int = 1,
        strides: int | Ints = 1,
        padding: Padding = "valid",
        activation: Activation = identity,
        use_bias: bool = True,
        filter_initializer: Initializer = glorot_uniform,
        bias_initializer: Initializer = zeros,
        rng: Random = None,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """A layer with random weights."""
        rng = generator(rng)
        depthwise = filter_initializer((*per_axis(window, cls.rank), inputs, multiplier), rng, dtype)
        pointwise = filter_initializer((*(1,) * cls.rank, inputs * multiplier, outputs), rng, dtype)
        bias = bias_initializer((outputs,), rng, dtype) if use_bias else None
        return cls(depthwise, pointwise, bias, per_axis(strides, cls.rank), padding, activation)

    def __call__(self, x: Array) -> Array:
        each = depthwise_convolution(x, self.depthwise, strides=self.strides, padding=self.padding)
        return self.activation(convolution(each, self.pointwise, self.bias))


@differentiable
class SeparableConv1D(SeparableConvolution):
    """A separable convolution of ``(samples, length, inputs)``."""

    rank = 1


@differentiable
class SeparableConv2D(SeparableConvolution):
    """A separable convolution of ``(samples, height, width, inputs)``.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.SeparableConv2D.init(3, 4, 8, padding="same", rng=0)(np.ones((2, 5, 5, 4))).shape
    (2, 5, 5, 8)
    """

    rank = 2


@differentiable
class ZeroPadding:
    """Zeros around the extents of ``(samples, *extents, channels)``.

    Attributes
    ----------
    margins
        How many before and behind each extent.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.ZeroPadding1D.init(1)(np.ones((1, 2, 1)))[0, :, 0]
    array([0., 1., 1., 0.])
    """

    rank: ClassVar[int]

    margins: tuple[tuple[int, int], ...] = no_derivative()

    @classmethod
    def init(cls, margins: int | tuple[int, ...] | tuple[tuple[int, int], ...]) -> Self:
        """One number for all sides, one for each axis, or two for each axis."""
        each = (margins,) * cls.rank if isinstance(margins, int) else margins
        if len(each) != cls.rank:
            raise ValueError(f"{margins!r} is not a number, or {cls.rank} of them, or {cls.rank} pairs")
        return cls(tuple((m, m) if isinstance(m, int) else m for m in each))

    def __call__(self, x: Array) -> Array:
        return np.pad(x, ((0, 0), *self.margins, (0, 0)))


@differentiable
class ZeroPadding1D(ZeroPadding):
    """Zeros around ``(samples, length, channels)``."""

    rank = 1


@differentiable
class ZeroPadding2D(ZeroPadding):
    """Zeros around ``(samples, height, width, channels)``."""

    rank = 2


@differentiable
class ZeroPadding3D(ZeroPadding):
    """Zeros around ``(samples, depth, height, width, channels)``."""

    rank = 3


@differentiable
class Dilation2D:
    """The largest sum of the filter and what its window sees, of each channel by itself (grey-scale dilation).

    Attributes
    ----------
    filter
        ``(height, width, channels)``.
    strides, padding, dilations
        As those of :func:`convolution`; what lies outside never is the largest.
    """

    filter: Array
    strides: Ints = no_derivative(default=(1, 1))
    padding: Padding = no_derivative(default="valid")
    dilations: Ints = no_derivative(default=(1, 1))

    def __call__(self, x: Array) -> Array:
        return np.swapaxes(np.max(self.sums(x, self.filter), axis=0), 0, -1)

    def sums(self, x: Array, filter: Array) -> Array:
        """The sums of which there is the largest: ``(elements of the window, channels, *counts, samples)``."""
        window = filter.shape[:-1]
        x = channels_first(x, margins_of(self.padding, x.shape[1:-1], window, self.strides, self.dilations), -np.inf)
        counts = counts_of(x.shape[1:-1], window, self.strides, self.dilations)
        seen = patches(x, x.shape[1:-1], window, self.strides, self.dilations)
        each = seen.reshape(math.prod(window), filter.shape[-1], *counts, x.shape[-1])
        sums: Array = each + filter.reshape(-1, filter.shape[-1], 1, 1, 1)
        return sums


@differentiable
class Erosion2D(Dilation2D):
    """The smallest difference of what the window sees and the filter (grey-scale erosion)."""

    def __call__(self, x: Array) -> Array:
        smallest: Array = -np.swapaxes(np.max(self.sums(-x, self.filter), axis=0), 0, -1)
        return smallest
