"""Structures of numbers and arrays as vectors: their float leaves, moved, read and put together again."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjoint.types import TangentVector, memberwise, tangent_class
from adjoint.types.marks import no_derivative_fields

Path = tuple[tuple[str, Any], ...]
"""Where a leaf lies in a structure: steps ``("item", key)`` and ``("field", name)``."""

Vector = NDArray[Any]
_OPAQUE_MODULES = ("builtins", "functools", "random", "numpy", "numpy.random")


def is_float_leaf(value: Any) -> bool:
    """Whether ``value`` is a number or an array that can vary smoothly."""
    if isinstance(value, (float, np.floating)):
        return True
    return isinstance(value, np.ndarray) and value.dtype.kind in "f"


def fields_of(value: Any) -> list[str]:
    """The names of an object's fields, of ``__slots__`` and of ``__dict__``; none for what is not a plain object."""
    cls = type(value)
    if isinstance(value, (type, types.ModuleType, Enum)) or cls.__module__ in _OPAQUE_MODULES:
        return []
    names: list[str] = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names.extend(name for name in ((slots,) if isinstance(slots, str) else slots) if hasattr(value, name))
    names.extend(getattr(value, "__dict__", ()))
    return list(dict.fromkeys(name for name in names if name not in ("__dict__", "__weakref__")))


def children(value: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    """The parts of a structure, each with the step that leads to it."""
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield ("item", index), item
    elif isinstance(value, dict):
        for key, item in value.items():
            yield ("item", key), item
    else:
        excluded = no_derivative_fields(type(value))
        for name in fields_of(value):
            if name not in excluded:
                yield ("field", name), getattr(value, name)


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """The float leaves of a structure in order, each with its path."""
    if is_float_leaf(value):
        return [(path, value)]
    return [leaf for step, item in children(value) for leaf in leaves(item, (*path, step))]


def flatten(value: Any) -> Vector:
    """The float leaves of a structure as one vector."""
    parts = [np.ravel(leaf) for _, leaf in leaves(value)]
    return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)


def rebuild(value: Any, leaf: Callable[[Any], Any], shared: dict[int, Any] | None = None) -> Any:
    """A copy of a structure with ``leaf`` applied to its float leaves, without running the user's constructors.

    What occurs twice in it stays one object where ``shared`` is given, the copies made so far by identity.
    """
    if is_float_leaf(value) and not isinstance(value, np.ndarray):
        return leaf(value)
    memo = {} if shared is None else shared
    if id(value) in memo:
        return memo[id(value)]
    result: Any
    if is_float_leaf(value):
        result = leaf(value)
    elif isinstance(value, np.ndarray):
        result = value.copy(order="K")
    elif isinstance(value, list):
        result = memo[id(value)] = []
        result.extend(rebuild(item, leaf, shared) for item in value)
    elif isinstance(value, tuple):
        items = [rebuild(item, leaf, shared) for item in value]
        result = type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    elif isinstance(value, dict):
        result = memo[id(value)] = copy.copy(value)
        for key, item in value.items():
            result[key] = rebuild(item, leaf, shared)
    elif names := fields_of(value):
        result = memo[id(value)] = copy.copy(value)
        excluded = no_derivative_fields(type(value))
        for name in names:
            each = _as_it_is if name in excluded else leaf
            object.__setattr__(result, name, rebuild(getattr(value, name), each, shared))
    else:
        result = value
    memo[id(value)] = result
    return result


def _as_it_is(leaf: Any) -> Any:
    return leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf


def clone(value: Any) -> Any:
    """A copy of a structure that shares no memory with it; what occurs twice in it stays one object."""
    return rebuild(value, _as_it_is, {})


def moved(value: Any, direction: Vector, step: complex) -> Any:
    """A copy of a structure whose float leaves are moved by ``step`` times ``direction``."""
    position = 0
    imaginary = step.imag != 0

    def move(leaf: Any) -> Any:
        nonlocal position
        size = int(np.size(leaf))
        change = step * direction[position : position + size]
        position += size
        if isinstance(leaf, np.ndarray):
            result = leaf.astype(np.complex128 if imaginary else leaf.dtype, order="K")
            result += change.reshape(leaf.shape)  # in place: the layout of an argument is part of what it means
            return result
        number = leaf + change.item()
        return number if imaginary else type(leaf)(number)

    return rebuild(value, move)


def tangent_of(value: Any, vector: Vector) -> Any:
    """The tangent of a structure that has these components: the same structure, ``None`` for what does not vary."""
    tangent, rest = _take(value, vector)
    assert len(rest) == 0, "the vector is longer than the structure"
    return tangent


def _take(value: Any, vector: Vector) -> tuple[Any, Vector]:
    if is_float_leaf(value):
        size = int(np.size(value))
        if isinstance(value, np.ndarray):
            return vector[:size].reshape(value.shape).astype(value.dtype), vector[size:]
        return type(value)(vector[0]), vector[1:]
    parts: dict[Any, Any] = {}
    for (_, key), item in children(value):
        parts[key], vector = _take(item, vector)
    if isinstance(value, list):
        return list(parts.values()), vector
    if isinstance(value, tuple):
        items = parts.values()
        return (type(value)(*items) if hasattr(value, "_fields") else tuple(items)), vector
    if isinstance(value, dict):
        return parts, vector
    fields = {name: part for name, part in parts.items() if part is not None}
    return (memberwise(tangent_class(type(value)), **fields) if fields else None), vector


def read_tangent(value: Any, tangent: Any, what: str) -> Vector:
    """The components of ``tangent`` at the float leaves of ``value``; ``None`` stands for zeros."""
    parts = [_component(leaf, tangent, path, what) for path, leaf in leaves(value)]
    return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)


def _component(leaf: Any, tangent: Any, path: Path, what: str) -> Vector:
    for depth, (kind, key) in enumerate(path):
        if tangent is None:
            break
        try:
            if isinstance(tangent, TangentVector):
                tangent = getattr(tangent, key, None)
            else:
                tangent = tangent[key] if kind == "item" else getattr(tangent, key)
        except (LookupError, AttributeError, TypeError) as error:
            raise AssertionError(f"{what}: nothing at {show_path(path[: depth + 1])} ({error!r})") from error
    if tangent is None:
        return np.zeros(np.size(leaf))
    if np.shape(tangent) != np.shape(leaf):
        raise AssertionError(f"{what}: shape {np.shape(tangent)} at {show_path(path)}, expected {np.shape(leaf)}")
    if isinstance(leaf, (np.ndarray, np.floating)) and getattr(tangent, "dtype", leaf.dtype) != leaf.dtype:
        raise AssertionError(f"{what}: {tangent.dtype} at {show_path(path)}, expected {leaf.dtype}")
    return np.ravel(np.asarray(tangent, dtype=np.float64))


def show_path(path: Path) -> str:
    """A path as one would write it after a name."""
    return "".join(f"[{key!r}]" if kind == "item" else f".{key}" for kind, key in path) or "the value"
