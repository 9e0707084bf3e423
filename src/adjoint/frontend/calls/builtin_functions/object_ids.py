"""``id``, ``hash``, weak references and ``memoryview`` of objects, which must be there themselves."""

from __future__ import annotations

import ast
import weakref
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.data.element_types import sites_within
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime
from adjoint.frontend.interpreter.values import Method, Partial, Record, Ref, TupleValue, Value
from adjoint.types.structure import CONTAINERS


@handles(id)
def _id(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    for value in args:
        if isinstance(value, Ref) and _is_copied(lo, value):
            raise NeedsRuntime(sites_within(lo, value))
        if isinstance(value, (TupleValue, Method, Partial)):
            raise lo.problem("AD0301", node, "which object this is, of several that are equal, is not known")
    return NotImplemented


@handles(weakref.ref, weakref.proxy)
def _weak(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A weak reference is one to an object that somebody keeps: a copy would be gone at once."""
    copied = [value for value in args[:1] if isinstance(value, Ref) and _is_copied(lo, value)]
    if copied:
        raise NeedsRuntime(sites_within(lo, *copied))
    return NotImplemented


@handles(hash)
def _hash(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    for value in args:
        copied = [ref for ref in _hashed(value) if _is_copied(lo, ref) and _is_hashed_by_place(lo, ref)]
        if copied:
            raise NeedsRuntime(sites_within(lo, *copied))
    return NotImplemented


def _is_copied(lo: Lowerer, ref: Ref) -> bool:
    """Whether an object is made anew where it is handed out."""
    record = lo.store.get(ref)
    return ref.origin is None or (isinstance(record, Record) and record.cls in CONTAINERS)


def _hashed(value: Value) -> list[Ref]:
    if isinstance(value, TupleValue):
        return [ref for item in value.items for ref in _hashed(item)]
    return [value] if isinstance(value, Ref) else []


def _is_hashed_by_place(lo: Lowerer, ref: Ref) -> bool:
    record = lo.store.get(ref)
    name = "__hash__"
    return isinstance(record, Record) and getattr(record.cls, name) is getattr(object, name)


@handles(memoryview)
def _memory(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A view of memory that is no array: its class is known, as nothing may be written through it."""
    if len(args) != 1 or kwargs or not isinstance(args[0], ir.Var):
        return NotImplemented
    target = ir.Var("memory", ir.Opaque(memoryview))
    lo.emit(ir.Call((target,), memoryview, (args[0],), (), lo.span(node)))
    return target
