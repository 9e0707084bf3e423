"""The attributes of an object as a dict: ``vars(x)``, ``x.__dict__``."""

from __future__ import annotations

import ast
import inspect
from typing import Any, Generic

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.calls.opaque.arguments import SIGNATURE
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import STANDS_FOR, IteratorValue, Record, Ref, Value
from adjoint.frontend.library import attribute_tables, python_functions
from adjoint.frontend.objects.construction import construct
from adjoint.frontend.objects.fields import put_attribute, remove_attribute
from adjoint.types.classes.dataclass_fields import dataclass_fields
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import CONTAINERS, slots_of

_BY_NAME = ("read its attributes by their names",)


def table_of(lo: Lowerer, owner: Value, node: ast.AST | None) -> Value:
    """The dict of an object's own attributes: an object that looks them up when it is asked."""
    if _fields_at_run_time(owner) is None:
        _attributes(lo, owner, node)
    return construct(lo, attribute_tables.AttributeTable, [owner], {}, node)


def _attributes(lo: Lowerer, owner: Value, node: ast.AST | None) -> Record:
    """What an object holds, where all of it is known, in the order of its ``__dict__``."""
    record = lo.store.get(owner) if isinstance(owner, Ref) else None
    if not isinstance(record, Record) or record.cls in CONTAINERS:
        raise lo.problem("AD0301", node, "which attributes this object has is not known one by one", helps=_BY_NAME)
    if _holds_more(record.cls):
        label = f"objects of class {record.cls.__name__!r} hold something besides attributes, or in another order"
        raise lo.problem("AD0301", node, label, helps=_BY_NAME)
    return record


def _holds_more(cls: type) -> bool:
    """Whether objects of a class hold something besides what their ``__dict__`` does, or in another order."""
    others = slots_of(cls) or issubclass(cls, Generic) or is_marked(cls, SIGNATURE) or STANDS_FOR in cls.__dict__
    return bool(others) or not all(field.init for field in dataclass_fields(cls))


def _fields_at_run_time(owner: Value) -> tuple[str, ...] | None:
    """The attributes that an object of the run may have, where whoever asks for one is told whether it is its own."""
    if not isinstance(owner, ir.Var) or not isinstance(owner.type, ir.Instance) or _holds_more(owner.type.cls):
        return None
    names = tuple(owner.type.fields)
    return None if any(is_marked(owner.type.cls, name) for name in names) else names


@handles(attribute_tables.names_of)
def _names(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    names = _fields_at_run_time(args[0])
    if names is None:
        return ir.Const(_attributes(lo, args[0], node).keys)
    return python_functions.call(lo, attribute_tables.names_that_are_there, [args[0], ir.Const(names)], node)


@handles(attribute_tables.own_attribute)
def _own_attribute(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    owner, name = args
    part = _attributes(lo, owner, node).get(_name(lo, name, node))
    assert part is not None and isinstance(owner, Ref)
    return lo.known_part(owner, part)


@handles(attribute_tables.put_own)
def _put_own(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    owner, name, value = args
    cls, key = _attributes(lo, owner, node).cls, _name(lo, name, node)
    if hasattr(type(inspect.getattr_static(cls, key, None)), "__set__"):
        raise lo.problem(
            "AD0301", node, f"the class {cls.__name__!r} has a descriptor {key!r}, which hides this attribute"
        )
    assert isinstance(owner, Ref)
    put_attribute(lo, owner, key, value, node)
    return ir.Const(None)


@handles(attribute_tables.remove_own)
def _remove_own(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    owner, name = args
    assert isinstance(owner, Ref)
    remove_attribute(lo, owner, _name(lo, name, node), node)
    return ir.Const(None)


@handles(attribute_tables.values_of)
def _values(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    _attributes(lo, args[0], node)
    return IteratorValue("values", (args[0],))


@handles(attribute_tables.items_of)
def _items(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    _attributes(lo, args[0], node)
    return IteratorValue("items", (args[0],))


def _name(lo: Lowerer, name: Value, node: ast.AST | None) -> str:
    if not isinstance(name, ir.Const) or type(name.value) is not str or not name.value.isidentifier():
        raise lo.problem("AD0301", node, "the name of the attribute is not known")
    return name.value
