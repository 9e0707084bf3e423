"""The least type of two values of which one flows through a join of control flow."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.ir.types import (
    BOOL,
    FLOAT,
    INT,
    OPAQUE,
    Array,
    Dict,
    Dim,
    Instance,
    List,
    Number,
    Opaque,
    Scalar,
    Tuple,
    Type,
    same_dtype,
)


def join_types(one: Type, other: Type) -> Type | None:
    """The least type of both, None where there is none. Memory that either may be becomes one storage class."""
    match one, other:
        case Scalar(), Scalar():
            return _join_scalars(one, other)
        case Array(), Array():
            one.storage.unite(other.storage)
            dims: tuple[Dim, ...] | None = None
            if one.dims is not None and other.dims is not None and len(one.dims) == len(other.dims):
                dims = tuple("any" if a != b else a for a, b in zip(one.dims, other.dims, strict=True))
            return Array(one.dtype if same_dtype(one.dtype, other.dtype) else None, dims, one.storage)
        case ((Scalar() | Array() | Number()), (Scalar() | Array() | Number())):
            return Number()
        case List(), List() if one.is_tuple == other.is_tuple:
            element = _join_optional(one.element, other.element)
            one.storage.unite(other.storage)
            return None if element is Ellipsis else List(element, one.storage, one.is_tuple)
        case Dict(), Dict():
            value = _join_optional(one.value, other.value)
            one.storage.unite(other.storage)
            return None if value is Ellipsis else Dict(value, one.storage)
        case Tuple(), Tuple() if len(one.items) == len(other.items):
            items = tuple(map(join_types, one.items, other.items))
            cls = one.cls if one.cls is other.cls else tuple
            return None if None in items else Tuple(items, cls)  # type: ignore[arg-type]
        case Instance(), Instance() if one.cls is other.cls and one.fields.keys() == other.fields.keys():
            fields = {name: join_types(type_, other.fields[name]) for name, type_ in one.fields.items()}
            one.storage.unite(other.storage)
            return None if None in fields.values() else Instance(one.cls, fields, one.storage)  # type: ignore[arg-type]
        case Opaque(), Opaque():
            return one if one == other else OPAQUE
        case _:
            return None


def _join_optional(one: Type | None, other: Type | None) -> Any:
    if one is None or other is None:
        return one if other is None else other
    joined = join_types(one, other)
    return Ellipsis if joined is None else joined


_ORDER = {"bool": 0, "int": 1, "float": 2, "complex": 3}
_PYTHON = {"bool": BOOL, "int": INT, "float": FLOAT, "complex": Scalar("complex")}


def _join_scalars(one: Scalar, other: Scalar) -> Scalar:
    kind = max(one.kind, other.kind, key=_ORDER.__getitem__)
    mine, theirs = (scalar.dtype if scalar.kind == kind else None for scalar in (one, other))
    if one.kind == other.kind:
        if mine is not None and theirs is not None:
            return Scalar(kind, np.promote_types(mine, theirs))
        return _PYTHON[kind]
    return Scalar(kind, mine if mine is not None else theirs)
