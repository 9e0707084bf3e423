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
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from adjoint.frontend.entry.captured import has_fields
from adjoint.types.array_libraries import is_array, shares_memory
from adjoint.types.classes.safe_lookups import is_filled
from adjoint.types.structure import fields_of

Way = tuple[Any, ...]
PLAIN = frozenset({float, int, bool, complex, str, type(None)})
"""Classes of values without parts."""
ANY: Any = Ellipsis
"""Stands for a step that is not known before the function runs."""


def written_and_shared(value: Any, ways: frozenset[Way]) -> bool:
    """Whether an array in a value to which one of the ways leads shares memory with another one in it, or in itself."""
    written = _written_arrays(value, ways)
    arrays = list(arrays_in(value)) if written else []
    times = Counter(map(id, arrays))
    return any(
        times[id(one)] > 1
        or overlaps_itself(one)
        or any(share_memory(one, other) for other in arrays if other is not one)
        for one in written
    )


def shares_written(value: Any, other: Any, ways: frozenset[Way]) -> bool:
    """Whether an array in a value to which one of the ways leads shares memory with one in another value."""
    written = _written_arrays(value, ways)
    others = list(arrays_in(other)) if written else []
    return any(share_memory(array, another) for array in written for another in others)


def containers_in(value: Any) -> Iterator[Any]:
    """The lists and dicts in a value; those that are reached in several ways, twice."""
    return (one for one in _reached(value) if isinstance(one, (list, dict)))


def written_containers(value: Any, ways: frozenset[Way]) -> list[Any]:
    """The lists and dicts in a value to which one of the ways leads."""
    return [one for one in _led_to(value, ways) if isinstance(one, (list, dict))]


def written_parts(value: Any, ways: Iterable[frozenset[Way]]) -> list[Any]:
    """What the ways to what is written of each kind lead to in a value."""
    return _led_to(value, frozenset().union(*ways))


def _written_arrays(value: Any, ways: frozenset[Way]) -> list[Any]:
    return [one for one in _led_to(value, ways) if is_array(one)]


def _led_to(value: Any, ways: frozenset[Way]) -> list[Any]:
    """What the ways lead to, each once."""
    if (ANY,) in ways:
        return list({id(one): one for one in _reached(value)}.values())
    return list({id(one): one for way in ways for one in at_way(value, way)}.values())


def at_way(value: Any, way: Way) -> list[Any]:
    """What lies in a value at a way; several, where a step is not known.

    >>> at_way({"rows": [[1.0], [2.0]]}, ("rows", -1)), at_way(([1.0], [2.0]), (ANY, 0))
    ([[2.0]], [1.0, 2.0])
    """
    found = [value]
    for step in way:
        found = [part for one in found for part in _at_step(one, step)]
    return found


def _at_step(value: Any, step: Any) -> list[Any]:
    if isinstance(value, (list, tuple, collections.deque)) and isinstance(step, int):
        return [value[step]] if -len(value) <= step < len(value) else []
    return [part for key, part in parts_of(value) if step is ANY or key == step]


def _reached(value: Any) -> Iterator[Any]:
    """What is reached from a value, itself included: objects once, and containers and arrays up to twice."""
    times: Counter[int] = Counter()
    alive: list[Any] = []
    pending = [value]
    while pending:
        one = pending.pop()
        if type(one) in PLAIN:
            continue
        times[id(one)] += 1
        if times[id(one)] > (1 if has_fields(one) else 2):
            continue
        alive.append(one)
        yield one
        if not is_array(one) or is_of_objects(one):
            pending.extend(part for _, part in parts_of(one))


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


def arrays_in(value: Any) -> Iterator[Any]:
    """The arrays in a value, and those that share the memory of its buffers; objects that are reached again are one."""
    for one in _reached(value):
        if is_array(one):
            yield one
        elif isinstance(one, _BUFFERS):
            yield np.asarray(one)
        elif f"{type(one).__module__}.".startswith("pandas."):
            yield from _columns_of(one)


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
    if type(value) in PLAIN or id(value) in seen:
        return
    seen.add(id(value))
    if has_fields(value):
        yield value
    for _, part in parts_of(value):
        yield from _objects(part, seen)


def is_of_objects(value: Any) -> bool:
    """Whether it is an array of objects."""
    return isinstance(value, np.ndarray) and value.dtype.hasobject


def parts_of(value: Any) -> list[tuple[Any, Any]]:
    """What a container, an object or a function holds, with the keys or names."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple, collections.deque)):
        return list(enumerate(value))
    if isinstance(value, np.ndarray):
        return list(enumerate(value.flat)) if is_of_objects(value) else []
    if isinstance(value, weakref.ref):
        return [("()", value())]
    if isinstance(value, types.CellType):
        return [("cell_contents", value.cell_contents)] if is_filled(value) else []
    if isinstance(value, _FUNCTIONS):
        return [(name, part) for name in _PARTS if (part := getattr(value, name, None)) is not None]
    return list(fields_of(value).items()) if has_fields(value) else []


_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_PARTS = ("__self__", "__closure__", "func", "args", "keywords")
"""Attributes of functions by which they hold other values."""
