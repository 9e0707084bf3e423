"""Tangents and shadows of values at run time.

A *tangent* is what users see: like the value it belongs to, with None at what does not vary. A *shadow* is its
mutable form inside generated code: tuples are lists there, and objects have all their fields.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.array_functions.arrays import empty_as, zeros_as, zeros_like
from adjoint.types.array_libraries import is_array, is_foreign, is_immutable, is_writeable
from adjoint.types.structure import (
    field_names,
    float_fields,
    is_container,
    is_float_array,
    is_leaf_value,
    is_namedtuple,
    is_number,
    is_object,
    leaves_of,
    map_structure,
    new_object,
    set_field,
    stored_fields,
)
from adjoint.types.vectors import Fields, TangentVector, shadow_class, tangent_class

__all__ = [
    "TangentVector",
    "accumulate",
    "add_to_field",
    "add_to_slot",
    "field_names",
    "finish",
    "follow_view",
    "is_container",
    "is_leaf_value",
    "leaves_of",
    "map_structure",
    "pour",
    "same_tangent",
    "seed_of_values",
    "seed_shadow",
    "shadow",
    "shadow_like",
    "shadow_of_values",
    "shadow_or_zeros",
    "take_field",
    "take_slot",
    "tangent_class",
    "to_shadow",
    "zero_seed",
    "zero_tangent",
]

Memo = dict[int, Any]


def zero_number(x: Any) -> Any:
    """The zero of a number's own type: ``0.0``, ``np.float32(0.0)``."""
    return x.dtype.type(0) if isinstance(x, np.generic) else type(x)(0) if type(x) in (float, complex) else 0.0


# Zeros


def zero_tangent(x: Any, memo: Memo | None = None) -> Any:
    """The zero tangent of a value.

    Parameters
    ----------
    x
        Any value. What is shared in it, is shared in the result.
    memo
        What earlier calls made, by identity of the value, so that several values may share.

    Returns
    -------
    object
        Zeros of the same types and shapes for numbers and float arrays, the same kind of container for tuples, lists
        and dicts, a tangent vector for an object, None for anything else.
    """
    return _Zeros(mutable=False, memo=memo).of(x)


def zero_seed(x: Any) -> Any:
    """The zero cotangent of a result; an integer, where other paths return a float, has one too."""
    if is_foreign(x):
        return _foreign().zeros_like(x)
    whole = isinstance(x, (int, np.integer, np.ndarray)) and not (is_number(x) or is_float_array(x))
    return np.zeros(np.shape(x))[()] if whole else zero_tangent(x)


def shadow(x: Any, memo: Memo | None = None) -> Any:
    """A zero shadow of a value: its zero tangent in mutable form."""
    return _Zeros(mutable=True, memo=memo).of(x)


def shadow_of_values(x: Any) -> Any:
    """The same for a container whose arrays nobody writes: each slot has its own, even if one array is in several."""
    return _Zeros(mutable=True, memo=None, share=False).of(x)


def shadow_like(x: Any) -> Any:
    """A zero shadow for memory that generated code has just made."""
    if is_array(x):
        return _zeros(x) if is_float_array(x) else None
    return _Zeros(mutable=True, memo=None).of(x)


def shadow_or_zeros(shadow: Any, x: Any) -> Any:
    """The shadow of an array or number, or zeros that nobody else sees where it has none: it is of integers.

    A shadow that is missing itself (``x`` is None) has no shadow.
    """
    return zeros_like(x) if shadow is None and x is not None else shadow


_WHOLE = (int, np.integer, np.bool_)
"""What a slot of floats may hold besides: 0 on one path, ``x**2`` on another."""


