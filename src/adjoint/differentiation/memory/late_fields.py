"""Attributes that objects are made without: what they hold is asked for only where it must be there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from adjoint import ir
from adjoint.ir.walk import blocks_of, statements_in, with_inner
from adjoint.runtime.objects import make_object

LateFields = Mapping[type, frozenset[str]]
"""By class, the attributes without which a function makes objects of it, and that it gives them later."""


def late_fields(function: ir.Function) -> LateFields:
    """The attributes that objects made here lack at first, and are not given right away."""
    found: dict[type, set[str]] = {}
    for block in _blocks_in(function.body):
        for place, statement in enumerate(block.statements):
            if isinstance(statement, ir.Call) and statement.callee is make_object:
                made, names = statement.targets[0], statement.args[1]
                if isinstance(made.type, ir.Instance) and isinstance(names, ir.Const):
                    given = {*names.value, *_given_right_away(made, block.statements[place + 1 :])}
                    found.setdefault(made.type.cls, set()).update(made.type.fields.keys() - given)
    return {cls: frozenset(names) for cls, names in found.items() if names}


def _blocks_in(block: ir.Block) -> Iterator[ir.Block]:
    yield block
    for node in (*block.statements, block.terminator):
        for inner in blocks_of(node):
            yield from _blocks_in(inner)


def _given_right_away(made: ir.Var, statements: Sequence[ir.Statement]) -> Iterator[str]:
    """The attributes that an object is given before there is another path, or a function is called."""
    for statement in statements:
        if blocks_of(statement) or (
            isinstance(statement, ir.Call) and isinstance(statement.callee, (ir.Derived, ir.Definition, ir.Function))
        ):
            return
        if isinstance(statement, ir.Store) and statement.base is made and isinstance(statement.key, ir.Attribute):
            yield statement.key.name


def lie_deeper(type_: ir.Type, late: LateFields) -> bool:
    """Whether objects that may lack attributes lie in what a value holds."""
    match type_:
        case ir.List(element=part) | ir.Dict(value=part):
            parts: tuple[ir.Type, ...] = () if part is None else (part,)
        case ir.Tuple(items=parts):
            pass
        case ir.Instance(fields=fields):
            parts = tuple(fields.values())
        case _:
            return False
    return any((isinstance(part, ir.Instance) and part.cls in late) or lie_deeper(part, late) for part in parts)


def unneeded(function: ir.Function, param: ir.Var, late: LateFields) -> frozenset[str] | None:
    """The late attributes of an object that a function is given; None if it may ask for one before it gives it."""
    assert isinstance(param.type, ir.Instance)
    names = late.get(param.type.cls, frozenset()) & param.type.fields.keys()
    return names if all(_is_given_first(function, param, name) for name in names) else None


def _is_given_first(function: ir.Function, param: ir.Var, name: str) -> bool:
    """Whether an attribute is given, before anything else may look at it; or not looked at at all."""
    assert isinstance(param.type, ir.Instance)
    for statement in function.body.statements:
        if isinstance(statement, ir.Store) and statement.base is param and statement.key == ir.Attribute(name):
            return statement.mode == "set"
        if any(_may_look(each, param, name) for each in with_inner(statement)):
            return False
    return True


def _may_look(statement: ir.Statement, param: ir.Var, name: str) -> bool:
    assert isinstance(param.type, ir.Instance)
    match statement:
        case ir.Load(base=base, key=key) | ir.Store(base=base, key=key):
            is_of_class = isinstance(base, ir.Var) and getattr(base.type, "cls", None) is param.type.cls
            return is_of_class and key == ir.Attribute(name)
        case ir.Call(args=args):
            return param in args
        case _:
            return False


# Attributes that an object may be assigned first by the function that is differentiated: its shadow needs a place


def assigned_attributes(function: ir.Function) -> frozenset[str]:
    """The names of the attributes that a function assigns, or one that it calls."""
    from adjoint.differentiation.definitions import with_called  # lazy

    return frozenset(
        statement.key.name
        for each in with_called(function)
        for statement in statements_in(each.body)
        if isinstance(statement, ir.Store) and isinstance(statement.key, ir.Attribute)
    )


def may_be_missing(type_: ir.Type | None, assigned: Collection[str]) -> tuple[tuple[str, Any], ...]:
    """What objects of a type may lack: names, as `adjoint.runtime.tangents.shadow_with` takes them."""
    match type_:
        case ir.Instance(fields=fields):
            own = [(name, _until_then(field)) for name, field in fields.items() if name in assigned]
            inner = [(name, may_be_missing(field, assigned)) for name, field in fields.items()]
            return (*own, *(each for each in inner if each[1]))
        case ir.List(element=part) | ir.Dict(value=part):
            items = may_be_missing(part, assigned)
            return (("*", items),) if items else ()
        case _:
            return ()


def _until_then(field: ir.Type) -> float | complex | None:
    """The cotangent of an attribute that is not there yet: a zero to which others are added, or no reference."""
    match field:
        case ir.Scalar(kind="complex"):
            return 0j
        case ir.Scalar(kind="float") | ir.Number():
            return 0.0
        case ir.Array() if not ir.is_written_array(field):
            return 0.0
        case _:
            return None
