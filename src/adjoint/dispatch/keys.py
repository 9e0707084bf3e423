"""What a specialisation depends on of run-time values: their keys.

Two values of one key may be given to one compiled derivative. Keys hold no numbers, no sizes of arrays, and neither
keep functions alive nor take a new one for one that is gone. An object that occurs twice is told from two objects.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any
from weakref import ref

import numpy as np

from adjoint.frontend.entry.captured import CONSTANT, MAX_PARTS, has_fields, is_structure
from adjoint.rules.declarations import counts_by_identity
from adjoint.rules.registry import is_of_users
from adjoint.types.array_libraries import device_of, name_of, name_of_dtype
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import DICTS, fields_of, own_attribute

Seen = dict[int, int]
"""The objects met so far, by identity, with the order in which they were met."""

MISS: Any = type("Miss", (), {"__repr__": lambda self: "<no fit>"})()
"""What a door returns where the specialisation does not fit."""

Door = Callable[[Any, tuple[Any, ...]], Any]
"""The fast path of a call: takes the function and the arguments; written by :mod:`adjoint.dispatch.fast_path`."""


def keys_of(values: Iterable[Any]) -> tuple[Any, ...]:
    """The keys of values that belong to one call."""
    seen: Seen = {}
    return tuple([key_of(value, seen) for value in values])


def key_of(value: Any, seen: Seen) -> Any:
    """The key of one value.

    Parameters
    ----------
    value
        Any value.
    seen
        The objects that occurred before in the same call; those of this value are added.
    """
    cls = type(value)
    if cls is float:
        return "f"
    if cls is int:
        return "i"
    if cls is np.ndarray or cls is np.memmap:
        return value.dtype, tuple([extent == 1 for extent in value.shape])
    if isinstance(value, np.generic):
        return cls
    if value is None or cls in (bool, str, bytes):
        return cls, value
    if isinstance(value, tuple):
        return cls, tuple([key_of(item, seen) for item in value])
    if cls is list:
        return _key_of_list(value, seen)
    if cls in DICTS:
        return cls, tuple([(type(key), key, key_of(item, seen)) for key, item in value.items()])
    library = name_of(value)
    if library:
        return library, device_of(value), name_of_dtype(value.dtype), tuple([extent == 1 for extent in value.shape])
    return _key_of_object(value, cls, seen)


def _key_of_object(value: Any, cls: type, seen: Seen) -> Any:
    if is_marked(cls, CONSTANT):
        return cls, getattr(value, CONSTANT)
    if isinstance(value, types.FunctionType):
        return _key_of_function(value, seen)
    if isinstance(value, types.MethodType):
        function = value.__func__
        own = ref(function) if isinstance(function, types.FunctionType) else key_of(function, seen)
        return "method", own, key_of(value.__self__, seen)
    if isinstance(value, functools.partial):
        if counts_by_identity(value):
            return cls, id(value)
        named = tuple([(name, key_of(item, seen)) for name, item in value.keywords.items()])
        return cls, key_of(value.func, seen), tuple([key_of(item, seen) for item in value.args]), named
    if has_fields(value) and own_attribute(value, "__adjoint_operator__") is None:
        if id(value) in seen:
            return "same", seen[id(value)]
        seen[id(value)] = len(seen)
        kind = (cls, id(value)) if counts_by_identity(value) else cls
        return kind, tuple([(name, key_of(item, seen)) for name, item in fields_of(value).items()])
    if not callable(value):
        return cls
    try:  # what is called is a constant of the specialisation
        hash(value)
    except TypeError:
        return cls, id(value)
    return value


def _key_of_function(value: types.FunctionType, seen: Seen) -> Any:
    """Function objects of one ``def`` are of one kind if what they capture is.

    Default values, attributes, and the class that ``super()`` needs, are read from the very function; and a derivative
    is declared of the very function.
    """
    if value.__defaults__ or value.__kwdefaults__ or vars(value) or "__class__" in value.__code__.co_freevars:
        return ref(value)
    if is_of_users(value):
        return ref(value)
    if id(value) in seen:
        return "same", seen[id(value)]
    seen[id(value)] = len(seen)
    return value.__code__, id(value.__globals__), tuple([_key_of_cell(cell, seen) for cell in value.__closure__ or ()])


def _key_of_cell(cell: types.CellType, seen: Seen) -> Any:
    if id(cell) in seen:
        return "same", seen[id(cell)]
    seen[id(cell)] = len(seen)
    try:
        return key_of(cell.cell_contents, seen)
    except ValueError:
        return None


def _key_of_list(value: list[Any], seen: Seen) -> Any:
    """Lists of one kind of number or array have no length in the key; lists of structures do, unless they are long."""
    kinds = set(map(type, value))
    if kinds <= {float, int} and len(kinds) <= 1:
        return list, kinds.pop() if kinds else None
    if len(value) > MAX_PARTS:
        kind = _kind_of_objects(value, seen)
        if kind is not None:
            return list, kind, "many"
    keys = [key_of(item, seen) for item in value]
    if len(dict.fromkeys(keys)) == 1 and (not is_structure(value[0]) or (value[0] is None and len(value) > MAX_PARTS)):
        return list, keys[0]
    return list, tuple(keys), len(keys)


def _kind_of_objects(items: list[Any], seen: Seen) -> Any:
    """What the objects of a long list have in common, if all have the same numbers and none was met before."""
    first = items[0]
    if not has_fields(first) or any(id(item) in seen or counts_by_identity(item) for item in items):
        return None
    kind = _kind_of_object(first)
    if kind is None or any(_kind_of_object(item) != kind for item in items):
        return None
    for item in items:
        seen.setdefault(id(item), len(seen))
    return kind


def _kind_of_object(item: Any) -> Any:
    fields = fields_of(item)
    kinds = tuple(map(type, fields.values()))
    numbers = all(kind in (float, int, bool) or issubclass(kind, np.generic) for kind in kinds)
    return (type(item), tuple(fields), kinds) if numbers else None
