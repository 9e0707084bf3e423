"""The type of what is one of several values, as rules tell it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from adjoint.ir.types import (
    FLOAT,
    OPAQUE,
    Array,
    Dict,
    Dim,
    Instance,
    List,
    Number,
    Opaque,
    Scalar,
    Storage,
    Tuple,
    Type,
)

_ORDER: dict[str, int] = {"bool": 0, "int": 1, "float": 2, "complex": 3}


def join_all(types: Sequence[Type]) -> Type | None:
    """The least type of several, OPAQUE where there is none; None for no types."""
    if not types:
        return None

    def pair(one: Type, other: Type) -> Type:
        joined = join(one, other)
        return OPAQUE if joined is None else joined

    return reduce(pair, types)


def join(a: Type, b: Type) -> Type | None:
    """The least type of both, None where there is none; memory that either may be becomes one storage class."""
    match a, b:
        case Scalar(), Scalar():
            return _join_scalars(a, b)
        case Array(), Array():
            return _join_arrays(a, b)
        case ((Scalar() | Array() | Number()), (Scalar() | Array() | Number())):
            return Number()
        case List(), List():
            a.storage.unite(b.storage)
            return _container(List, a.element, b.element, a.storage)
        case Dict(), Dict():
            a.storage.unite(b.storage)
            return _container(Dict, a.value, b.value, a.storage)
        case Tuple(), Tuple() if len(a.items) == len(b.items):
            items = [join(mine, theirs) for mine, theirs in zip(a.items, b.items, strict=True)]
            cls = a.cls if a.cls is b.cls else tuple
            return None if None in items else Tuple(tuple(items), cls)  # type: ignore[arg-type]
        case Instance(), Instance() if a.cls is b.cls and a.fields.keys() == b.fields.keys():
            fields = {name: join(type_, b.fields[name]) for name, type_ in a.fields.items()}
            a.storage.unite(b.storage)
            return None if None in fields.values() else Instance(a.cls, fields, a.storage)  # type: ignore[arg-type]
        case Opaque(), Opaque():
            return a if a == b else OPAQUE
        case _:
            return None


def _container(cls: Any, mine: Type | None, theirs: Type | None, storage: Storage) -> Type | None:
    if mine is None or theirs is None:
        return cls(mine or theirs, storage)  # type: ignore[no-any-return]
    part = join(mine, theirs)
    return None if part is None else cls(part, storage)


def _join_scalars(a: Scalar, b: Scalar) -> Type:
    if a == b:
        return a
    if a.kind != b.kind:
        wider = max(a, b, key=lambda scalar: _ORDER[scalar.kind])
        return wider
    dtypes = {FLOAT.dtype if dtype == np.dtype(float) else dtype for dtype in (a.dtype, b.dtype)}
    if a.kind in ("float", "complex") and dtypes != {None}:
        return Number()
    return Scalar(a.kind)


def _join_arrays(a: Array, b: Array) -> Array:
    a.storage.unite(b.storage)
    dims: tuple[Dim, ...] | None = None
    if a.dims is not None and b.dims is not None and len(a.dims) == len(b.dims):
        dims = tuple([mine if mine == theirs else "any" for mine, theirs in zip(a.dims, b.dims, strict=True)])
    return Array(a.dtype if a.dtype == b.dtype else None, dims, a.storage)
