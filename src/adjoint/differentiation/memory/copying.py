"""Copies of memory, and memory that takes what is in a copy, as statements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import made_here, storages
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.objects import make_object
from adjoint.types.classes.dataclass_fields import is_dataclass

WHOLE = ir.Subscript((ir.Const(Ellipsis),))


def can_be_copied(type_: ir.Type | None) -> bool:
    """Whether memory of this type can be copied with all that lies in it, and take what is in a copy."""
    match type_:
        case ir.Array():
            return True
        case ir.List(element=part) | ir.Dict(value=part):
            return part is not None and _is_part(part)
        case ir.Tuple(items=items):
            return all(map(_is_part, items))
        case ir.Instance(fields=fields):
            return all(map(_is_part, fields.values()))
        case _:
            return False


def _is_part(type_: ir.Type) -> bool:
    return isinstance(type_, (ir.Scalar, ir.Array, ir.Number, ir.Opaque)) or can_be_copied(type_)


def holds_references(type_: ir.Type | None) -> bool:
    """Whether references lie in memory of this type."""
    match type_:
        case ir.List(element=part) | ir.Dict(value=part):
            return part is not None and ir.is_handle(part)
        case ir.Tuple(items=items):
            return any(map(ir.is_handle, items))
        case ir.Instance(fields=fields):
            return any(map(ir.is_handle, fields.values()))
        case _:
            return False


def can_be_written(type_: ir.Type | None) -> bool:
    """Whether memory of this type takes what is in a copy: there is no object in it whose fields nobody may write."""
    match type_:
        case ir.List(element=part) | ir.Dict(value=part):
            return can_be_written(part)
        case ir.Tuple(items=items):
            return all(map(can_be_written, items))
        case ir.Instance(cls=cls, fields=fields):
            frozen = is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
            return not frozen and all(map(can_be_written, fields.values()))
        case _:
            return True


def moves_references(function: ir.Function, memory: set[ir.Storage]) -> bool:
    """Whether a function changes which references lie where in ``memory``, or takes keys out of dicts."""
    return _moves_references(function, memory, set())


def _moves_references(function: ir.Function, memory: set[ir.Storage], seen: set[tuple[ir.Function, int]]) -> bool:
    statements, own = statements_in(function.body), made_here(function)
    taken = {
        statement.target: (statement.base, statement.key) for statement in statements if isinstance(statement, ir.Load)
    }
    for statement in statements:
        match statement:
            case ir.Store(base=base) if base in own:
                pass
            case ir.Call(callee=list.append | list.pop | dict.pop | dict.popitem | dict.clear, args=(base, *_)) if (
                base in own
            ):
                pass
            case ir.Call(callee=ir.Definition(function=ir.Function() as inner), args=args):
                for place, (arg, param) in enumerate(zip(args, inner.params, strict=True)):
                    if (inner, place) not in seen and not memory.isdisjoint(storages(type_of_atom(arg))):
                        seen.add((inner, place))
                        if _moves_references(inner, storages(param.type), seen):
                            return True
            case ir.Store(
                base=ir.Var(type=ir.List() | ir.Dict() | ir.Instance() as type_), key=key, value=ir.Var() as value
            ):
                put_back = taken.get(value) == (statement.base, key)  # as ``items[0] *= x`` does
                if ir.is_handle(value.type) and not put_back and not memory.isdisjoint(storages(type_)):
                    return True
            case ir.Call(callee=callee, args=(ir.Var(type=ir.List() | ir.Dict() as type_), *_)):
                changes = callee in (list.append, list.pop) and holds_references(type_)
                changes |= isinstance(type_, ir.Dict) and callee in (dict.pop, dict.popitem, dict.clear)
                if changes and not memory.isdisjoint(storages(type_)):
                    return True
    return False


def copied(builder: Builder, memory: ir.Var, type_: ir.Type) -> ir.Var:
    """A copy of memory with all that lies in it, as memory of the type ``type_``."""
    copy = ir.Var(memory.hint, type_, memory.named)

    def part(inner: Builder, key: ir.Key) -> ir.Var:
        item = inner.load(memory, key, _part_type(memory.type, key))
        into = _part_type(type_, key)
        return copied(inner, item, into) if ir.is_handle(item.type) or ir.is_handle(into) else item

    match memory.type:
        case ir.Array():
            builder.emit(ir.Call((copy,), np.copy, (memory,)))
        case ir.List():
            builder.emit(ir.Call((copy,), display.make_list, ()))
            _for_each(builder, memory, lambda inner, key: inner.effect(list.append, copy, part(inner, key)))
        case ir.Dict():
            builder.emit(ir.Call((copy,), display.make_dict, ()))
            _for_each(builder, memory, lambda inner, key: inner.store(copy, key, part(inner, key)))
        case ir.Tuple(items=items):
            parts = [part(builder, ir.Subscript((ir.Const(place),))) for place in range(len(items))]
            builder.emit(ir.Call((copy,), display.make_tuple, tuple(parts)))
        case ir.Instance(cls=cls, fields=fields):
            parts = [part(builder, ir.Attribute(name)) for name in fields]
            builder.emit(ir.Call((copy,), make_object, (ir.Const(cls), ir.Const(tuple(fields)), *parts)))
        case _:
            raise TypeError(f"memory of the type {memory.type} cannot be copied")
    return copy


def write_back(builder: Builder, memory: ir.Var, value: ir.Var) -> None:
    """Lets memory hold what is in a copy of it; references stay where they are."""

    def put(inner: Builder, key: ir.Key) -> None:
        new = inner.load(value, key, _part_type(value.type, key))
        part = _part_type(memory.type, key)
        if ir.is_handle(part):
            write_back(inner, inner.load(memory, key, part), new)
        else:
            inner.store(memory, key, new)

    match memory.type:
        case ir.Array():
            builder.store(memory, WHOLE, value)
        case ir.List() if not holds_references(memory.type):
            _refill(builder, memory, value)
        case ir.List() | ir.Dict():
            _for_each(builder, value, put)
        case ir.Tuple(items=items):
            for place, item in enumerate(items):
                if ir.is_handle(item):
                    put(builder, ir.Subscript((ir.Const(place),)))
        case ir.Instance(fields=fields):
            for name in fields:
                put(builder, ir.Attribute(name))


def _refill(builder: Builder, items: ir.Var, others: ir.Var) -> None:
    """Empties a list and fills it again: its length may be another one."""

    def drop(inner: Builder, key: ir.Key) -> None:
        inner.emit(ir.Call((ir.Var("t", _part_type(items.type, key)),), list.pop, (items,)))

    def append(inner: Builder, key: ir.Key) -> None:
        inner.effect(list.append, items, inner.load(others, key, _part_type(others.type, key)))

    _for_each(builder, items, drop)
    _for_each(builder, others, append)


def _part_type(type_: ir.Type, key: ir.Key) -> ir.Type:
    part: ir.Type | None = None
    match type_, key:
        case ((ir.List(element=part) | ir.Dict(value=part)), _):
            pass
        case ir.Tuple(items=items), ir.Subscript(items=(ir.Const(value=place),)):
            part = items[place]
        case ir.Instance(fields=fields), ir.Attribute(name=name):
            part = fields[name]
    assert part is not None
    return part


def _for_each(builder: Builder, memory: ir.Var, body: Callable[[Builder, ir.Key], None]) -> None:
    """Runs ``body`` for each place in a list, or each key of a dict."""
    inner = Builder(type_of_call)
    over: ir.Range | ir.Items
    if isinstance(memory.type, ir.Dict):
        index, over = ir.Var("key", ir.OPAQUE), ir.Items(memory)
    else:
        index = ir.Var("i", ir.INT)
        over = ir.Range(ir.Const(0), builder.call(len, memory), ir.Const(1))
    body(inner, ir.Subscript((index,)))
    builder.emit(ir.Loop(over, index, (), (), inner.block(ir.Continue()), ()))


__all__ = ["can_be_copied", "can_be_written", "copied", "holds_references", "moves_references", "write_back"]
