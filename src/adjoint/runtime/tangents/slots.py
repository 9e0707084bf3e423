"""Slots and views of shadows, as generated code clears, fills and follows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.tangents.parts import new_zeros, own
from adjoint.runtime.tangents.zeros import zero_number
from adjoint.types.array_libraries import is_array, is_writeable
from adjoint.types.structure import is_number


def take_slot(shadow: Any, key: Any) -> Any:
    """What a slot of a list, dict or array holds; the slot is cleared."""
    value = shadow[key]
    if is_array(shadow):
        taken = own(value)
        shadow[key] = 0
        return taken
    shadow[key] = _cleared(value)
    return value


def take_field(shadow: Any, name: str) -> Any:
    """What a field of an object's shadow holds; the field is cleared."""
    value = getattr(shadow, name)
    setattr(shadow, name, _cleared(value))
    return value


def add_to_slot(shadow: Any, key: Any, value: Any) -> None:
    """Adds to what a slot of a list or dict holds; the slot owns its arrays, the value stays the caller's."""
    shadow[key] = _added(shadow[key], value)


def add_to_field(shadow: Any, name: str, value: Any) -> None:
    """Adds to what a field of an object's shadow holds."""
    setattr(shadow, name, _added(getattr(shadow, name, None), value))


def _added(held: Any, value: Any) -> Any:
    if is_writeable(held) and held.shape == (value.shape if is_array(value) else ()):
        held += value
        return held
    if held is None:
        return own(value)
    return held if value is None else held + value


def _cleared(value: Any) -> Any:
    if is_array(value):
        return new_zeros(value)
    return zero_number(value) if is_number(value) else None


def follow_view(shadow: Any, base: Any, like: Any, like_base: Any) -> Any:
    """Makes ``shadow`` a view of ``base`` exactly where ``like`` is one of ``like_base``.

    Parameters
    ----------
    shadow, base
        A shadow, and the shadow from which an operation that copies only at need (``reshape``) made it.
    like, like_base
        The arrays that they belong to.
    """
    if not np.may_share_memory(like, like_base) or like.size == 0:
        return np.copy(shadow) if np.may_share_memory(shadow, base) else shadow
    if not np.may_share_memory(shadow, base):
        if like is like_base:  # the operation did nothing, such as a sum over an axis of one, and was left out
            return base
        raise ValueError("a tangent is laid out differently from the array that it belongs to")
    return shadow
