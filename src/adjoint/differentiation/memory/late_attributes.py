"""Attributes that an object may be assigned first by the function that is differentiated: its shadow needs a place."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from adjoint import ir
from adjoint.ir.walk import statements_in


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
