"""Sums and comparisons of whole tangents and shadows."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.tangents.parts import own, part_of, put, refuse_immutable, slots_of_shadow
from adjoint.types.array_libraries import is_array, is_foreign, is_writeable
from adjoint.types.structure import is_container, is_namedtuple, is_object, stored_fields
from adjoint.types.vectors import Fields, TangentVector


def accumulate(a: Any, b: Any) -> Any:
    """The sum of two tangents or cotangents of one value; None is zero."""
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, TangentVector) and isinstance(b, TangentVector):
        if type(a) is not type(b):
            raise ValueError(f"tangents of two classes: {type(a).__qualname__} and {type(b).__qualname__}")
        result = type(a)()
        for name in dict.fromkeys((*vars(a), *vars(b))):
            setattr(result, name, accumulate(getattr(a, name, None), getattr(b, name, None)))
        return result
    if isinstance(a, (tuple, list)):
        if isinstance(a, list) and isinstance(b, list) and not (a and b):
            return a or b  # the empty list is the zero of lists of any length
        if not isinstance(b, (tuple, list)) or len(a) != len(b):
            raise ValueError(f"structures differ: {_described(a)} and {_described(b)}")
        items = [accumulate(mine, theirs) for mine, theirs in zip(a, b, strict=True)]
        if isinstance(a, list):
            return items
        return type(a)(*items) if is_namedtuple(a) else tuple(items)
    if isinstance(a, dict):
        return {key: accumulate(a.get(key), b.get(key)) for key in dict.fromkeys((*a, *b))}
    return a + b


def _described(x: Any) -> str:
    return f"a {type(x).__name__} of {len(x)}" if isinstance(x, (tuple, list)) else f"a {type(x).__name__}"


def same_tangent(a: Any, b: Any) -> bool:
    """Whether two tangents are equal in structure and in every number."""
    if isinstance(a, Fields):
        if type(a) is not type(b):
            return False
        names = dict.fromkeys((*vars(a), *vars(b)))
        return all(same_tangent(getattr(a, name, None), getattr(b, name, None)) for name in names)
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same_tangent, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same_tangent(a[key], b[key]) for key in a)
    if is_object(a):
        names = dict.fromkeys((*stored_fields(a), *stored_fields(b)))
        parts = ((getattr(a, name, None), getattr(b, name, None)) for name in names)
        return type(a) is type(b) and all(same_tangent(mine, theirs) for mine, theirs in parts)
    if is_array(a) or is_array(b):
        return type(a) is type(b) and a.shape == b.shape and bool((a == b).all() if is_foreign(a) else np.all(a == b))
    return bool(a == b)


def pour(into: Any, shadow: Any) -> None:
    """Adds a shadow to another shadow of the same memory, in place.

    Parameters
    ----------
    into
        What is added to. Where it shares, ``shadow`` does.
    shadow
        What is added; it stays as it is.
    """
    _add_into(into, shadow, set())


def _add_into(into: Any, shadow: Any, seen: set[int]) -> None:
    if shadow is None or id(shadow) in seen:
        return
    seen.add(id(shadow))
    if is_array(into):
        refuse_immutable(into)
        into += shadow
        return
    for name, part in slots_of_shadow(shadow):
        held = part_of(into, name, into)
        if is_container(held) or is_writeable(held):
            _add_into(held, part, seen)
        elif part is not None:
            put(into, name, into, own(part) if held is None else held + part)
