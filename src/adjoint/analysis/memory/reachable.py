"""The memory that can be reached from a value, by its type, and the calls that may write all of it."""

from __future__ import annotations

from collections.abc import Iterator
from types import MethodDescriptorType

from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import Applied, Atom, Call, Declared, Definition, Derived, Function, Var
from adjoint.ir.types import Array, Dict, Instance, List, Number, PerPlace, Storage, Tuple, Type
from adjoint.rules.registry import rule_for
from adjoint.runtime import display
from adjoint.sources.library_folders import is_of_a_library

GROWING = (list.append, list.insert, list.extend, dict.update, dict.setdefault)
"""Calls that put their later arguments into the memory of the first."""


def own_memory(type_: Type | None) -> Storage | None:
    """The storage class of a handle's own slots."""
    match type_:
        case Array(storage=storage):
            return storage.find() if storage.written else None
        case List(storage=storage) | Dict(storage=storage) | Instance(storage=storage):
            return storage.find()
        case _:
            return None


def all_memory(type_: Type | None) -> Iterator[Storage]:
    """The storage classes that can be reached from a value of this type."""
    own = own_memory(type_)
    if own is not None:
        yield own
    for part in parts(type_):
        yield from all_memory(part)


def memory_of_params(function: Function) -> frozenset[Storage]:
    """The memory that a function is given."""
    return frozenset(storage.find() for param in function.params for storage in all_memory(param.type))


def parts(type_: Type | None) -> tuple[Type, ...]:
    """The types of what lies in a container."""
    match type_:
        case List(element=PerPlace(items=items)):
            return items
        case List(element=part) | Dict(value=part):
            return () if part is None else (part,)
        case Tuple(items=items):
            return items
        case Instance(fields=fields):
            return tuple(fields.values())
        case _:
            return ()


def is_ruled(call: Call) -> bool:
    """Whether it is declared how a derivative flows through a call."""
    return isinstance(call.callee, (Declared, Applied)) or rule_for(call.callee) is not None


def may_write_anything(call: Call) -> bool:
    """Whether nobody vouches for what a call does to the memory that it is handed."""
    if isinstance(call.callee, (Definition, Derived, Function)) or is_ruled(call):
        return False
    return not effects_of(call).known and not _is_exception_of_a_library(call.callee)


def _is_exception_of_a_library(callee: object) -> bool:
    """Whether a call makes an exception whose class is no user's: it keeps what it is given, for a message."""
    if not isinstance(callee, type) or not issubclass(callee, BaseException):
        return False
    code = getattr(callee.__init__, "__code__", None)
    return code is None or is_of_a_library(code.co_filename)


def keeper_in(call: Call) -> tuple[Atom, ...]:
    """The object that may keep what an unknown function is handed: the one whose method it is."""
    is_method = isinstance(call.callee, MethodDescriptorType) and may_write_anything(call)
    return call.args[:1] if is_method or call.callee is display.call else ()


def lends_memory(atom: Atom) -> bool:
    """Whether handing a value to a function hands it memory that it could write."""
    return isinstance(atom, Var) and isinstance(atom.type, (Array, List, Dict, Instance, Tuple, Number))
