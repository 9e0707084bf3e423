"""Convolutions as products of matrices: over one, two or three axes, of arrays ``(samples, *extents, channels)``.

What the windows see is laid out as the columns of a matrix, which BLAS multiplies. Results are views of arrays that
have the channels first and the samples last: the next layer copies and adds along memory.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.activations import identity
from adjoint.nn.basic import Activation, Random
from adjoint.nn.initializers import Initializer, generator, glorot_uniform, zeros
from adjoint.nn.windows import Ints, counts_of, overlaid, patches, same_padding
from adjoint.types import no_derivative

Array = NDArray[Any]
Padding = Literal["valid", "same"]


def per_axis(value: int | Ints, rank: int) -> Ints:
    """One number for each axis.

    >>> per_axis(2, 3), per_axis((1, 2), 2)
    ((2, 2, 2), (1, 2))
    """
    values = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(values) != rank or min(values) < 1:
        raise ValueError(f"{value!r} is not a positive number, or {rank} of them")
    return values


def channels_first(x: Array, margins: tuple[tuple[int, int], ...], fill: float = 0.0) -> Array:
    """``(samples, *extents, channels)`` as ``(channels, *extents, samples)``, side by side in memory, with margins."""
    x = np.ascontiguousarray(np.swapaxes(x, 0, -1))
    if any(before + after > 0 for before, after in margins):
        x = np.pad(x, ((0, 0), *margins, (0, 0)), constant_values=fill)
    return x


def margins_of(padding: str, extents: Ints, window: Ints, strides: Ints, dilations: Ints) -> tuple[Any, ...]:
    """How many elements ``padding`` puts before and behind each axis.

    Raises
    ------
    ValueError
        If it is neither ``"valid"`` nor ``"same"``.
    """
    if padding == "valid":
        return ((0, 0),) * len(window)
    if padding == "same":
        return same_padding(extents, window, strides, dilations)
    raise ValueError(f"padding is 'valid' or 'same', and not {padding!r}")


def convolution(
    x: Array,
    filter: Array,
    bias: Array | None = None,
    *,
    strides: Ints | None = None,
    padding: Padding = "valid",
    dilations: Ints | None = None,
) -> Array:
    """The products of a filter with what its window sees in each place.

    Parameters
    ----------
    x
        ``(samples, *extents, inputs)``.
    filter
        ``(*window, inputs, outputs)``.
    bias
        ``(outputs,)``.
    strides, dilations
        How far the window moves, and how far its elements lie apart, along each axis; one by default.
    padding
        ``"valid"``: places where the window lies inside. ``"same"``: with zeros around, ``ceil(extent / stride)``.

    Returns
    -------
    array
        ``(samples, *counts, outputs)``.

    Raises
    ------
    ValueError
        If the window or the channels do not fit.

    Examples
    --------
    >>> image = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> convolution(image, np.ones((2, 2, 1, 1)))[0, :, :, 0]
    array([[ 8., 12.],
           [20., 24.]])
    """
    seen, extents = _seen(x, filter, strides, padding, dilations)
    y = filter.reshape(-1, filter.shape[-1]).T @ seen.reshape(filter.size // filter.shape[-1], -1)
    return _channels_last(y, bias, extents)


def depthwise_convolution(
    x: Array,
    filter: Array,
    bias: Array | None = None,
    *,
    strides: Ints | None = None,
    padding: Padding = "valid",
    dilations: Ints | None = None,
) -> Array:
    """A convolution of each channel by itself.

    Parameters
    ----------
    x
        ``(samples, *extents, channels)``.
    filter
        ``(*window, channels, multiplier)``: as many results of each channel, next to each other.
    bias
        ``(channels * multiplier,)``.
    strides, padding, dilations
        As those of :func:`convolution`.

    Returns
    -------
    array
        ``(samples, *counts, channels * multiplier)``.

    Raises
    ------
    ValueError
        If the window or the channels do not fit.
    """
    channels, multiplier = filter.shape[-2:]
    seen, extents = _seen(x, filter, strides, padding, dilations)
    weights, each = filter.reshape(-1, channels, multiplier), seen.reshape(math.prod(filter.shape[:-2]), channels, -1)
    y = (weights.transpose(1, 2, 0) @ each.transpose(1, 0, 2)).reshape(channels * multiplier, -1)
    return _channels_last(y, bias, extents)


def transposed_convolution(
    x: Array,
    filter: Array,
    bias: Array | None = None,
    *,
    strides: Ints | None = None,
    padding: Padding = "valid",
    dilations: Ints | None = None,
) -> Array:
    """The transpose of a convolution: each element puts the filter, multiplied by it, around its place.

    Parameters
    ----------
    x
        ``(samples, *counts, inputs)``.
    filter
        ``(*window, outputs, inputs)``.
    bias
        ``(outputs,)``.
    strides, padding, dilations
        Of the convolution that it transposes.

    Returns
    -------
    array
        ``(samples, *extents, outputs)``: extents are ``count * stride`` where padding is ``"same"``, else
        ``count * stride + max(reach - stride, 0)``, where the window reaches over ``dilation * (size - 1) + 1``.

    Raises
    ------
    ValueError
        If the channels do not fit.
    """
    window, outputs = filter.shape[:-2], filter.shape[-2]
    strides = (1,) * len(window) if strides is None else strides
    dilations = (1,) * len(window) if dilations is None else dilations
    _check(x, filter, filter.shape[-1])
    counts, samples = x.shape[1:-1], x.shape[0]
    if padding == "same":
        extents = tuple(count * stride for count, stride in zip(counts, strides, strict=True))
    else:
        extents = tuple(
            count * stride + max(dilation * (size - 1) + 1 - stride, 0)
            for count, stride, size, dilation in zip(counts, strides, window, dilations, strict=True)
        )
    margins = margins_of(padding, extents, window, strides, dilations)
    whole = tuple(extent + before + after for extent, (before, after) in zip(extents, margins, strict=True))
    columns = filter.reshape(-1, filter.shape[-1]) @ np.swapaxes(x, 0, -1).reshape(filter.shape[-1], -1)
    y = overlaid(columns.reshape(*window, outputs, *counts, samples), whole, window, strides, dilations)
    y = y.reshape(outputs, *whole, samples)
    inside = tuple(slice(before, before + extent) for extent, (before, _) in zip(extents, margins, strict=True))
    y = np.swapaxes(y[(slice(None), *inside)], 0, -1)
    return y if bias is None else y + bias


def _seen(
    x: Array, filter: Array, strides: Ints | None, padding: Padding, dilations: Ints | None
) -> tuple[Array, Ints]:
    """What the windows of a filter see, and the extents of a result: ``(*counts, samples)``."""
    window = filter.shape[:-2]
    strides = (1,) * len(window) if strides is None else strides
    dilations = (1,) * len(window) if dilations is None else dilations
    _check(x, filter, filter.shape[-2])
    x = channels_first(x, margins_of(padding, x.shape[1:-1], window, strides, dilations))
    counts = counts_of(x.shape[1:-1], window, strides, dilations)
    return patches(x, x.shape[1:-1], window, strides, dilations), (*counts, x.shape[-1])


def _channels_last(y: Array, bias: Array | None, extents: Ints) -> Array:
    """A result with its bias, of which each row is a channel, as ``(samples, *counts, channels)``."""
    if bias is not None:
        y = y + bias[:, np.newaxis]
    return np.swapaxes(y.reshape(-1, *extents), 0, -1)


def _check(x: Array, filter: Array, inputs: int) -> None:
    if x.ndim != filter.ndim:
        raise ValueError(
            f"a filter of shape {filter.shape} takes (samples, *extents, channels) with {filter.ndim - 2} extents, "
            f"and not an array of shape {x.shape}"
        )
    if x.shape[-1] != inputs:
        raise ValueError(f"a filter of shape {filter.shape} takes {inputs} channels, and not {x.shape[-1]}")


@differentiable
class Windowed:
    """What layers with a window have in common.

    Attributes
    ----------
    filter, bias
        The weights; there may be no bias.
    strides, padding, dilations
        As those of :func:`convolution`.
    activation
        Of the result.
    """

    rank: ClassVar[int]

    filter: Array
    bias: Array | None = None
    strides: Ints | None = no_derivative(default=None)
    padding: Padding = no_derivative(default="valid")
    dilations: Ints | None = no_derivative(default=None)
    activation: Activation = no_derivative(default=identity)

    @classmethod
    def init(
        cls,
        window: int | Ints,
        inputs: int,
        outputs: int = 1,
        *,
        strides: int | Ints = 1,
        padding: Padding = "valid",
        dilations: int | Ints = 1,
        activation: Activation = identity,
        use_bias: bool = True,
        filter_initializer: Initializer = glorot_uniform,
        bias_initializer: Initializer = zeros,
        rng: Random = None,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """A layer with random weights.

        Parameters
        ----------
        window, strides, dilations
            One number counts for each axis.
        inputs, outputs
            How many channels; of a depthwise convolution, how many outputs for each input.
        padding, activation
            See above.
        use_bias, filter_initializer, bias_initializer
            How the weights begin.
        rng
            A generator of random numbers, or the seed of one.
        dtype
            Of the weights.
        """
        rng = generator(rng)
        shape, length = cls._shapes(per_axis(window, cls.rank), inputs, outputs)
        filter = filter_initializer(shape, rng, dtype)
        bias = bias_initializer((length,), rng, dtype) if use_bias else None
        return cls(filter, bias, per_axis(strides, cls.rank), padding, per_axis(dilations, cls.rank), activation)

    @classmethod
    def _shapes(cls, window: Ints, inputs: int, outputs: int) -> tuple[Ints, int]:
        """The shape of the filter, and the length of the bias."""
        return (*window, inputs, outputs), outputs


@differentiable
class Convolution(Windowed):
    """``activation(convolution(x, filter, bias))``."""

    def __call__(self, x: Array) -> Array:
        y = convolution(x, self.filter, self.bias, strides=self.strides, padding=self.padding, dilations=self.dilations)
        return self.activation(y)


@differentiable
class Conv1D(Convolution):
    """A convolution of ``(samples, length, inputs)``; its filter is ``(length, inputs, outputs)``."""

    rank = 1


@differentiable
class Conv2D(Convolution):
    """A convolution of ``(samples, height, width, inputs)``; its filter is ``(height, width, inputs, outputs)``.

    Examples
    --------
    >>> from adjoint import nn
    >>> layer = nn.Conv2D.init(3, 1, 8, padding="same", activation=nn.relu, rng=0)
    >>> layer(np.ones((2, 5, 5, 1))).shape
    (2, 5, 5, 8)
    """

    rank = 2


@differentiable
class Conv3D(Convolution):
    """A convolution of ``(samples, depth, height, width, inputs)``; its filter ends in ``(inputs, outputs)``."""

    rank = 3


@differentiable
class TransposedConvolution(Windowed):
    """``activation(transposed_convolution(x, filter, bias))``."""

    @classmethod
    def _shapes(cls, window: Ints, inputs: int, outputs: int) -> tuple[Ints, int]:
        return (*window, outputs, inputs), outputs

    def __call__(self, x: Array) -> Array:
        y = transposed_convolution(
            x, self.filter, self.bias, strides=self.strides, padding=self.padding, dilations=self.dilations
        )
        return self.activation(y)


@differentiable
class TransposedConv1D(TransposedConvolution):
    """The transpose of a convolution, of ``(samples, length, inputs)``; its filter ends in ``(outputs, inputs)``."""

    rank = 1


@differentiable
class TransposedConv2D(TransposedConvolution):
    """The transpose of a convolution, of ``(samples, height, width, inputs)``.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.TransposedConv2D.init(2, 8, 1, strides=2, rng=0)(np.ones((3, 4, 4, 8))).shape
    (3, 8, 8, 1)
    """

    rank = 2


@differentiable
class TransposedConv3D(TransposedConvolution):
    """The transpose of a convolution, of ``(samples, depth, height, width, inputs)``."""

    rank = 3


@differentiable
class DepthwiseConv2D(Windowed):
    """:func:`depthwise_convolution` of ``(samples, height, width, channels)``.

    Its filter is ``(height, width, channels, multiplier)``, its bias ``(channels * multiplier,)``.
    """

    rank = 2

    @classmethod
    def _shapes(cls, window: Ints, inputs: int, outputs: int) -> tuple[Ints, int]:
        return (*window, inputs, outputs), inputs * outputs

    def __call__(self, x: Array) -> Array:
        y = depthwise_convolution(
            x, self.filter, self.bias, strides=self.strides, padding=self.padding, dilations=self.dilations
        )
        return self.activation(y)
