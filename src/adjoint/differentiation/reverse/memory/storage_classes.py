"""One storage class for memory that several names may refer to.

Whoever made the function has united most of them. This makes sure of those that follow from its form: what a branch
or a loop hands on, what is put into a container and taken out of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from adjoint.ir.nodes import Atom, Call, Continue, Exit, Function, Guarded, If, Load, Loop, Store, Subscript, Var, Yield
from adjoint.ir.types import Array, Dict, Instance, List, PerPlace, Tuple, Type
from adjoint.ir.walk import blocks_of, leaves, statements_in


def united(function: Function) -> Function:
    """The function, after the storage classes of values that may be one object were united."""
    unite_flows(function)
    return function


def unite_flows(function: Function) -> None:
    """Unites the storage classes of values that may be one object."""
    for statement in statements_in(function.body):
        match statement:
            case If(targets=targets) | Guarded(targets=targets):
                for block in blocks_of(statement):
                    for leaf in leaves(block):
                        if isinstance(leaf, Yield):
                            _unite_all(leaf.values, targets)
            case Loop(params=params, inits=inits, body=body, targets=targets):
                _unite_all(inits, params)
                _unite_all(params, targets)
                for leaf in leaves(body):
                    if isinstance(leaf, Continue):
                        _unite_all(leaf.values, params)
                    elif isinstance(leaf, Exit):
                        _unite_all(leaf.values, targets)
            case Load(target=target, base=Var(type=List(element=part) | Dict(value=part))):
                _unite(target.type, part)
            case Store(base=Var(type=List(element=part) | Dict(value=part)), key=Subscript(), value=Var(type=type_)):
                _unite(type_, part)
            case Call(callee=list.append, args=(Var(type=List(element=part)), Var(type=type_))):
                _unite(type_, part)
            case _:
                pass


def _unite_all(values: Iterable[Atom], sinks: Iterable[Var]) -> None:
    for value, sink in zip(values, sinks, strict=False):
        if isinstance(value, Var):
            _unite(value.type, sink.type)


def _unite(one: Type | None, other: Type | None) -> None:
    match one, other:
        case Array(storage=mine), Array(storage=theirs):
            mine.unite(theirs)
        case List(element=part, storage=mine), List(element=other_part, storage=theirs):
            mine.unite(theirs)
            _unite(part, other_part)
        case Dict(value=part, storage=mine), Dict(value=other_part, storage=theirs):
            mine.unite(theirs)
            _unite(part, other_part)
        case Instance(fields=fields, storage=mine), Instance(fields=other_fields, storage=theirs):
            if mine.find() is not theirs.find():
                mine.unite(theirs)
                for name in fields.keys() & other_fields.keys():
                    _unite(fields[name], other_fields[name])
        case (Tuple(items=items), Tuple(items=other_items)) | (PerPlace(items=items), PerPlace(items=other_items)):
            for part, other_part in zip(items, other_items, strict=False):
                _unite(part, other_part)
        case _, PerPlace(items=items):
            for part in items:
                _unite(one, part)
        case _:
            pass
