"""The functions of the module ``copy``: new objects with the parts of others, or copies of these."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.data import making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import STANDS_FOR, Record, Ref, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import class_of, refuse_made_again, seen
from adjoint.frontend.objects.special_methods import special_method


@handles(copy.copy)
def _copy(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    copied = args[0]
    own = special_method(lo, copied, "__copy__")
    if own is not None:
        return lo.call(own, [], {}, node)
    if isinstance(copied, ir.Var) and isinstance(copied.type, (ir.List, ir.Dict)):
        return _with_the_same_items(lo, copied, node)
    cls = class_of(lo, copied)
    inner = (lambda part: _copy(lo, [part], {}, node)) if cls is not None and STANDS_FOR in cls.__dict__ else None
    if isinstance(copied, ir.Var) and isinstance(copied.type, ir.Instance):
        return _with_the_same_attributes(lo, copied, copied.type, node, inner)
    record = lo.store.get(copied) if isinstance(copied, Ref) else None
    if isinstance(record, Record) and inner is not None:
        return _made(lo, Record(record.cls, _with_own_containers(record.parts, inner)), node)
    return _copied(lo, copied, lambda part: part, node)


_CONTAINERS = ("_left", "_right", "_table", "_held")
"""Where the classes that stand for those of the library have what these hold."""


def _with_own_containers(
    parts: tuple[tuple[str, Value], ...], inner: Callable[[Value], Value] | None
) -> tuple[tuple[str, Value], ...]:
    """The parts of a copy of what is a container to the program: it holds the same, in a list or dict of its own."""
    if inner is None:
        return parts
    return tuple([(name, inner(part) if name in _CONTAINERS else part) for name, part in parts])


def _with_the_same_items(lo: Lowerer, copied: ir.Var, node: ast.AST | None) -> Value:
    """Another list or dict that exists at run time, of the same items; a tuple is itself."""
    if isinstance(copied.type, ir.List) and copied.type.is_tuple:
        return copied
    return lo.call(ir.Const(dict if isinstance(copied.type, ir.Dict) else list), [copied], {}, node)


def _with_the_same_attributes(
    lo: Lowerer,
    copied: ir.Var,
    type_: ir.Instance,
    node: ast.AST | None,
    inner: Callable[[Value], Value] | None = None,
) -> Value:
    """Another object with what the attributes of one hold that exists at run time."""
    later = next((name for name in type_.fields if (type_.cls, name) in lo.run_data.set_later), None)
    if later is not None:
        label = f"an object is copied that may lack {later!r}, which is assigned after it is made"
        raise lo.problem("AD0303", node, label, helps=(f"assign {later!r} in '__init__'",))
    parts = tuple([(name, attribute(lo, copied, name, node)) for name in type_.fields])
    return _made(lo, Record(type_.cls, _with_own_containers(parts, inner)), node)


def _made(lo: Lowerer, record: Record, node: ast.AST | None) -> Value:
    if _copies_itself(record.cls):
        raise lo.problem("AD0301", node, f"the class {record.cls.__name__!r} says itself how it is copied")
    if issubclass(seen(record.cls), (dict, list)) and _fills_itself(seen(record.cls)):
        raise lo.problem("AD0301", node, f"the class {record.cls.__name__!r} says itself how a copy is filled")
    assert node is not None
    ref = Ref(lo.site(node))
    lo.store[ref] = record
    return making.runtime_object(lo, ref, node) if ref.site in lo.settings.runtime_sites else ref


def _is_immutable(type_: ir.Type | None) -> bool:
    if isinstance(type_, ir.Opaque):
        return type_.cls in (type(None), str, bytes)
    return type(type_) is ir.Scalar or (isinstance(type_, ir.Tuple) and all(map(_is_immutable, type_.items)))


@handles(copy.deepcopy)
def _deepcopy(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    made: dict[int, Value] = {}

    def deep(part: Value) -> Value:
        if id(part) not in made:
            rows = _copied_rows(lo, part, node)
            made[id(part)] = _copied(lo, part, deep, node) if rows is None else rows
        return made[id(part)]

    return deep(args[0])


def _copied_rows(lo: Lowerer, value: Value, node: ast.AST | None) -> Value | None:
    """A copy of a list or dict that exists at run time, of lists, dicts or arrays of numbers; None for other values.

    Rows that are one object are one in the copy, too.
    """
    if not isinstance(value, ir.Var):
        return None
    match value.type:
        case ir.List(element=part, is_tuple=False):
            function: Any = python_functions.copied_deep
        case ir.Dict(value=part):
            function = python_functions.copied_deep_table
        case _:
            return None
    if isinstance(part, ir.Array):
        return python_functions.call(lo, function, [value, ir.Const(np.copy)], node)
    if isinstance(part, ir.Instance) and _has_only_what_is_immutable(part):
        return python_functions.call(lo, function, [value, ir.Const(copy.copy)], node)
    is_row = isinstance(part, (ir.List, ir.Dict)) and _holds_what_is_immutable(part)
    if not is_row or (isinstance(part, ir.List) and part.is_tuple):
        return None
    return python_functions.call(lo, function, [value, ir.Const(dict if isinstance(part, ir.Dict) else list)], node)


def _copied(lo: Lowerer, value: Value, inner: Callable[[Value], Value], node: ast.AST | None) -> Value:
    """A new object with the parts of another one, as ``inner`` gives them."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    if isinstance(record, Record) and record.cls is list:
        return making.new_list(lo, [inner(part) for part in record.items], node)
    if isinstance(record, Record) and record.cls is dict:
        return making.new_dict(lo, [(ir.Const(key), inner(part)) for key, part in record.parts], node)
    if isinstance(record, Record):
        return _made(lo, Record(record.cls, tuple((name, inner(part)) for name, part in record.parts)), node)
    if isinstance(value, TupleValue):
        refuse_made_again(lo, value.cls, node)
        parts = [inner(part) for part in value.items]
        return (
            making.tuple_of(parts, value) if value.cls is tuple else TupleValue(tuple(parts), value.cls, is_itself=True)
        )
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Reference):
        raise lo.problem("AD0303", node, "an object that others refer to is copied")
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Array):
        return lo.call(ir.Const(np.copy), [value], {}, node)
    if isinstance(value, ir.Var) and _holds_what_is_immutable(value.type):
        return _with_the_same_items(lo, value, node)
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Instance) and _has_only_what_is_immutable(value.type):
        return _with_the_same_attributes(lo, value, value.type, node)
    if isinstance(value, ir.Var) and isinstance(value.type, (ir.List, ir.Dict, ir.Instance)):
        raise lo.problem("AD0303", node, "a container that exists at run time is copied with what lies in it")
    return value


def _holds_what_is_immutable(type_: ir.Type) -> bool:
    if not isinstance(type_, (ir.List, ir.Dict)):
        return False
    part = type_.element if isinstance(type_, ir.List) else type_.value
    return part is None or _is_immutable(part)  # None: as far as is known, nothing lies in it


def _has_only_what_is_immutable(type_: ir.Instance) -> bool:
    return all(map(_is_immutable, type_.fields.values()))


def _fills_itself(cls: type) -> bool:
    """Whether Python fills a copy of a dict or a list of a class by code of that class."""
    names = ("__new__", "__setitem__") if issubclass(cls, dict) else ("__new__", "append", "extend")
    return any(isinstance(getattr(cls, name), FunctionType) for name in names)


def _copies_itself(cls: type) -> bool:
    own = ("__copy__", "__deepcopy__", "__getstate__", "__reduce__", "__reduce_ex__")
    ordinary = (object, SimpleNamespace)  # copies have the same attributes
    return any(name in vars(base) for base in cls.__mro__ if base not in ordinary for name in own)
