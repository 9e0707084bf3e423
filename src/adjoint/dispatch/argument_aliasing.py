"""Arrays in one argument that share memory, lists and dicts that lie in two places: a derivative takes them for two.

That is right as long as nobody writes one of them. Which of them a function may write is found when it is compiled, as
ways from the argument; whether these share memory with others is asked at each call.
"""

from __future__ import annotations

import array
import collections
import ctypes
import functools
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.frontend.entry.captured import has_fields
from adjoint.types.array_libraries import is_array, shares_memory
from adjoint.types.structure import fields_of

Way = tuple[Any, ...]
_PLAIN = frozenset({float, int, bool, complex, str, type(None)})
ANY: Any = Ellipsis
"""Stands for a step that is not known before the function runs."""


def written_and_shared(value: Any, ways: frozenset[Way]) -> bool:
    """Whether an array in a value to which one of the ways leads shares memory with another one in it, or in itself."""
    arrays = list(arrays_in(value)) if ways else []
    return any(
        (share_memory(array, another) if one != other else overlaps_itself(array))
        for one, (place, array) in enumerate(arrays)
        if any(_leads_to(way, place) for way in ways)
        for other, (_, another) in enumerate(arrays)
    )


def shares_written(value: Any, other: Any, ways: frozenset[Way]) -> bool:
    """Whether an array in a value to which one of the ways leads shares memory with one in another value."""
    written = [array for place, array in arrays_in(value) if any(_leads_to(way, place) for way in ways)] if ways else []
    others = [array for _, array in arrays_in(other)] if written else []
    return any(share_memory(array, another) for array in written for another in others)


def containers_in(value: Any) -> Iterator[tuple[Way, Any]]:
    """The lists and dicts in a value, each with every place at which it is reached."""
    return _containers(value, (), set())


def _containers(value: Any, place: Way, seen: set[int]) -> Iterator[tuple[Way, Any]]:
    if isinstance(value, (list, dict)):
        yield place, value
    if type(value) in _PLAIN or id(value) in seen:
        return
    seen.add(id(value))
    for key, part in parts_of(value):
        yield from _containers(part, (*place, key), seen)


def written_containers(value: Any, ways: frozenset[Way]) -> list[Any]:
    """The lists and dicts in a value to which one of the ways leads."""
    return [one for place, one in containers_in(value) if any(_leads_to(way, place) for way in ways)] if ways else []


def share_memory(a: Any, b: Any) -> bool:
    """Whether two arrays have memory in common; of other libraries than NumPy, whether they may."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b) and np.shares_memory(a, b)
    return a is b or shares_memory(a, b)


def overlaps_itself(array: Any) -> bool:
    """Whether elements of an array may share memory, as those of broadcast arrays and of sliding windows do.

    >>> overlaps_itself(np.broadcast_to(1.0, 3)), overlaps_itself(np.ones((4, 4))[::2, ::-1].T)
    (True, False)
    """
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous or array.size == 0:
        return False
    reach = array.itemsize
    for stride, extent in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if stride < reach and extent > 1:
            return True
        reach += stride * (extent - 1)
    return False


def _leads_to(way: Way, place: Way) -> bool:
    if way == (ANY,):
        return True
    return len(way) == len(place) and all(step is ANY or step == there for step, there in zip(way, place, strict=True))


def arrays_in(value: Any) -> Iterator[tuple[Way, Any]]:
    """The arrays in a value, each with its place; objects that are reached again are one."""
    return _arrays(value, (), set())


def _arrays(value: Any, place: Way, seen: set[int]) -> Iterator[tuple[Way, Any]]:
    if is_array(value):
        yield place, value
        if not _is_of_objects(value):
            return
    if type(value) in _PLAIN or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, _BUFFERS):
        yield place, np.asarray(value)
        return
    if f"{type(value).__module__}.".startswith("pandas."):
        yield from ((place, column) for column in _columns_of(value))
        return
    for key, part in parts_of(value):
        yield from _arrays(part, (*place, key), seen)


_BUFFERS = (memoryview, bytearray, array.array, ctypes.Array)
"""Classes of objects whose memory an array may share."""


def _columns_of(table: Any) -> list[Any]:
    """What pandas holds, a column at a time: it tells its memory that way."""
    if hasattr(table, "columns"):
        return [table[name].to_numpy() for name in table.columns]
    return [table.to_numpy()] if hasattr(table, "to_numpy") else []


def objects_in(value: Any) -> Iterator[Any]:
    """The objects in a value, each once."""
    return _objects(value, set())


def _objects(value: Any, seen: set[int]) -> Iterator[Any]:
    if type(value) in _PLAIN or id(value) in seen:
        return
    seen.add(id(value))
    if has_fields(value):
        yield value
    for _, part in parts_of(value):
        yield from _objects(part, seen)


def is_holder(value: Any) -> bool:
    """Whether something is a container in which nobody looks: of a class in C, or of one that inherits from such."""
    if isinstance(value, (list, dict)):
        return type(value) not in (list, dict)
    return isinstance(value, (collections.deque, weakref.ref)) or _is_of_objects(value)


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.hasobject


def parts_of(value: Any) -> list[tuple[Any, Any]]:
    """What a container, an object or a function holds, with the keys or names."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple, collections.deque)):
        return list(enumerate(value))
    if isinstance(value, np.ndarray):
        return list(enumerate(value.flat)) if _is_of_objects(value) else []
    if isinstance(value, weakref.ref):
        return [("()", value())]
    if isinstance(value, types.CellType):
        return [("cell_contents", value.cell_contents)] if _is_filled(value) else []
    if isinstance(value, _FUNCTIONS):
        return [(name, part) for name in _PARTS if (part := getattr(value, name, None)) is not None]
    return list(fields_of(value).items()) if has_fields(value) else []


_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_PARTS = ("__self__", "__closure__", "func", "args", "keywords")
"""Attributes of functions by which they hold other values."""


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
