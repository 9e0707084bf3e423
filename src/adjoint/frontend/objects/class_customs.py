"""What classes change about how Python makes objects, looks attributes up and assigns them, where it is not followed.

What is not followed is refused: it would be passed over otherwise.
"""

from __future__ import annotations

import ast
import inspect
import threading
import types
from dataclasses import FrozenInstanceError
from typing import Any

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.runtime.objects import native_new

_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def looks_up_by_itself(lo: Lowerer, cls: type, node: ast.AST | None) -> bool:
    """Whether a class looks all its attributes up by a method of its own; raises where another comes after it."""
    if not isinstance(cls.__getattribute__, types.FunctionType):
        return False
    if hasattr(cls, "__getattr__"):
        raise lo.problem("AD0301", node, f"the class {cls.__name__!r} defines '__getattribute__' and '__getattr__'")
    return True


def assigns_by_itself(lo: Lowerer, cls: type, node: ast.AST | None) -> bool:
    """Whether a class assigns all its attributes by a method of its own; raises where it lets nobody assign them."""
    if not isinstance(cls.__setattr__, types.FunctionType):
        return False
    if getattr(getattr(cls, "__dataclass_params__", None), "frozen", False):
        helps = ("make another: dataclasses.replace(value, field=...)",)
        label = f"{cls.__name__!r} is frozen: its fields cannot be assigned"
        raise lo.mistake(FrozenInstanceError, node, label, helps=helps)
    return True


def method_of_descriptor(found: Any, name: str) -> types.FunctionType | None:
    """The method by which a member of a class is read or assigned, ``__get__`` or ``__set__``, if it is in Python."""
    method = inspect.getattr_static(type(found), name, None)
    return method if isinstance(method, types.FunctionType) else None


def is_held_in_machine_code(found: types.MemberDescriptorType | types.GetSetDescriptorType) -> bool:
    """Whether compiled code holds what a descriptor gives: others stand for names in ``__slots__``."""
    return "__slots__" not in vars(found.__objclass__)


def refuse_unusual_descriptor(lo: Lowerer, cls: type, name: str, found: Any, node: ast.AST | None) -> None:
    """Raises where assigning an attribute runs the code of a descriptor, which is no property."""
    if hasattr(type(found), "__set__") and not isinstance(found, _SLOTS):
        raise lo.problem("AD0301", node, f"the descriptor {name!r} of class {cls.__name__!r} is not supported")


def refuse_other_object(lo: Lowerer, cls: type, name: str, node: ast.AST | None) -> None:
    """Raises where an object gets another class, or another table of all of its attributes."""
    if name == "__class__":
        raise lo.problem("AD0301", node, f"an object of the class {cls.__name__!r} is made one of another class")
    if name == "__dict__":
        label = f"all attributes of an object of the class {cls.__name__!r} are replaced by those in a dict"
        raise lo.problem("AD0301", node, label, helps=("put them in: self.__dict__.update(table)",))


def has_no_place_for(cls: type, name: str) -> bool:
    """Whether objects of a class with ``__slots__`` have none for an attribute, so that assigning it raises."""
    if issubclass(cls, threading.local):  # whose table is no part of its objects
        return False
    return not cls.__dictoffset__ and not isinstance(inspect.getattr_static(cls, name, None), _SLOTS)


def call_by_metaclass(lo: Lowerer, cls: type, node: ast.AST | None) -> types.FunctionType | None:
    """What the metaclass of a class does where the class is called; None where it does what ``type`` does."""
    found = inspect.getattr_static(type(cls), "__call__")
    if found is type.__dict__["__call__"]:
        return None
    if not isinstance(found, types.FunctionType):
        raise lo.problem("AD0301", node, f"the '__call__' of the metaclass of {cls.__name__!r} is not a function")
    return found


def maker(lo: Lowerer, cls: type, node: ast.AST | None) -> types.FunctionType | None:
    """The ``__new__`` in Python that makes objects of a class, None where ``object`` does; raises for all others."""
    if native_new(cls) is not object.__new__:
        base = next(base for base in cls.__mro__ if "__new__" in base.__dict__ and base.__new__ is native_new(cls))
        label = f"an object of the class {cls.__name__!r} is a value of class {base.__name__!r} with more beside it"
        raise lo.problem("AD0301", node, label, helps=("write a class that has that value as an attribute",))
    init = inspect.getattr_static(cls, "__init__")
    if not isinstance(init, types.FunctionType) and init is not object.__init__:
        raise lo.problem("AD0301", node, f"the '__init__' of {cls.__name__!r} is not a function")
    new: Any = cls.__new__
    if isinstance(new, types.FunctionType):
        return new
    if new is not object.__new__:
        raise lo.problem("AD0301", node, f"the '__new__' of {cls.__name__!r} is not a function")
    return None
