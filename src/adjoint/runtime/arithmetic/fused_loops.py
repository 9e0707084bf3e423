"""What fused loops call: reductions whose order is free, extents that must agree.

Here they are what they say; machine code has forms of them that can work on several elements at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_SHORTEST = 1024


def plus(total: Any, x: Any) -> Any:
    """``total + x``, in a sum whose order is free."""
    return total + x


def times_by(product: Any, x: Any) -> Any:
    """``product * x``, in a product whose order is free."""
    return product * x


def largest(best: Any, x: Any) -> Any:
    """The larger of two numbers; not a number if one of them is not."""
    return np.maximum(best, x)


Source = tuple[int, "int | None"]
"""The place of an argument and an axis of it; None for a whole number itself."""


def smallest(best: Any, x: Any) -> Any:
    """The smaller of two numbers; not a number if one of them is not."""
    return np.minimum(best, x)


def same_extent(one: int, other: int) -> None:
    """Raises unless two extents, neither of which is 1, are equal."""
    if one != other:
        raise ValueError("operands could not be broadcast together")


def fits_extent(narrow: int, wide: int) -> None:
    """Raises unless an extent is 1 or that of the others."""
    if narrow not in (1, wide):
        raise ValueError("operands could not be broadcast together")


class ExtentsDiffer(Exception):
    """The arguments of a call are not what machine code was made for: nothing has run yet."""


def extents_agree(*args: Any, among: tuple[tuple[Source, Source | None, int], ...]) -> None:
    """Raises unless extents of arrays, and whole numbers, are others and so much more; or so much, beside None."""
    for one, other, more in among:
        if _size(args, one) != (0 if other is None else _size(args, other)) + more:
            raise ExtentsDiffer("made for other extents")


def _size(args: tuple[Any, ...], source: Source) -> int:
    place, axis = source
    return int(args[place] if axis is None else np.shape(args[place])[axis])


def contracts_extent(one: int, other: int) -> None:
    """Raises unless the extents over which a product of matrices sums are equal."""
    if one != other:
        raise ValueError("matmul: operands have a mismatch in their core dimensions")


def selects_extent(mask: int, whole: int) -> None:
    """Raises unless a mask is as long as the axis of which it selects."""
    if mask != whole:
        raise IndexError("boolean index did not match indexed array")


def inside_extent(place: int, extent: int) -> None:
    """Raises unless a place, which may be counted from the end, is one of an axis."""
    if not -extent <= place < extent:
        raise IndexError("index is out of bounds")


def common_extent(one: int, other: int) -> int:
    """The extent of two axes that are broadcast together."""
    if one == 1 or one == other:
        return other
    if other == 1:
        return one
    raise ValueError("operands could not be broadcast together")


def common_places(one: int, other: int) -> int:
    """The extent of two axes of arrays of places that are broadcast together."""
    if one == 1 or one == other:
        return other
    if other == 1:
        return one
    raise IndexError("shape mismatch: indexing arrays could not be broadcast together")


def sliced(extent: int, lower: int, upper: int) -> int:
    """How much of an axis ``lower:upper`` selects; ``lower`` is not negative."""
    return max(min(upper + extent if upper < 0 else upper, extent) - lower, 0)


def step_along(extent: int) -> int:
    """How far to go along an axis that is broadcast if its extent is 1."""
    return 0 if extent == 1 else 1


def wrapped(index: int, offset: int, extent: int) -> int:
    """The place that lies ``offset`` behind ``index`` on an axis that goes round."""
    return (index + offset) % extent


def around(count: int, start: int, length: int) -> int:
    """``count``, or behind a part of an axis that is left out."""
    return count + length if count >= start else count


def some(extent: int) -> None:
    """Raises if there is nothing of which to take the largest or smallest."""
    if extent == 0:
        raise ValueError("zero-size array to reduction operation which has no identity")


def block_size(extent: int) -> int:
    """How much is summed at a time: sums of blocks keep the errors of long sums small."""
    return max(_SHORTEST, int(math.sqrt(extent)))


def block_end(start: int, size: int, stop: int) -> int:
    """Where the block ends that begins at ``start``."""
    return min(start + size, stop)
