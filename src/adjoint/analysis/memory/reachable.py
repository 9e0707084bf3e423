"""The memory that can be reached from a value, by its type, and the calls that may write all of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, WrapperDescriptorType

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.ir.join import type_of_atom
from adjoint.rules.registry import rule_for
from adjoint.runtime import display
from adjoint.sources.library_folders import is_of_a_library

GROWING = (list.append, list.insert, list.extend, dict.update, dict.setdefault)
"""Calls that put their later arguments into the memory of the first."""


def own_memory(type_: ir.Type | None) -> ir.Storage | None:
    """The storage class of a handle's own slots."""
    match type_:
        case ir.Array(storage=storage):
            return storage.find() if storage.written else None
        case ir.List(storage=storage) | ir.Dict(storage=storage) | ir.Instance(storage=storage):
            return storage.find()
        case _:
            return None


def all_memory(type_: ir.Type | None) -> Iterator[ir.Storage]:
    """The storage classes that can be reached from a value of this type."""
    own = own_memory(type_)
    if own is not None:
        yield own
    for part in parts(type_):
        yield from all_memory(part)


def memory_of_params(function: ir.Function) -> frozenset[ir.Storage]:
    """The memory that a function is given."""
    return frozenset(storage.find() for param in function.params for storage in all_memory(param.type))


def memory_seen(function: ir.Function, handed: Collection[ir.Storage] | None) -> frozenset[ir.Storage]:
    """The memory of a function that others see: what is ``handed`` to it; None for that of its parameters."""
    return memory_of_params(function) if handed is None else frozenset(storage.find() for storage in handed)


def parts(type_: ir.Type | None) -> tuple[ir.Type, ...]:
    """The types of what lies in a container."""
    match type_:
        case ir.List(element=ir.PerPlace(items=items)):
            return items
        case ir.List(element=part) | ir.Dict(value=part):
            return () if part is None else (part,)
        case ir.Tuple(items=items):
            return items
        case ir.Instance(fields=fields):
            return tuple(fields.values())
        case _:
            return ()


def is_ruled(call: ir.Call) -> bool:
    """Whether it is declared how a derivative flows through a call."""
    return isinstance(call.callee, (ir.Declared, ir.Applied)) or rule_for(call.callee) is not None


def may_write_anything(call: ir.Call) -> bool:
    """Whether nobody vouches for what a call does to the memory that it is handed."""
    if isinstance(call.callee, (ir.Definition, ir.Derived, ir.Function)) or is_ruled(call):
        return False
    return not effects_of(call).known and not _is_exception_of_a_library(call.callee)


def _is_exception_of_a_library(callee: object) -> bool:
    """Whether a call makes an exception whose class is no user's: it keeps what it is given, for a message."""
    if not isinstance(callee, type) or not issubclass(callee, BaseException):
        return False
    code = getattr(callee.__init__, "__code__", None)
    return code is None or is_of_a_library(code.co_filename)


def keeper_in(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The object that may keep what an unknown function is handed: the one whose method it is."""
    return call.args[:1] if call.callee is display.call or _is_method_that_keeps(call) else ()


def _is_method_that_keeps(call: ir.Call) -> bool:
    """Whether it is a method of a class in C that may keep what it is handed, in an object that is not looked into."""
    if not call.args or not isinstance(call.callee, (MethodDescriptorType, WrapperDescriptorType)):
        return False
    if may_write_anything(call):
        return True
    return isinstance(type_of_atom(call.args[0]), ir.Opaque) and 0 in effects_of(call).writes


def may_keep_in(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The objects that nobody looks into, and in which a call may keep what it is handed."""
    keeper = keeper_in(call)
    if not may_write_anything(call):
        return keeper
    others = (*call.args[len(keeper) :], *(value for _, value in call.kwargs))
    return (*keeper, *filter(_is_written_object, others))


def _is_written_object(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Opaque) and may_be_written(atom.type)


def may_be_written(type_: ir.Opaque) -> bool:
    """Whether objects of a class may be written by methods or functions that nobody looks into."""
    return type_.cls is None or not issubclass(type_.cls, _UNWRITTEN)


_UNWRITTEN = (str, bytes, tuple, frozenset, range, slice, type, FunctionType, MethodType, BuiltinFunctionType, np.dtype)


def lends_memory(atom: ir.Atom) -> bool:
    """Whether handing a value to a function hands it memory that it could write."""
    return isinstance(atom, ir.Var) and isinstance(
        atom.type, (ir.Array, ir.List, ir.Dict, ir.Instance, ir.Tuple, ir.Number)
    )
