"""What functions of numbers and arrays do to sets.

Each gives new memory; ``like`` is the value of which it gives the sets. What the values
are does not matter, only their shapes: a set has whatever may contribute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.runtime.array_functions.sequences import paths_to
from adjoint.runtime.sets.elements import traced
from adjoint.runtime.sets.numbers import all_in, along_last, both, plain, shaped


def either(a: Any, b: Any) -> Any:
    """Something that may be one value or the other: what depends on it depends on both.

    Raises
    ------
    ValueError
        If their shapes differ.

    >>> either(2.0, 3.0)
    5.0
    """
    if np.shape(a) != np.shape(b):
        raise ValueError("the shape is not the same on both sides of a branch")
    return a + b


def elementwise(unions: Any, like: Any, *sets: Any) -> Any:
    """Each element of the result depends on the elements at its place.

    >>> from adjoint.runtime.sets.numbers import new_unions
    >>> elementwise(new_unions(2, 4), np.ones((2, 2)), np.array([1.0, 2.0]), 2.0)
    array([[3., 2.],
           [3., 2.]])
    """
    first, *others = [part for each in sets for part in plain(each)]
    for other in others:
        first = both(unions, first, other)
    return shaped(first, like)


def everything(unions: Any, like: Any, *sets: Any) -> Any:
    """Each element of the result depends on all elements; a result that is a tuple has sets for each part."""
    found = all_in(unions, sets)
    return [shaped(found, part) for part in like] if isinstance(like, tuple) else shaped(found, like)


def reduced(unions: Any, like: Any, sets: Any, axis: Any = None) -> Any:
    """Each element of the result depends on the elements along the axes that it lacks.

    >>> from adjoint.runtime.sets.numbers import new_unions
    >>> reduced(new_unions(2, 4), np.ones(2), np.array([[1.0, 2.0], [1.0, 1.0]]), 1)
    array([3., 1.])
    """
    parts = plain(sets)
    rank = parts[0].ndim
    axes = range(rank) if axis is None else [each % rank for each in np.atleast_1d(axis).tolist()] if rank else ()
    kept = [each for each in range(rank) if each not in axes]
    found = np.zeros(())
    for part in parts:
        moved = np.transpose(part, [*kept, *axes])
        rows = moved.reshape((*moved.shape[: len(kept)], int(np.prod(moved.shape[len(kept) :], dtype=np.intp))))
        found = both(unions, found, along_last(unions, rows))
    if np.size(found) != np.size(like):
        return everything(unions, like, sets)
    return shaped(np.reshape(found, np.shape(like)), like)


def scanned(unions: Any, like: Any, sets: Any, axis: Any = None) -> Any:
    """Each element of the result depends on those up to its place along an axis."""
    parts = [np.array(np.ravel(part) if axis is None else np.moveaxis(part, axis, 0)) for part in plain(sets)]
    found = parts[0]
    for part in parts[1:]:
        found = both(unions, found, part)
    for place in range(1, len(found)):
        found[place] = both(unions, found[place - 1], found[place])
    found = found if axis is None else np.moveaxis(found, 0, axis)
    return shaped(found, like) if found.shape == np.shape(like) else everything(unions, like, sets)


def summed_to(unions: Any, like: Any, sets: Any, x: Any) -> Any:
    """What was broadcast to the shape of ``sets`` is summed to that of ``like``, or broadcast further.

    Where ``like`` is memory of ``x``, whose sets these are, the result is memory of ``sets``.
    """
    if isinstance(x, np.ndarray) and isinstance(like, np.ndarray) and np.shares_memory(like, x):
        return sets if like.dtype.kind == "c" else sets.real
    found = np.zeros(())
    for part in plain(sets):
        extra = part.ndim - np.ndim(like)
        if extra < 0:
            return elementwise(unions, like, sets)
        axes = [*range(extra)]
        axes += [extra + axis for axis, extent in enumerate(np.shape(like)) if extent == 1 != part.shape[extra + axis]]
        kept = [axis for axis in range(part.ndim) if axis not in axes]
        moved = np.transpose(part, [*kept, *axes])
        rows = moved.reshape((*moved.shape[: len(kept)], int(np.prod(moved.shape[len(kept) :], dtype=np.intp))))
        found = both(unions, found, along_last(unions, rows))
    return shaped(np.reshape(found, np.shape(like)) if np.size(found) == np.size(like) else found, like)


def leaf(unions: Any, like: Any, sets: Any, template: Any, place: int) -> Any:
    """Each element of a leaf of nested lists depends on those that stand for it in the array of these."""
    found = [summed_to(unions, like, sets[path], None) for path in paths_to(template, place)]
    return elementwise(unions, like, 0.0, *found)


def product(unions: Any, like: Any, a_sets: Any, b_sets: Any, a: Any, b: Any) -> Any:
    """Each element of ``a @ b`` depends on a row of ``a`` and a column of ``b``; None stands for no sets.

    >>> from adjoint.runtime.sets.numbers import new_unions
    >>> a, b = np.ones((2, 2)), np.ones(2)
    >>> product(new_unions(2, 4), a @ b, None, np.array([1.0, 2.0]), a, b)
    array([3., 3.])
    """
    found = np.zeros(())
    rank_a, rank_b = np.ndim(a), np.ndim(b)
    if not rank_a or not rank_b or (rank_a > 2 and rank_b > 2):
        return everything(unions, like, *[each for each in (a_sets, b_sets) if each is not None])
    for part in () if a_sets is None else plain(a_sets):
        rows = along_last(unions, part)
        found = both(unions, found, rows[..., None] if rank_b > 1 else rows)
    for part in () if b_sets is None else plain(b_sets):
        columns = along_last(unions, part if rank_b == 1 else np.swapaxes(part, -1, -2))
        found = both(unions, found, columns[..., None, :] if rank_a > 1 and rank_b > 1 else columns)
    return shaped(found, like)


def moved_and_united(
    unions: Any, like: Any, fn: Callable[..., Any], places: tuple[int, ...], names: tuple[str, ...], *args: Any
) -> Any:
    """What a function that only adds and multiplies makes of sets, element by element.

    Parameters
    ----------
    fn
        The function.
    places
        Which of the positional arguments have sets: these are given instead.
    names, args
        The names of the last arguments, and all of them.
    """
    count = len(args) - len(names)
    sets = [args[place] for place in places]
    found = traced(unions, fn, places, args[:count], dict(zip(names, args[count:], strict=True)))
    if found is None or np.shape(found) != np.shape(like):
        return everything(unions, like, *sets)
    return shaped(found, like)


def numbered(array: Any) -> Any:
    """The places of the elements of an array."""
    return np.arange(array.size).reshape(array.shape)


def added_at(unions: Any, base: Any, places: Any, sets: Any) -> None:
    """Adds sets to those of an array at places, which may repeat."""
    given = np.broadcast_to(sets, np.shape(places))
    for place, part in zip(np.ravel(places).tolist(), np.ravel(given), strict=True):
        index = np.unravel_index(place, base.shape)
        base[index] = added(unions, base[index], part)


def added(unions: Any, old: Any, new: Any) -> Any:
    """The unions of what lies in memory and what is added to it; parts of complex numbers by themselves."""
    old_parts, new_parts = plain(old), plain(new)
    real = both(unions, old_parts[0], new_parts[0])
    if len(old_parts) == 1:
        return real[()]
    imag = both(unions, old_parts[1], new_parts[1]) if len(new_parts) > 1 else old_parts[1]
    return (real + 1j * imag)[()]
