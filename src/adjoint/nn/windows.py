"""Windows that slide over arrays: linear maps, each with its transpose.

Arrays here have the channels first and the samples last, ``(channels, *extents, samples)``: what is copied and added
then lies side by side in memory, and a window is a row of the matrix of a convolution. The layers hand them views.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjoint import rules
from adjoint.rules.declare import case, sample
from adjoint.runtime.freed_memory import keep_freed_memory

Array = NDArray[Any]
Ints = tuple[int, ...]


def counts_of(extents: Ints, window: Ints, strides: Ints, dilations: Ints) -> Ints:
    """How many places a window has along each axis.

    Raises
    ------
    ValueError
        If the window does not fit.
    """
    if not len(extents) == len(window) == len(strides) == len(dilations):
        raise ValueError(f"a window of shape {window} does not slide over axes of extents {extents}")
    counts = tuple(
        (extent - dilation * (size - 1) - 1) // stride + 1
        for extent, size, stride, dilation in zip(extents, window, strides, dilations, strict=True)
    )
    if min(counts, default=1) < 1:
        raise ValueError(f"a window of shape {window} does not fit into axes of extents {extents}")
    return counts


def same_padding(extents: Ints, window: Ints, strides: Ints, dilations: Ints) -> tuple[tuple[int, int], ...]:
    """The margins with which there are ``ceil(extent / stride)`` places along each axis; the odd one is at the end."""
    totals = (
        max((-(-extent // stride) - 1) * stride + dilation * (size - 1) + 1 - extent, 0)
        for extent, size, stride, dilation in zip(extents, window, strides, dilations, strict=True)
    )
    return tuple((total // 2, total - total // 2) for total in totals)


def _places(counts: Ints, window: Ints, strides: Ints, dilations: Ints) -> Iterator[tuple[Ints, tuple[slice, ...]]]:
    """Each element of a window, and where it lies in all places of the window."""
    for offset in itertools.product(*map(range, window)):
        yield (
            offset,
            (
                slice(None),
                *(
                    slice(first * dilation, first * dilation + stride * (count - 1) + 1, stride)
                    for first, count, stride, dilation in zip(offset, counts, strides, dilations, strict=True)
                ),
            ),
        )


def patches(x: Array, extents: Ints, window: Ints, strides: Ints, dilations: Ints) -> Array:
    """What a window sees in each place: ``(*window, channels, *counts, samples)``."""
    keep_freed_memory()
    counts = counts_of(extents, window, strides, dilations)
    seen = np.empty((*window, x.shape[0], *counts, x.shape[-1]), x.dtype)
    for offset, place in _places(counts, window, strides, dilations):
        seen[offset] = x[place]
    return seen


def overlaid(seen: Array, extents: Ints, window: Ints, strides: Ints, dilations: Ints) -> Array:
    """The transpose of :func:`patches`: windows are put where they were, and added up where they overlap."""
    rank = len(window)
    x = np.zeros((seen.shape[rank], *extents, seen.shape[-1]), seen.dtype)
    for offset, place in _places(seen.shape[rank + 1 : -1], window, strides, dilations):
        x[place] += seen[offset]
    return x


rules.linear(
    patches,
    lambda ct, x, extents, window, strides, dilations: overlaid(ct, extents, window, strides, dilations),
    cases=[
        case(sample(2, 4, 2), (4,), (2,), (3,), (1,)),
        case(sample(3, 5, 4, 2), (5, 4), (3, 2), (2, 1), (1, 2)),
    ],
)
rules.linear(
    overlaid,
    lambda ct, seen, extents, window, strides, dilations: patches(ct, extents, window, strides, dilations),
    cases=[
        case(sample(2, 2, 1, 2), (4,), (2,), (3,), (1,)),
        case(sample(3, 2, 3, 2, 2, 2), (5, 4), (3, 2), (2, 1), (1, 2)),
    ],
)


def window_sums(x: Array, extents: Ints, window: Ints, strides: Ints) -> Array:
    """The sum of each window: ``(channels, *counts, samples)``."""
    ones = (1,) * len(window)
    counts = counts_of(extents, window, strides, ones)
    (_, first), *others = _places(counts, window, strides, ones)
    sums = x[first].copy()
    for _, place in others:
        sums += x[place]
    return sums


def spread_windows(sums: Array, extents: Ints, window: Ints, strides: Ints) -> Array:
    """The transpose of :func:`window_sums`."""
    x = np.zeros((sums.shape[0], *extents, sums.shape[-1]), sums.dtype)
    are_apart = all(size <= stride for size, stride in zip(window, strides, strict=True))
    for _, place in _places(sums.shape[1:-1], window, strides, (1,) * len(window)):
        if are_apart:
            x[place] = sums
        else:
            x[place] += sums
    return x


rules.linear(
    window_sums,
    lambda ct, x, extents, window, strides: spread_windows(ct, extents, window, strides),
    cases=[case(sample(2, 4, 2), (4,), (2,), (2,)), case(sample(3, 5, 4, 2), (5, 4), (3, 2), (2, 1))],
)
rules.linear(
    spread_windows,
    lambda ct, sums, extents, window, strides: window_sums(ct, extents, window, strides),
    cases=[case(sample(2, 2, 2), (4,), (2,), (2,)), case(sample(3, 2, 3, 2), (5, 4), (3, 2), (2, 1))],
)


def largest(x: Array, window: Ints, strides: Ints) -> Array:
    """Where in each window the largest element is, the first of equal ones; one that is not a number counts as such."""
    ones = (1,) * len(window)
    counts = counts_of(x.shape[1:-1], window, strides, ones)
    size = int(np.prod(window))
    where = np.zeros((x.shape[0], *counts, x.shape[-1]), np.min_scalar_type(size))
    top = np.array(x[next(_places(counts, window, strides, ones))[1]])
    for number, (_, place) in enumerate(_places(counts, window, strides, ones)):
        if number:
            is_larger = ~(x[place] <= top)
            is_larger &= top == top
            where[is_larger] = number
            np.copyto(top, x[place], where=is_larger)
    return where


rules.no_derivative(largest)


def picked(x: Array, where: Array, extents: Ints, window: Ints, strides: Ints) -> Array:
    """The elements of windows that ``where`` names."""
    found = np.empty(where.shape, x.dtype)
    for number, (_, place) in enumerate(_places(where.shape[1:-1], window, strides, (1,) * len(window))):
        np.copyto(found, x[place], where=where == number)
    return found


def put_back(found: Array, where: Array, extents: Ints, window: Ints, strides: Ints) -> Array:
    """The transpose of :func:`picked`."""
    x = np.zeros((found.shape[0], *extents, found.shape[-1]), found.dtype)
    for number, (_, place) in enumerate(_places(where.shape[1:-1], window, strides, (1,) * len(window))):
        np.add(x[place], found, out=x[place], where=where == number)
    return x


CHOICE = np.array([[[1], [0]], [[0], [1]]])
rules.linear(
    picked,
    lambda ct, x, where, extents, window, strides: put_back(ct, where, extents, window, strides),
    cases=[case(sample(2, 3, 1), CHOICE, (3,), (2,), (1,))],
)
rules.linear(
    put_back,
    lambda ct, found, where, extents, window, strides: picked(ct, where, extents, window, strides),
    cases=[case(sample(2, 2, 1), CHOICE, (3,), (2,), (1,))],
)
