"""The arrays in a value, which of them share memory, and values that are spoilt in place."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.api.tools.float_leaves import children, fields_of

Way = tuple[Any, ...]


def arrays_in(value: Any, way: Way = (), seen: frozenset[int] = frozenset()) -> Iterator[tuple[Way, np.ndarray]]:
    """The arrays in a value, at each way that leads to them."""
    if isinstance(value, np.ndarray):
        yield way, value
    elif id(value) not in seen:
        for (_, key), part in children(value):
            yield from arrays_in(part, (*way, key), seen | {id(value)})


def containers_in(value: Any, way: Way = (), seen: frozenset[int] = frozenset()) -> Iterator[tuple[Way, Any]]:
    """What else can be changed in a value: lists, dicts and objects."""
    if isinstance(value, np.ndarray) or id(value) in seen:
        return
    if isinstance(value, (list, dict)) or fields_of(value):
        yield way, value
    for (_, key), part in children(value):
        yield from containers_in(part, (*way, key), seen | {id(value)})


def shared(one: Any, other: Any) -> set[tuple[Way, Way]]:
    """The ways in two values that lead to the same memory."""
    found = {
        (way, place)
        for way, mine in arrays_in(one)
        for place, theirs in arrays_in(other)
        if np.may_share_memory(mine, theirs) and np.shares_memory(mine, theirs)
    }
    theirs = {id(container): place for place, container in containers_in(other)}
    return found | {(way, theirs[id(mine)]) for way, mine in containers_in(one) if id(mine) in theirs}


def shared_inside(value: Any) -> set[tuple[Way, Way]]:
    """The pairs of ways in a value that lead to the same memory."""
    return {(one, other) for one, other in shared(value, value) if repr(one) < repr(other)}


def spoil(value: Any, seen: set[int] | None = None) -> None:
    """Writes NaN over all numbers in arrays, lists, dicts and objects, where they can be written."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fc" and value.flags.writeable:
            value[...] = np.nan
        return
    for (kind, key), part in list(children(value)):
        if not isinstance(part, (float, np.floating)):
            spoil(part, seen)
        elif isinstance(value, (list, dict)):
            value[key] = type(part)(np.nan)
        elif kind == "field":
            object.__setattr__(value, key, type(part)(np.nan))


def captured_by(function: Any, seen: set[int] | None = None) -> dict[str, np.ndarray]:
    """The arrays that a function finds in global and enclosing variables, and that functions do that it finds there."""
    seen = set() if seen is None else seen
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return {}
    seen.add(id(function))
    names = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names.update((name, cell.cell_contents) for name, cell in cells if _is_filled(cell))
    found: dict[str, np.ndarray] = {}
    for name, value in names.items():
        found.update((f"{name}{list(way)}", array) for way, array in arrays_in(value))
        found.update(captured_by(value, seen))
    return found


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True
