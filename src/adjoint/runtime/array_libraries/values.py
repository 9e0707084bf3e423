"""Arrays of other libraries made like others, for code that walks over structures of any library's arrays."""

from __future__ import annotations

from typing import Any

from adjoint.runtime.array_libraries.adapters import Adapter, adapter_of
from adjoint.types.array_libraries import device_of, library_of, name_of


def _adapter(like: Any) -> Adapter:
    return adapter_of(library_of(like))


def zeros_like(like: Any) -> Any:
    """Zeros of the shape of an array, of a dtype that derivatives can have."""
    adapter = _adapter(like)
    floating = adapter.names.is_floating(like.dtype)
    return adapter.names.zeros_like(like, None if floating else adapter.names.float64)


def copy_of(x: Any) -> Any:
    """A copy of an array."""
    return _adapter(x).names.copy(x)


def written(x: Any, value: Any) -> Any:
    """``x[...] = value``; the array that has it."""
    return _adapter(x).operations.put(x, ..., value)


def tangent_like(part: Any, like: Any) -> Any:
    """A tangent with the dtype and the shape of an array, in memory of its own."""
    names = _adapter(like).names
    if not names.is_array(part):
        return names.full(like.shape, part, like.dtype)
    return names.copy(part) if part.dtype == like.dtype else names.astype(part, like.dtype)


def fitting(given: Any, like: Any) -> Any:
    """What a user gives as a tangent of an array, in its dtype; None where it does not fit."""
    if isinstance(given, (int, float)) and not isinstance(given, bool) and like.ndim == 0:
        return _adapter(like).names.full((), given, like.dtype)
    if name_of(given) != name_of(like) or given.shape != like.shape:
        return None
    if device_of(given) != device_of(like) and device_of(given) and device_of(like):
        return None
    names = _adapter(like).names
    if names.iscomplexobj(given) and not names.iscomplexobj(like):
        return None
    return given if given.dtype == like.dtype else names.astype(given, like.dtype)
