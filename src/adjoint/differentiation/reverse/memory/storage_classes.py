"""One storage class for memory that several names may refer to.

Whoever made the function has united most of them. This makes sure of those that follow from its form: what a branch
or a loop hands on, what is put into a container and taken out of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from adjoint import ir
from adjoint.ir.walk import blocks_of, leaves, statements_in


def united(function: ir.Function) -> ir.Function:
    """The function, after the storage classes of values that may be one object were united."""
    unite_flows(function)
    return function


def unite_flows(function: ir.Function) -> None:
    """Unites the storage classes of values that may be one object."""
    for statement in statements_in(function.body):
        match statement:
            case ir.If(targets=targets) | ir.Guarded(targets=targets):
                for block in blocks_of(statement):
                    for leaf in leaves(block):
                        if isinstance(leaf, ir.Yield):
                            _unite_all(leaf.values, targets)
            case ir.Loop(params=params, inits=inits, body=body, targets=targets):
                _unite_all(inits, params)
                _unite_all(params, targets)
                for leaf in leaves(body):
                    if isinstance(leaf, ir.Continue):
                        _unite_all(leaf.values, params)
                    elif isinstance(leaf, ir.Exit):
                        _unite_all(leaf.values, targets)
            case ir.Load(target=target, base=ir.Var(type=ir.List(element=part) | ir.Dict(value=part))):
                _unite(target.type, part)
            case ir.Store(
                base=ir.Var(type=ir.List(element=part) | ir.Dict(value=part)),
                key=ir.Subscript(),
                value=ir.Var(type=type_),
            ):
                _unite(type_, part)
            case ir.Call(
                callee=list.append | list.insert, args=(ir.Var(type=ir.List(element=part)), *_, ir.Var(type=type_))
            ):
                _unite(type_, part)
            case _:
                pass


def _unite_all(values: Iterable[ir.Atom], sinks: Iterable[ir.Var]) -> None:
    for value, sink in zip(values, sinks, strict=False):
        if isinstance(value, ir.Var):
            _unite(value.type, sink.type)


def _unite(one: ir.Type | None, other: ir.Type | None) -> None:
    match one, other:
        case ir.Array(storage=mine), ir.Array(storage=theirs):
            mine.unite(theirs)
        case ir.List(element=part, storage=mine), ir.List(element=other_part, storage=theirs):
            mine.unite(theirs)
            _unite(part, other_part)
        case ir.Dict(value=part, storage=mine), ir.Dict(value=other_part, storage=theirs):
            mine.unite(theirs)
            _unite(part, other_part)
        case ir.Instance(fields=fields, storage=mine), ir.Instance(fields=other_fields, storage=theirs):
            if mine.find() is not theirs.find():
                mine.unite(theirs)
                for name in fields.keys() & other_fields.keys():
                    _unite(fields[name], other_fields[name])
        case (ir.Tuple(items=items), ir.Tuple(items=other_items)) | (
            ir.PerPlace(items=items),
            ir.PerPlace(items=other_items),
        ):
            for part, other_part in zip(items, other_items, strict=False):
                _unite(part, other_part)
        case _, ir.PerPlace(items=items):
            for part in items:
                _unite(one, part)
        case _:
            pass
