"""Copies of memory, and memory that takes what is in a copy, as statements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjoint.ir.builder import Builder
from adjoint.ir.effects import made_here, storages
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Attribute,
    Call,
    Const,
    Continue,
    Definition,
    Function,
    Items,
    Key,
    Load,
    Loop,
    Range,
    Store,
    Subscript,
    Var,
)
from adjoint.ir.types import (
    INT,
    OPAQUE,
    Array,
    Dict,
    Instance,
    List,
    Number,
    Opaque,
    Scalar,
    Storage,
    Tuple,
    Type,
    is_handle,
)
from adjoint.ir.walk import statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.objects import make_object
from adjoint.types.dataclass_fields import is_dataclass

WHOLE = Subscript((Const(Ellipsis),))


def can_be_copied(type_: Type | None) -> bool:
    """Whether memory of this type can be copied with all that lies in it, and take what is in a copy."""
    match type_:
        case Array():
            return True
        case List(element=part) | Dict(value=part):
            return part is not None and _is_part(part)
        case Tuple(items=items):
            return all(map(_is_part, items))
        case Instance(fields=fields):
            return all(map(_is_part, fields.values()))
        case _:
            return False


def _is_part(type_: Type) -> bool:
    return isinstance(type_, (Scalar, Array, Number, Opaque)) or can_be_copied(type_)


def holds_references(type_: Type | None) -> bool:
    """Whether references lie in memory of this type."""
    match type_:
        case List(element=part) | Dict(value=part):
            return part is not None and is_handle(part)
        case Tuple(items=items):
            return any(map(is_handle, items))
        case Instance(fields=fields):
            return any(map(is_handle, fields.values()))
        case _:
            return False


def can_be_written(type_: Type | None) -> bool:
    """Whether memory of this type takes what is in a copy: there is no object in it whose fields nobody may write."""
    match type_:
        case List(element=part) | Dict(value=part):
            return can_be_written(part)
        case Tuple(items=items):
            return all(map(can_be_written, items))
        case Instance(cls=cls, fields=fields):
            frozen = is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
            return not frozen and all(map(can_be_written, fields.values()))
        case _:
            return True


def moves_references(function: Function, memory: set[Storage]) -> bool:
    """Whether a function changes which references lie where in ``memory``, or takes keys out of dicts."""
    return _moves_references(function, memory, set())


def _moves_references(function: Function, memory: set[Storage], seen: set[tuple[Function, int]]) -> bool:
    statements, own = statements_in(function.body), made_here(function)
    taken = {
        statement.target: (statement.base, statement.key) for statement in statements if isinstance(statement, Load)
    }
    for statement in statements:
        match statement:
            case Store(base=base) if base in own:
                pass
            case Call(callee=list.append | list.pop | dict.pop | dict.popitem | dict.clear, args=(base, *_)) if (
                base in own
            ):
                pass
            case Call(callee=Definition(function=Function() as inner), args=args):
                for place, (arg, param) in enumerate(zip(args, inner.params, strict=True)):
                    if (inner, place) not in seen and not memory.isdisjoint(storages(type_of_atom(arg))):
                        seen.add((inner, place))
                        if _moves_references(inner, storages(param.type), seen):
                            return True
            case Store(base=Var(type=List() | Dict() | Instance() as type_), key=key, value=Var() as value):
                put_back = taken.get(value) == (statement.base, key)  # as ``items[0] *= x`` does
                if is_handle(value.type) and not put_back and not memory.isdisjoint(storages(type_)):
                    return True
            case Call(callee=callee, args=(Var(type=List() | Dict() as type_), *_)):
                changes = callee in (list.append, list.pop) and holds_references(type_)
                changes |= isinstance(type_, Dict) and callee in (dict.pop, dict.popitem, dict.clear)
                if changes and not memory.isdisjoint(storages(type_)):
                    return True
    return False


def copied(builder: Builder, memory: Var, type_: Type) -> Var:
    """A copy of memory with all that lies in it, as memory of the type ``type_``."""
    copy = Var(memory.hint, type_, memory.named)

    def part(inner: Builder, key: Key) -> Var:
        item = inner.load(memory, key, _part_type(memory.type, key))
        into = _part_type(type_, key)
        return copied(inner, item, into) if is_handle(item.type) or is_handle(into) else item

    match memory.type:
        case Array():
            builder.emit(Call((copy,), np.copy, (memory,)))
        case List():
            builder.emit(Call((copy,), display.make_list, ()))
            _for_each(builder, memory, lambda inner, key: inner.effect(list.append, copy, part(inner, key)))
        case Dict():
            builder.emit(Call((copy,), display.make_dict, ()))
            _for_each(builder, memory, lambda inner, key: inner.store(copy, key, part(inner, key)))
        case Tuple(items=items):
            parts = [part(builder, Subscript((Const(place),))) for place in range(len(items))]
            builder.emit(Call((copy,), display.make_tuple, tuple(parts)))
        case Instance(cls=cls, fields=fields):
            parts = [part(builder, Attribute(name)) for name in fields]
            builder.emit(Call((copy,), make_object, (Const(cls), Const(tuple(fields)), *parts)))
        case _:
            raise TypeError(f"memory of the type {memory.type} cannot be copied")
    return copy


def write_back(builder: Builder, memory: Var, value: Var) -> None:
    """Lets memory hold what is in a copy of it; references stay where they are."""

    def put(inner: Builder, key: Key) -> None:
        new = inner.load(value, key, _part_type(value.type, key))
        part = _part_type(memory.type, key)
        if is_handle(part):
            write_back(inner, inner.load(memory, key, part), new)
        else:
            inner.store(memory, key, new)

    match memory.type:
        case Array():
            builder.store(memory, WHOLE, value)
        case List() if not holds_references(memory.type):
            _refill(builder, memory, value)
        case List() | Dict():
            _for_each(builder, value, put)
        case Tuple(items=items):
            for place, item in enumerate(items):
                if is_handle(item):
                    put(builder, Subscript((Const(place),)))
        case Instance(fields=fields):
            for name in fields:
                put(builder, Attribute(name))


def _refill(builder: Builder, items: Var, others: Var) -> None:
    """Empties a list and fills it again: its length may be another one."""

    def drop(inner: Builder, key: Key) -> None:
        inner.emit(Call((Var("t", _part_type(items.type, key)),), list.pop, (items,)))

    def append(inner: Builder, key: Key) -> None:
        inner.effect(list.append, items, inner.load(others, key, _part_type(others.type, key)))

    _for_each(builder, items, drop)
    _for_each(builder, others, append)


def _part_type(type_: Type, key: Key) -> Type:
    part: Type | None = None
    match type_, key:
        case ((List(element=part) | Dict(value=part)), _):
            pass
        case Tuple(items=items), Subscript(items=(Const(value=place),)):
            part = items[place]
        case Instance(fields=fields), Attribute(name=name):
            part = fields[name]
    assert part is not None
    return part


def _for_each(builder: Builder, memory: Var, body: Callable[[Builder, Key], None]) -> None:
    """Runs ``body`` for each place in a list, or each key of a dict."""
    inner = Builder(type_of_call)
    over: Range | Items
    if isinstance(memory.type, Dict):
        index, over = Var("key", OPAQUE), Items(memory)
    else:
        index = Var("i", INT)
        over = Range(Const(0), builder.call(len, memory), Const(1))
    body(inner, Subscript((index,)))
    builder.emit(Loop(over, index, (), (), inner.block(Continue()), ()))


__all__ = ["can_be_copied", "can_be_written", "copied", "holds_references", "moves_references", "write_back"]
