"""Users' classes that inherit from `dict`: for each stands one that has a table, and the same methods in Python."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import STANDS_FOR
from adjoint.frontend.library.collections_definitions import TableWithDefaults, UsersTable

_OF_THE_CLASS = ("__dict__", "__weakref__", "__slots__", "__doc__")
_made: dict[Any, type] = {}


def standing_for(lo: Lowerer, cls: type) -> type | None:
    """The class that stands for one that inherits from `dict` alone; None where no such class can stand for it."""
    bases = cls.__mro__[:-2]
    if cls.__mro__[-2:] != (dict, object) or type(cls) is not type or not all(map(_is_followed, bases)):
        return None
    for base in bases:
        for name, value in _members(base):
            inputs.guard_lookup(lo, base, name, value)
    key = tuple((base, tuple((name, id(value)) for name, value in _members(base))) for base in bases)
    if key not in _made:
        _made[key] = _standing_for(cls, TableWithDefaults if hasattr(cls, "__missing__") else UsersTable, {})
    return _made[key]


def _is_followed(base: type) -> bool:
    """Whether what a class has of its own are functions, values and the methods of `dict`."""
    has_slots = "__slots__" in vars(base) and bool(vars(base)["__slots__"])
    looks_up = "__getattribute__" in vars(base) or "__class_getitem__" in vars(base)
    return not has_slots and not looks_up and base.__module__ != "collections"


def _members(base: type) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(base).items() if name not in _OF_THE_CLASS)


def _standing_for(cls: type, table: type, known: dict[type, type]) -> type:
    if cls is dict:
        return table
    if not issubclass(cls, dict):
        return cls
    if cls not in known:
        bases = tuple(_standing_for(base, table, known) for base in cls.__bases__)
        members = {name: _in_python(value, table) for name, value in _members(cls)}
        known[cls] = type(cls.__name__, bases, {**members, STANDS_FOR: cls})
    return known[cls]


def _in_python(value: Any, table: type) -> Any:
    """A member of a class: the methods of `dict` are those of what stands for it."""
    is_of_dict = isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType))
    own = getattr(table, value.__name__, None) if is_of_dict and value.__objclass__ is dict else None
    return own if isinstance(own, types.FunctionType) else value
