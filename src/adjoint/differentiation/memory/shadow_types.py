"""Types of tangents and shadows, and zeros for what does not vary."""

from __future__ import annotations

import numpy as np

from adjoint import ir
from adjoint.differentiation.memory.slots import Memory, has_slots
from adjoint.ir.builder import Builder
from adjoint.ir.join import join_types, type_of_atom
from adjoint.runtime import display
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.tangents import shadow_like
from adjoint.types import shadow_class


class ShadowTypes:
    """The types of shadows: each storage class has one class of shadows beside it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.storages: dict[ir.Storage, ir.Storage] = {}
        self.of_tuples = ir.Storage(written=True)
        """Tuples have no storage class that would tell which shadows may be one list: all may be."""

    def of(self, type_: ir.Type | None) -> ir.Type:
        """The type of the tangent, or the shadow, of a value."""
        match type_:
            case ir.Scalar(kind=kind):
                return type_ if kind in ("float", "complex") else ir.FLOAT
            case ir.Array(dtype=dtype, dims=dims, storage=storage):
                dtype = dtype if dtype is None or ir.is_float_dtype(dtype) else np.dtype(np.float64)
                return ir.Array(dtype, dims, self.storage(storage) if storage.written else ir.Storage())
            case ir.List(element=part, storage=storage):
                return ir.List(None if part is None else self.of(part), self.storage(storage))
            case ir.Dict(value=part, storage=storage):
                return ir.Dict(None if part is None else self.of(part), self.storage(storage))
            case ir.Tuple(items=items):
                return ir.List(self._common(items), self.of_tuples)
            case ir.PerPlace(items=items):
                return ir.PerPlace(tuple(map(self.of, items)))
            case ir.Instance(cls=cls, fields=fields, storage=storage):
                shadows = {name: self.of(part) for name, part in fields.items()}
                return ir.Instance(shadow_class(cls), shadows, self.storage(storage))
            case ir.Number():
                return type_
            case _:
                return ir.Opaque()

    def _common(self, items: tuple[ir.Type, ...]) -> ir.Type | None:
        parts = [self.of(item) for item in items]
        joined = parts[0] if parts else None
        for part in parts[1:]:
            are_numbers = isinstance(joined, (ir.Scalar, ir.Number)) and isinstance(part, (ir.Scalar, ir.Number))
            if joined is None or not (are_numbers or type(joined) is type(part)):
                return ir.PerPlace(tuple(parts))
            joined = join_types(joined, part)
        return joined

    def storage(self, storage: ir.Storage) -> ir.Storage:
        root = self.memory.find(storage)
        if root not in self.storages:
            self.storages[root] = ir.Storage()
        if storage.written:
            self.storages[root].mark_written()
        return self.storages[root]


def zero_for(builder: Builder, value: ir.Atom, slot: ir.Type | None, types: ShadowTypes) -> ir.Atom:
    """A zero tangent for a value that does not vary, in a place for values of the type ``slot``."""
    if isinstance(value, ir.Undefined):
        return ir.UNDEFINED
    type_ = type_of_atom(value)
    if not ir.may_vary(slot) or (isinstance(value, ir.Const) and value.value is None):
        return ir.Const(None)
    match type_:
        case ir.Scalar(dtype=None, kind=kind):
            return ir.Const(0j if kind == "complex" else 0.0)
        case ir.Array(dtype=dtype) if has_slots(type_) and ir.is_float_dtype(dtype):
            return typed(builder, np.zeros_like, (value,), types.of(type_), "zero")
        case ir.Scalar() | ir.Array() | ir.Number():
            return typed(builder, zeros_like, (value,), types.of(type_), "zero")
        case ir.Tuple(items=items) if not ir.may_vary(type_) and isinstance(slot, ir.Tuple):
            parts = _parts(builder, value, items)
            zeros = [zero_for(builder, part, inner, types) for part, inner in zip(parts, slot.items, strict=True)]
            return typed(builder, display.make_list, tuple(zeros), types.of(slot), "zero")
        case _:
            return (
                typed(builder, shadow_like, (value,), types.of(type_), "zero") if ir.may_vary(type_) else ir.Const(None)
            )


def _parts(builder: Builder, value: ir.Atom, items: tuple[ir.Type, ...]) -> list[ir.Atom]:
    """The items of a tuple, of which some lie where those of others vary."""
    if isinstance(value, ir.Const):
        return list(map(ir.Const, value.value))
    return [builder.item(value, ir.Const(place), item) for place, item in enumerate(items)]


def typed(builder: Builder, callee: object, args: tuple[ir.Atom, ...], type_: ir.Type, hint: str) -> ir.Var:
    """Emits a call whose result has a known type."""
    target = ir.Var(hint, type_)
    builder.emit(ir.Call((target,), callee, args, (), builder.span))
    return target