class _Zeros:
    """One walk over a structure."""

    def __init__(self, *, mutable: bool, memo: Memo | None, share: bool = True) -> None:
        self.mutable = mutable
        self.share = share
        self.memo: Memo = {} if memo is None else memo
        self.keep: list[Any] = self.memo.setdefault(id(_KEEP), [])  # an id is good only as long as its object lives

    def of(self, x: Any) -> Any:
        if is_number(x):
            return zero_number(x)
        if is_array(x):
            zeros = _zeros(x) if is_float_array(x) else None
            return self.remember(x, zeros) if self.share and zeros is not None else zeros
        if not is_container(x):
            return None
        if id(x) in self.memo:
            return self.memo[id(x)]
        if isinstance(x, tuple):
            items = [self.of(item) for item in x]
            if self.mutable:
                return self.remember(x, items)
            return self.remember(x, type(x)(*items) if is_namedtuple(x) else tuple(items))
        if isinstance(x, list):
            result: Any = self.remember(x, [])
            counted = not self.mutable and _counts_integers(x)
            result.extend(self.of_slot(item, counted) for item in x)
            return result
        if isinstance(x, dict):
            result = self.remember(x, {})
            for key, item in x.items():
                result[key] = self.of_slot(item, False)
            return result
        return self.of_object(x)

    def of_slot(self, x: Any, counted: bool) -> Any:
        """That of what lies in a list, dict or object; ``counted`` whole numbers stand for floats."""
        is_float = isinstance(x, _WHOLE) if self.mutable else counted and _is_integer(x)
        return 0.0 if is_float else self.of(x)

    def of_object(self, x: Any) -> Any:
        result = self.remember(x, new_object((shadow_class if self.mutable else tangent_class)(type(x))))
        counted = float_fields(type(x))
        empty = True
        for name in stored_fields(x) if self.mutable else field_names(x):
            value = getattr(x, name)
            zero = self.of_slot(value, name in counted)
            if self.mutable or zero is not None:
                set_field(result, name, zero)
                empty = False
        if not self.mutable and empty:
            self.memo[id(x)] = None
            return None
        return result

    def remember(self, x: Any, result: Any) -> Any:
        if id(x) in self.memo:
            return self.memo[id(x)]
        self.memo[id(x)] = result
        self.keep.append(x)
        return result


