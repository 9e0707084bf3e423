"""Pooling: one number for each window, of arrays ``(samples, *extents, channels)``; and its opposite."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.basic import Random
from adjoint.nn.convolution import Padding, channels_first, margins_of, per_axis
from adjoint.nn.initializers import generator
from adjoint.nn.windows import Ints, counts_of, largest, picked, window_sums
from adjoint.types import no_derivative

Array = NDArray[Any]


def max_pool(x: Array, window: Ints, strides: Ints | None = None, padding: Padding = "valid") -> Array:
    """The largest element that a window sees in each place; of equal ones, the first has the derivative.

    Parameters
    ----------
    x
        ``(samples, *extents, channels)``.
    window
        Its extents.
    strides
        How far it moves; by default as far as it is wide.
    padding
        As that of :func:`convolution`; what lies outside never is the largest.

    Returns
    -------
    array
        ``(samples, *counts, channels)``.

    Raises
    ------
    ValueError
        If the window does not fit.

    Examples
    --------
    >>> max_pool(np.arange(6.0).reshape(1, 6, 1), (2,))[0, :, 0]
    array([1., 3., 5.])
    """
    strides = window if strides is None else strides
    ones = (1,) * len(window)
    x = channels_first(x, margins_of(padding, x.shape[1:-1], window, strides, ones), -np.inf)
    counts = counts_of(x.shape[1:-1], window, strides, ones)
    where = largest(stop_gradient(x), window, strides)
    y = picked(x, where, x.shape[1:-1], window, strides).reshape(x.shape[0], *counts, x.shape[-1])
    return np.swapaxes(y, 0, -1)


def avg_pool(x: Array, window: Ints, strides: Ints | None = None, padding: Padding = "valid") -> Array:
    """The mean of what a window sees in each place; parameters are those of :func:`max_pool`.

    What lies outside, where ``padding`` is ``"same"``, does not count.

    Examples
    --------
    >>> avg_pool(np.arange(6.0).reshape(1, 6, 1), (2,))[0, :, 0]
    array([0.5, 2.5, 4.5])
    """
    strides = window if strides is None else strides
    ones = (1,) * len(window)
    margins = margins_of(padding, x.shape[1:-1], window, strides, ones)
    extents = x.shape[1:-1]
    x = channels_first(x, margins)
    counts = counts_of(x.shape[1:-1], window, strides, ones)
    y = window_sums(x, x.shape[1:-1], window, strides).reshape(x.shape[0], *counts, x.shape[-1])
    if padding == "valid":
        y = y * (1.0 / math.prod(window))
    else:
        inside = np.pad(np.ones((1, *extents, 1), x.dtype), ((0, 0), *margins, (0, 0)))
        y = y * (1.0 / window_sums(inside, inside.shape[1:-1], window, strides).reshape(1, *counts, 1))
    return np.swapaxes(y, 0, -1)


@differentiable
class Pooling:
    """A window that moves over ``(samples, *extents, channels)``.

    Attributes
    ----------
    window
        Its extents.
    strides
        How far it moves along each axis; None: as far as it is wide.
    padding
        As that of :func:`convolution`.
    """

    rank: ClassVar[int]

    window: Ints = no_derivative()
    strides: Ints | None = no_derivative(default=None)
    padding: Padding = no_derivative(default="valid")

    @classmethod
    def init(cls, window: int | Ints, strides: int | Ints | None = None, padding: Padding = "valid") -> Self:
        """One number for ``window`` or ``strides`` counts for each axis."""
        return cls(per_axis(window, cls.rank), None if strides is None else per_axis(strides, cls.rank), padding)


@differentiable
class MaxPooling(Pooling):
    """:func:`max_pool` as a layer."""

    def __call__(self, x: Array) -> Array:
        return max_pool(x, self.window, self.strides, self.padding)


@differentiable
class AvgPooling(Pooling):
    """:func:`avg_pool` as a layer."""

    def __call__(self, x: Array) -> Array:
        return avg_pool(x, self.window, self.strides, self.padding)


@differentiable
class MaxPool1D(MaxPooling):
    """Of ``(samples, length, channels)``."""

    rank = 1


@differentiable
class MaxPool2D(MaxPooling):
    """Of ``(samples, height, width, channels)``.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.MaxPool2D.init(2)(np.ones((1, 4, 6, 3))).shape
    (1, 2, 3, 3)
    """

    rank = 2


@differentiable
class MaxPool3D(MaxPooling):
    """Of ``(samples, depth, height, width, channels)``."""

    rank = 3


@differentiable
class AvgPool1D(AvgPooling):
    """Of ``(samples, length, channels)``."""

    rank = 1


@differentiable
class AvgPool2D(AvgPooling):
    """Of ``(samples, height, width, channels)``."""

    rank = 2


@differentiable
class AvgPool3D(AvgPooling):
    """Of ``(samples, depth, height, width, channels)``."""

    rank = 3


@differentiable
class GlobalAvgPool:
    """The mean over all extents: ``(samples, channels)``."""

    def __call__(self, x: Array) -> Array:
        means: Array = np.mean(x, axis=tuple(range(1, x.ndim - 1)))
        return means


@differentiable
class GlobalMaxPool:
    """The largest element over all extents: ``(samples, channels)``; equal ones share the derivative."""

    def __call__(self, x: Array) -> Array:
        largest: Array = np.max(x, axis=tuple(range(1, x.ndim - 1)))
        return largest


GlobalAvgPool1D = GlobalAvgPool2D = GlobalAvgPool3D = GlobalAvgPool
GlobalMaxPool1D = GlobalMaxPool2D = GlobalMaxPool3D = GlobalMaxPool


@differentiable
class FractionalMaxPool2D:
    """The largest elements of regions whose sides are drawn: ``floor(extent / ratio)`` along each axis (Graham, 2014).

    Attributes
    ----------
    ratios
        Of the extents to their counts, for height and width: from one to two.
    overlapping
        Whether a region has the border of the next one.
    rng
        Draws anew at each call.
    """

    ratios: tuple[float, float] = no_derivative()
    overlapping: bool = no_derivative(default=False)
    rng: np.random.Generator = no_derivative(default_factory=np.random.default_rng)

    @classmethod
    def init(cls, ratios: float | tuple[float, float], *, overlapping: bool = False, rng: Random = None) -> Self:
        """One ratio counts for both axes."""
        both = ratios if isinstance(ratios, tuple) else (ratios, ratios)
        if not all(1.0 <= ratio <= 2.0 for ratio in both):
            raise ValueError(f"ratios are numbers from one to two, and not {ratios!r}")
        return cls(both, overlapping, generator(rng))

    def __call__(self, x: Array) -> Array:
        rows = regions(x.shape[1], self.ratios[0], self.overlapping, self.rng)
        columns = regions(x.shape[2], self.ratios[1], self.overlapping, self.rng)
        largest: Array = np.max(np.max(x[:, rows], axis=2)[:, :, columns], axis=3)
        return largest


def regions(extent: int, ratio: float, overlapping: bool, rng: np.random.Generator) -> NDArray[np.intp]:
    """The elements of each region along an axis; where one has fewer than others, its last one stands more often."""
    count = int(extent / ratio)
    steps = np.full(count, extent // count)
    steps[rng.permutation(count)[: extent - steps.sum()]] += 1
    ends = np.cumsum(steps)
    longest = int(steps.max()) + overlapping
    last = np.minimum(ends - 1 + overlapping, extent - 1)
    places: NDArray[np.intp] = np.minimum((ends - steps)[:, np.newaxis] + np.arange(longest), last[:, np.newaxis])
    return places


@differentiable
class UpSampling:
    """Each element of the extents ``size`` times, along each axis.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.UpSampling1D(2)(np.array([[[1.0], [2.0]]]))[0, :, 0]
    array([1., 1., 2., 2.])
    """

    size: int = no_derivative()

    def __call__(self, x: Array) -> Array:
        for axis in range(1, x.ndim - 1):
            x = np.repeat(x, self.size, axis=axis)
        return x


UpSampling1D = UpSampling2D = UpSampling3D = UpSampling
