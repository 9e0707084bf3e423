"""Types of tangents and shadows, and zeros for what does not vary."""

from __future__ import annotations

import numpy as np

from adjoint.differentiation.memory.slots import Memory, has_slots
from adjoint.ir.builder import Builder
from adjoint.ir.join import join_types, type_of_atom
from adjoint.ir.nodes import UNDEFINED, Atom, Call, Const, Undefined, Var
from adjoint.ir.types import (
    FLOAT,
    Array,
    Dict,
    Instance,
    List,
    Number,
    Opaque,
    PerPlace,
    Scalar,
    Storage,
    Tuple,
    Type,
    is_float_dtype,
    may_vary,
)
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.tangents import shadow_like
from adjoint.types import shadow_class


class ShadowTypes:
    """The types of shadows: each storage class has one class of shadows beside it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.storages: dict[Storage, Storage] = {}
        self.of_tuples = Storage(written=True)
        """Tuples have no storage class that would tell which shadows may be one list: all may be."""

    def of(self, type_: Type | None) -> Type:
        """The type of the tangent, or the shadow, of a value."""
        match type_:
            case Scalar(kind=kind):
                return type_ if kind in ("float", "complex") else FLOAT
            case Array(dtype=dtype, dims=dims, storage=storage):
                dtype = dtype if dtype is None or is_float_dtype(dtype) else np.dtype(np.float64)
                return Array(dtype, dims, self.storage(storage) if storage.written else Storage())
            case List(element=part, storage=storage):
                return List(None if part is None else self.of(part), self.storage(storage))
            case Dict(value=part, storage=storage):
                return Dict(None if part is None else self.of(part), self.storage(storage))
            case Tuple(items=items):
                return List(self._common(items), self.of_tuples)
            case PerPlace(items=items):
                return PerPlace(tuple(map(self.of, items)))
            case Instance(cls=cls, fields=fields, storage=storage):
                shadows = {name: self.of(part) for name, part in fields.items()}
                return Instance(shadow_class(cls), shadows, self.storage(storage))
            case Number():
                return type_
            case _:
                return Opaque()

    def _common(self, items: tuple[Type, ...]) -> Type | None:
        parts = [self.of(item) for item in items]
        joined = parts[0] if parts else None
        for part in parts[1:]:
            are_numbers = isinstance(joined, (Scalar, Number)) and isinstance(part, (Scalar, Number))
            if joined is None or not (are_numbers or type(joined) is type(part)):
                return PerPlace(tuple(parts))
            joined = join_types(joined, part)
        return joined

    def storage(self, storage: Storage) -> Storage:
        root = self.memory.find(storage)
        if root not in self.storages:
            self.storages[root] = Storage()
        if storage.written:
            self.storages[root].mark_written()
        return self.storages[root]


def zero_for(builder: Builder, value: Atom, slot: Type | None, types: ShadowTypes) -> Atom:
    """A zero tangent for a value that does not vary, in a place for values of the type ``slot``."""
    if isinstance(value, Undefined):
        return UNDEFINED
    type_ = type_of_atom(value)
    if not may_vary(slot) or (isinstance(value, Const) and value.value is None):
        return Const(None)
    match type_:
        case Scalar(dtype=None, kind=kind):
            return Const(0j if kind == "complex" else 0.0)
        case Array() if has_slots(type_):
            return typed(builder, np.zeros_like, (value,), types.of(type_), "zero")
        case Scalar() | Array() | Number():
            return typed(builder, zeros_like, (value,), types.of(type_), "zero")
        case _:
            return typed(builder, shadow_like, (value,), types.of(type_), "zero") if may_vary(type_) else Const(None)


def typed(builder: Builder, callee: object, args: tuple[Atom, ...], type_: Type, hint: str) -> Var:
    """Emits a call whose result has a known type."""
    target = Var(hint, type_)
    builder.emit(Call((target,), callee, args, (), builder.span))
    return target