def _is_integer(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _counts_integers(items: list[Any]) -> bool:
    """Whether the integers of a list stand for floats: beside floats they do."""
    return any(map(is_number, items))


_KEEP = object()


# Between tangents and shadows


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
    return _leaf_like(tangent, like) if is_leaf_value(like) and tangent is not None else result


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
        return shadow(like) if cotangent is None else _leaf_like(cotangent, like)
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
        _refuse_immutable(into)
        into += cotangent
        return
    for name, item in _slots(like):
        part, below = _part(cotangent, name, like), _part(into, name, like)
        if part is not None and is_immutable(below):
            _put(into, name, like, below + part)
        elif is_array(below) or is_container(below):
            _add_seed(part, item, below, seen)
        elif part is not None and below is not None:
            _put(into, name, like, below + _leaf_like(part, item))


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
    for name, item in _slots(like):
        part = _part(tangent, name, like)
        if part is None:
            continue
        below = _part(into, name, like)
        if is_immutable(below):
            _put(into, name, like, part)
        elif is_array(below) or is_container(below):
            _pour(part, item, below, seen)
        elif below is not None:
            _put(into, name, like, _leaf_like(part, item))


def _slots(x: Any) -> list[tuple[Any, Any]]:
    if isinstance(x, (tuple, list)):
        return list(enumerate(x))
    if isinstance(x, dict):
        return list(x.items())
    return [(name, getattr(x, name)) for name in field_names(x)]


def _part(structure: Any, name: Any, like: Any) -> Any:
    if isinstance(like, (tuple, list)):
        return structure[name]
    if isinstance(like, dict):
        return structure.get(name)
    return getattr(structure, name, None)


def _put(structure: Any, name: Any, like: Any, value: Any) -> None:
    if isinstance(like, (tuple, list, dict)):
        structure[name] = value
    else:
        setattr(structure, name, value)


def _leaf_like(part: Any, like: Any) -> Any:
    """A tangent of a number or array with the type of ``like``, in memory of its own."""
    if is_foreign(like):
        return _foreign().tangent_like(part, like)
    if isinstance(like, np.ndarray):
        if np.iscomplexobj(part) and like.dtype.kind == "f":
            part = np.real(part)
        result = empty_as(like)
        result[...] = part
        return result
    if is_array(part):
        part = part.item() if part.ndim == 0 else part.reshape(()).item()
    if isinstance(like, np.generic):
        return like.dtype.type(part.real if like.dtype.kind == "f" else part)
    return complex(part) if isinstance(like, complex) else float(part.real)


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
    return _Finish({} if memo is None else memo).of(shadow, like)


class _Finish:
    """One walk over a shadow. Only mutable structure is remembered: numbers have no identity."""

    def __init__(self, memo: Memo) -> None:
        self.memo = memo
        self.keep: list[Any] = memo.setdefault(id(_KEEP), [])

    def of(self, shadow: Any, like: Any) -> Any:
        if shadow is None:
            return zero_tangent(like)
        if is_number(like):
            return _leaf_like(shadow, like)
        if is_array(like):
            return self.array(shadow, like) if is_float_array(like) else None
        if is_number(shadow):  # an integer that counts as a float
            return shadow if _is_integer(like) else None
        if not is_container(like) or is_array(shadow):
            return None
        if id(shadow) in self.memo:
            return self.memo[id(shadow)]
        if isinstance(like, tuple):
            items = [self.of(part, item) for part, item in zip(shadow, like, strict=True)]
            return self.remember(shadow, type(like)(*items) if is_namedtuple(like) else tuple(items))
        if isinstance(like, list):
            result: Any = self.remember(shadow, [])
            counted = _counts_integers(like)
            result.extend(
                self.of(part, item) if counted or not _is_integer(item) else None
                for part, item in zip(shadow, like, strict=True)
            )
            return result
        if isinstance(like, dict):
            result = self.remember(shadow, {})
            for key, item in like.items():
                result[key] = None if _is_integer(item) else self.of(shadow.get(key), item)
            return result
        return self.of_object(shadow, like)

    def of_object(self, shadow: Any, like: Any) -> Any:
        result = self.remember(shadow, new_object(tangent_class(type(like))))
        counted = float_fields(type(like))
        empty = True
        for name in field_names(like):
            item, part = getattr(like, name), getattr(shadow, name, None)
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
            return _leaf_like(shadow, like)
        if id(shadow) in self.memo:
            return self.memo[id(shadow)]
        return self.remember(shadow, _leaf_like(shadow, like))

    def remember(self, shadow: Any, result: Any) -> Any:
        if id(shadow) in self.memo:
            return self.memo[id(shadow)]
        self.memo[id(shadow)] = result
        self.keep.append(shadow)
        return result


# Arithmetic


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
        _refuse_immutable(into)
        into += shadow
        return
    for name, part in _shadow_slots(shadow):
        held = _part(into, name, into)
        if is_container(held) or is_writeable(held):
            _add_into(held, part, seen)
        elif part is not None:
            _put(into, name, into, _own(part) if held is None else held + part)


def _own(part: Any) -> Any:
    if is_foreign(part):
        return _foreign().copy_of(part)
    return np.copy(part) if isinstance(part, np.ndarray) else part


def _refuse_immutable(x: Any) -> None:
    """What would be added to an array that cannot be written would be lost."""
    if is_immutable(x):
        raise TypeError("an array that cannot be written stands for memory")


def _zeros(x: Any) -> Any:
    """Zeros for an array, laid out as it is."""
    return _foreign().zeros_like(x) if is_foreign(x) else zeros_as(x)


def _foreign() -> Any:
    """What makes arrays of other libraries; loaded by who has some."""
    from adjoint.runtime.array_libraries import values  # lazy

    return values


def _shadow_slots(shadow: Any) -> list[tuple[Any, Any]]:
    return list(vars(shadow).items()) if isinstance(shadow, TangentVector) else _slots(shadow)


# Slots of shadows, for generated code


def take_slot(shadow: Any, key: Any) -> Any:
    """What a slot of a list, dict or array holds; the slot is cleared."""
    value = shadow[key]
    if is_array(shadow):
        taken = _own(value)
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
        return _own(value)
    return held if value is None else held + value


def _cleared(value: Any) -> Any:
    if is_array(value):
        return _zeros(value)
    return zero_number(value) if is_number(value) else None


# Memory of shadow arrays, for generated code


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
        raise ValueError("a tangent is laid out differently from the array that it belongs to")
    return shadow
