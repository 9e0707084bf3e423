"""From a tangent to the shadow that holds it, and back."""

from __future__ import annotations

from typing import Any

from adjoint.runtime.tangents.parts import (
    Memo,
    Walk,
    counts_integers,
    is_integer,
    leaf_like,
    part_of,
    put,
    refuse_immutable,
    slots,
)
from adjoint.runtime.tangents.zeros import shadow, shadow_of_values, zero_tangent
from adjoint.types.array_libraries import is_array, is_immutable
from adjoint.types.structure import (
    field_names,
    float_fields,
    is_container,
    is_float_array,
    is_leaf_value,
    is_namedtuple,
    is_number,
    new_object,
    set_field,
)
from adjoint.types.vectors import tangent_class


def to_shadow(tangent: Any, like: Any, memo: Memo | None = None) -> Any:
    """The shadow that holds a tangent: fresh memory, laid out as that of ``like``.

    Parameters
    ----------
    tangent
        A tangent of ``like``; None, or a part that is None, is zero.
    like
        The value that it belongs to. Where it shares, the first tangent counts.
    memo
        What earlier calls made, so that several values may share.
    """
    memo = {} if memo is None else memo
    result = shadow(like, memo)
    _pour(tangent, like, result, set())
    return leaf_like(tangent, like) if is_leaf_value(like) and tangent is not None else result


def seed_shadow(cotangent: Any, like: Any) -> Any:
    """The shadow that a reverse sweep starts from: fresh memory, laid out as that of ``like``, a returned value.

    Parameters
    ----------
    cotangent
        A cotangent of ``like``; None, or a part that is None, is zero.
    like
        The value that it belongs to. Where it is reached on several ways, their cotangents are added, unless they
        are one object as well.
    """
    if is_immutable(like):
        return shadow(like) if cotangent is None else leaf_like(cotangent, like)
    result = shadow(like)
    _add_seed(cotangent, like, result, set())
    return result


def seed_of_values(cotangent: Any, like: Any) -> Any:
    """The same for a container whose arrays nobody writes."""
    result = shadow_of_values(like)
    _add_seed(cotangent, like, result, set())
    return result


LAYOUTS = (to_shadow, seed_shadow, seed_of_values)
"""What lays out its first argument like its second."""


def _add_seed(cotangent: Any, like: Any, into: Any, seen: set[tuple[int, int]]) -> None:
    if cotangent is None or into is None or (id(cotangent), id(like)) in seen:
        return
    seen.add((id(cotangent), id(like)))
    if is_array(like):
        refuse_immutable(into)
        into += cotangent
        return
    for name, item in slots(like):
        part, below = part_of(cotangent, name, like), part_of(into, name, like)
        if part is not None and is_immutable(below):
            put(into, name, like, below + part)
        elif is_array(below) or is_container(below):
            _add_seed(part, item, below, seen)
        elif part is not None and below is not None:
            put(into, name, like, below + leaf_like(part, item))


def _pour(tangent: Any, like: Any, into: Any, seen: set[int]) -> None:
    """Writes a tangent into a zero shadow."""
    if tangent is None or into is None or id(like) in seen:
        return
    if is_array(like):
        seen.add(id(like))
        if not is_immutable(into):  # of an array itself, the tangent is the result
            into[...] = tangent
        return
    if not is_container(like):
        return
    seen.add(id(like))
    for name, item in slots(like):
        part = part_of(tangent, name, like)
        if part is None:
            continue
        below = part_of(into, name, like)
        if is_immutable(below):
            put(into, name, like, part)
        elif is_array(below) or is_container(below):
            _pour(part, item, below, seen)
        elif below is not None:
            put(into, name, like, leaf_like(part, item))


def finish(shadow: Any, like: Any, memo: Memo | None = None) -> Any:
    """The tangent that a shadow (or a value's tangent) holds, to be handed to users.

    Parameters
    ----------
    shadow
        A shadow, or the tangent of a number or array. None is zero.
    like
        The value that it belongs to, or its zero tangent if the value may have changed since.
    memo
        What earlier calls made, so that several results may share.

    Returns
    -------
    object
        Fresh and writable; it shares memory with nothing but itself, where ``shadow`` does.
    """
    return _Finish(memo).of(shadow, like)


class _Finish(Walk):
    """One walk over a shadow. Only mutable structure is remembered: numbers have no identity."""

    def of(self, shadow: Any, like: Any) -> Any:
        if shadow is None:
            return zero_tangent(like)
        if is_number(like):
            return leaf_like(shadow, like)
        if is_array(like):
            return self.array(shadow, like) if is_float_array(like) else None
        if is_number(shadow):  # an integer that counts as a float
            return shadow if is_integer(like) else None
        if not is_container(like) or is_array(shadow):
            return None
        if id(shadow) in self.memo:
            return self.memo[id(shadow)]
        if isinstance(like, tuple):
            pairs = zip(shadow, like, strict=True)
            items: list[Any] = [None if is_integer(item) else self.of(part, item) for part, item in pairs]
            return self.remember(shadow, type(like)(*items) if is_namedtuple(like) else tuple(items))
        if isinstance(like, list):
            result: Any = self.remember(shadow, [])
            counted = counts_integers(like)
            result.extend(
                self.of(part, item) if counted or not is_integer(item) else None
                for part, item in zip(shadow, like, strict=True)
            )
            return result
        if isinstance(like, dict):
            result = self.remember(shadow, {})
            for key, item in like.items():
                result[key] = None if is_integer(item) else self.of(shadow.get(key), item)
            return result
        return self.of_object(shadow, like)

    def of_object(self, shadow: Any, like: Any) -> Any:
        result = self.remember(shadow, new_object(tangent_class(type(like))))
        counted = float_fields(type(like))
        empty = True
        for name in field_names(like):
            item, part = getattr(like, name), getattr(shadow, name, None)
            if type(item) is float and type(part) is float:
                set_field(result, name, part)
                empty = False
                continue
            if not is_leaf_value(item) and not is_container(item) and name not in counted:
                continue
            value = self.of(part, item)
            if value is None and isinstance(item, int) and not isinstance(item, bool):
                value = 0.0
            if value is not None:
                set_field(result, name, value)
                empty = False
        if empty:
            self.memo[id(shadow)] = None
            return None
        return result

    def array(self, shadow: Any, like: Any) -> Any:
        if not is_array(shadow):
            return leaf_like(shadow, like)
        if id(shadow) in self.memo:
            return self.memo[id(shadow)]
        return self.remember(shadow, leaf_like(shadow, like))
