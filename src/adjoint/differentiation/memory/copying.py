"""Copies of memory, and memory that takes what is in a copy, as statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import Written, made_here
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.objects import make_object
from adjoint.types.classes.dataclass_fields import is_dataclass


def is_written(type_: ir.Type | None, written: Written) -> bool:
    """Whether a value of this type leads to memory that is written."""
    return not ir.storages(type_).isdisjoint(storage for storage, _ in written)


def written_parts(type_: ir.Type, written: Written) -> list[tuple[ir.Key, ...]]:
    """The ways from memory to what is written in it: through fields of objects and items of tuples, no further."""
    own: list[tuple[ir.Key, ...]] = []
    steps: list[tuple[ir.Key, ir.Type]]
    match type_:
        case ir.Instance(fields=fields, storage=storage):
            named = (
                fields if (storage.find(), None) in written else {name for at, name in written if at is storage.find()}
            )
            own = [(ir.Attribute(name),) for name, part in fields.items() if name in named and not ir.is_handle(part)]
            steps = [(ir.Attribute(name), part) for name, part in fields.items()]
        case ir.Tuple(items=items):
            steps = [(ir.Subscript((ir.Const(place),)), part) for place, part in enumerate(items)]
        case _:
            return [()]
    inner = ((key, part) for key, part in steps if ir.is_handle(part) and is_written(part, written))
    return own + [(key, *way) for key, part in inner for way in written_parts(part, written)]


def can_be_copied(type_: ir.Type | None, written: Written | None = None) -> bool:
    """Whether memory of this type can be copied with all that lies in it, and take what is in a copy.

    With ``written``, objects and tuples are copied as far as something in them is written.
    """
    match type_:
        case ir.Array():
            return True
        case ir.List(element=part) | ir.Dict(value=part):
            return part is not None and _is_part(part)
        case ir.Tuple(items=items):
            return all(_is_part(item, written) for item in items)
        case ir.Instance(fields=fields):
            return all(_is_part(part, written) for part in fields.values())
        case _:
            return False


def _is_part(type_: ir.Type, written: Written | None = None) -> bool:
    if isinstance(type_, (ir.Scalar, ir.Array, ir.Number, ir.Opaque)):
        return True
    return (written is not None and not is_written(type_, written)) or can_be_copied(type_, written)


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
            case ir.Call(
                callee=list.append | list.insert | list.pop | dict.pop | dict.popitem | dict.clear, args=(base, *_)
            ) if base in own:
                pass
            case ir.Call(callee=ir.Definition(function=ir.Function() as inner), args=args):
                for place, (arg, param) in enumerate(zip(args, inner.params, strict=True)):
                    if (inner, place) not in seen and not memory.isdisjoint(ir.storages(type_of_atom(arg))):
                        seen.add((inner, place))
                        if _moves_references(inner, ir.storages(param.type), seen):
                            return True
            case ir.Store(
                base=ir.Var(type=ir.List() | ir.Dict() | ir.Instance() as type_), key=key, value=ir.Var() as value
            ):
                put_back = taken.get(value) == (statement.base, key)  # as ``items[0] *= x`` does
                if ir.is_handle(value.type) and not put_back and not memory.isdisjoint(ir.storages(type_)):
                    return True
            case ir.Call(callee=callee, args=(ir.Var(type=ir.List() | ir.Dict() as type_), *_)):
                changes = callee in (list.append, list.insert, list.pop) and holds_references(type_)
                changes |= isinstance(type_, ir.Dict) and callee in (dict.pop, dict.popitem, dict.clear)
                if changes and not memory.isdisjoint(ir.storages(type_)):
                    return True
    return False


def of_its_own(type_: ir.Type, written: Written) -> ir.Type:
    """The type of memory of which :func:`copied` makes memory of this type: other memory, but where it is shared."""
    if not is_written(type_, written):
        return type_
    match type_:
        case ir.Tuple(items=items):
            return ir.Tuple(tuple(of_its_own(item, written) for item in items), type_.cls)
        case ir.Instance(cls=cls, fields=fields, storage=storage):
            parts = {name: of_its_own(part, written) for name, part in fields.items()}
            return ir.Instance(cls, parts, ir.Storage(written=storage.written))
        case _:
            return ir.fresh(type_)


def copied(builder: Builder, memory: ir.Var, type_: ir.Type, written: Written | None = None) -> ir.Var:
    """A copy of memory with all that lies in it, as memory of the type ``type_``.

    With ``written``, slots of the type ``type_``, what lies in objects and tuples and leads to none of them is shared.
    """
    copy = ir.Var(memory.hint, type_, memory.named)

    def part(inner: Builder, key: ir.Key) -> ir.Var:
        item = inner.load(memory, key, _part_type(memory.type, key))
        into = _part_type(type_, key)
        return _copied_part(inner, item, into, written if isinstance(type_, (ir.Instance, ir.Tuple)) else None)

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
        case ir.Instance(fields=fields):
            _make_object(builder, copy, [part(builder, ir.Attribute(name)) for name in fields])
        case _:
            raise TypeError(f"memory of the type {memory.type} cannot be copied")
    return copy


def assembled(builder: Builder, memory: ir.Var, parts: Sequence[ir.Var], written: Written) -> ir.Var:
    """The object ``memory``, made of the values of its fields; those that lead to what is written are copied."""
    assert isinstance(memory.type, ir.Instance)
    types = memory.type.fields.values()
    own = [_copied_part(builder, part, into, written) for part, into in zip(parts, types, strict=True)]
    _make_object(builder, memory, own)
    return memory


def _copied_part(builder: Builder, item: ir.Var, into: ir.Type, written: Written | None) -> ir.Var:
    if written is not None and not is_written(into, written):
        return item
    return copied(builder, item, into, written) if ir.is_handle(item.type) or ir.is_handle(into) else item


def _make_object(builder: Builder, target: ir.Var, parts: Sequence[ir.Var]) -> None:
    assert isinstance(target.type, ir.Instance)
    names = ir.Const(tuple(target.type.fields))
    builder.emit(ir.Call((target,), make_object, (ir.Const(target.type.cls), names, *parts)))


def part_type(type_: ir.Type, way: tuple[ir.Key, ...]) -> ir.Type:
    """The type of what a way leads to."""
    for key in way:
        type_ = _part_type(type_, key)
    return type_


def at(builder: Builder, memory: ir.Var, way: tuple[ir.Key, ...]) -> ir.Var:
    """What a way from memory leads to."""
    for key in way:
        memory = builder.load(memory, key, _part_type(memory.type, key))
    return memory


def write_back_at(builder: Builder, memory: ir.Var, way: tuple[ir.Key, ...], value: ir.Var) -> None:
    """Lets memory that a way leads to hold what is in a copy of it."""
    if not way or ir.is_handle(part_type(memory.type, way)):
        write_back(builder, at(builder, memory, way), value)
    else:
        builder.store(at(builder, memory, way[:-1]), way[-1], value)


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
            builder.store(memory, ir.WHOLE, value)
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
