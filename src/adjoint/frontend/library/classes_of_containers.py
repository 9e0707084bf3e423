"""Users' classes that inherit from `dict` or `list`: for each stands one that has a container, and the same methods.

The methods of the container are written in Python.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import STANDS_FOR
from adjoint.frontend.library.in_python.collections_definitions import TableWithDefaults, UsersList, UsersTable

_OF_THE_CLASS = ("__dict__", "__weakref__", "__slots__", "__doc__")
_made: dict[Any, type] = {}


def standing_for(lo: Lowerer, cls: type) -> type | None:
    """The class that stands for one that inherits from a container alone; None where no such class can stand for it."""
    bases, container = cls.__mro__[:-2], cls.__mro__[-2]
    if container not in (dict, list) or type(cls) is not type or not all(map(_is_followed, bases)):
        return None
    for base in bases:
        for name, value in _members(base):
            inputs.guard_lookup(lo, base, name, value)
    key = tuple((base, tuple((name, id(value)) for name, value in _members(base))) for base in bases)
    if key not in _made:
        table = TableWithDefaults if hasattr(cls, "__missing__") else UsersTable
        _made[key] = _standing_for(cls, container, table if container is dict else UsersList, {})
    return _made[key]


def _is_followed(base: type) -> bool:
    """Whether what a class has of its own are functions, values and methods of the container."""
    has_slots = "__slots__" in vars(base) and bool(vars(base)["__slots__"])
    looks_up = "__getattribute__" in vars(base) or "__class_getitem__" in vars(base)
    return not has_slots and not looks_up and base.__module__ != "collections"


def _members(base: type) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(base).items() if name not in _OF_THE_CLASS)


def _standing_for(cls: type, container: type, model: type, known: dict[type, type]) -> type:
    if cls is container:
        return model
    if not issubclass(cls, container):
        return cls
    if cls not in known:
        bases = tuple(_standing_for(base, container, model, known) for base in cls.__bases__)
        members = {name: _in_python(value, container, model) for name, value in _members(cls)}
        known[cls] = type(cls.__name__, bases, {**members, STANDS_FOR: cls})
    return known[cls]


def _in_python(value: Any, container: type, model: type) -> Any:
    """A member of a class: the methods of the container are those of what stands for it."""
    is_method = isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType))
    own = getattr(model, value.__name__, None) if is_method and value.__objclass__ is container else None
    return own if isinstance(own, types.FunctionType) else value
