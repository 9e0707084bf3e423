"""Attributes of functions, classes and modules that the program assigns: variables that outlive the call.

Those of functions and classes that are defined inside the call are variables of the call.
"""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

from adjoint.frontend.data.outside.outer_variables import first_assignment
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Cell, Closure, Held, Value, local_mark
from adjoint.frontend.syntax.assign import bind_anew

_FUNCTIONS = (types.FunctionType, functools._lru_cache_wrapper)
OWNERS = (*_FUNCTIONS, type, types.ModuleType)
"""What has attributes of its own and outlives the call."""


def assign(lo: Lowerer, owner: Any, name: str, value: Value, node: ast.AST | None) -> None:
    """``owner.name = value``"""
    holder = vars(owner) if isinstance(owner, types.ModuleType) else owner
    cell = lo.run_data.globals.get((id(holder), name))
    if cell is None and isinstance(owner, type):
        cell = _variable_of_local_class(lo, owner, name, node)
    if cell is None:
        if not _is_plain(owner, name):
            raise lo.problem("AD0311", node, f"the attribute {name!r} of {owner.__name__!r} is assigned")
        raise first_assignment(lo, holder, name, node)
    bind_anew(lo, cell, value, node)


def _is_plain(owner: Any, name: str) -> bool:
    """Whether to assign an attribute is no more than that, and to read it gives what was assigned."""
    if name.startswith("__") or (name not in vars(owner) and hasattr(owner, name)):
        return False
    if isinstance(owner, type):
        makes = type(owner)
        as_usual = makes.__setattr__ is type.__setattr__ and makes.__getattribute__ is type.__getattribute__
        return as_usual and not hasattr(makes, name) and not hasattr(type(vars(owner).get(name)), "__get__")
    return type(owner) in (*_FUNCTIONS, types.ModuleType)


def _variable_of_local_class(lo: Lowerer, cls: type, name: str, node: ast.AST | None) -> Cell | None:
    """The variable that an attribute is of a class that is defined inside the call; None for other classes."""
    held = vars(cls).get(name)
    if isinstance(held, Held):
        return held
    mark = local_mark(cls)
    if mark is None or mark.cls is not cls:
        return None
    is_default = name in getattr(cls, "__dataclass_fields__", ())
    if name not in vars(cls) or is_default or (mark.node, name) in lo.settings.assigned_in_classes:
        label, help_ = (
            f"the class {cls.__name__!r} gets the attribute {name!r} here",
            "give it a value in the class body",
        )
        raise lo.problem("AD0311", node, label, helps=(help_,))
    lo.settings.assigned_in_classes.add((mark.node, name))
    raise Restart


def assign_of_local_function(lo: Lowerer, function: Closure, name: str, value: Value, node: ast.AST | None) -> None:
    """``function.name = value`` for a function that is defined inside the call."""
    if name in ("__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__"):
        raise lo.problem("AD0301", node, f"{name!r} of a function is assigned: it is another function then")
    cell = function.attributes.get(name)
    if cell is None or cell not in lo.store:
        if function.block is not lo.block:
            label = "an attribute of a function, which it did not have before, is assigned on some paths only"
            raise lo.problem("AD0301", node, label, helps=("give it a value right after the function",))
        cell = function.attributes[name] = Cell(name)
    bind_anew(lo, cell, value, node)
