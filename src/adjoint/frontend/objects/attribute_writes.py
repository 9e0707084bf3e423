"""Attributes are assigned: of objects, of views of arrays, of each object in a list."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.data.constants import as_stored
from adjoint.frontend.data.element_types import as_element, as_tagged, note_outside, slot
from adjoint.frontend.data.item_writes import set_item
from adjoint.frontend.data.making import grow_field
from adjoint.frontend.data.outside.outer_variables import first_assignment
from adjoint.frontend.data.read_only_views import refuse_writable_again
from adjoint.frontend.data.tagged_items import put_each
from adjoint.frontend.data.uniqueness import names_of_object
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import (
    ELLIPSIS,
    NONE,
    Cell,
    Closure,
    Held,
    Record,
    Ref,
    Union,
    Value,
    is_atom,
    local_mark,
)
from adjoint.frontend.objects import class_customs
from adjoint.frontend.objects.attributes import attribute, described
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.objects.fields import put_attribute, remove_attribute
from adjoint.frontend.objects.linked import referent
from adjoint.frontend.syntax.assign import bind_anew, outlives_the_call
from adjoint.runtime.objects import refuse_deletion


def set_attribute(
    lo: Lowerer, base: Value, name: str, value: Value, node: ast.AST | None, *, bare: bool = False
) -> None:
    """``base.name = value``; ``bare`` is past any ``__setattr__`` of the class."""
    cls = class_of(lo, base)
    if cls is not None and isinstance(base, (Ref, ir.Var)):
        class_customs.refuse_other_object(lo, cls, name, node)
        if not bare and class_customs.assigns_by_itself(lo, cls, node):
            lo.call(ir.Const(cls.__setattr__), [base, ir.Const(name), value], {}, node)
            return
        found = inspect.getattr_static(cls, name, None)
        if isinstance(found, property):
            if found.fset is None:
                raise lo.mistake(AttributeError, node, f"the property {name!r} has no setter")
            lo.call(ir.Const(found.fset), [base, value], {}, node)
            return
        put = class_customs.method_of_descriptor(found, "__set__")
        if put is not None:
            inputs.guard_lookup(lo, cls, name, found)
            descriptor = inputs.captured(lo, found, ("static", cls, name), name, node)
            lo.call(ir.Const(put), [descriptor, base, value], {}, node)
            return
        class_customs.refuse_unusual_descriptor(lo, cls, name, found, node)
        if isinstance(base, Ref) and class_customs.has_no_place_for(cls, name):
            lo.stop(ir.Raise(ir.Const(AttributeError), None, lo.span(node)))
            return
    match base:
        case Ref():
            put_attribute(lo, base, name, value, node)
        case ir.Var(type=ir.Instance(cls=owner, fields=fields)):
            _note_field(lo, owner, name)
            if put_each(lo, value, lambda option: set_attribute(lo, base, name, option, node, bare=True), node):
                return
            stored = slot(lo, as_stored(lo, cls, name, value), node)
            grow_field(lo, base, name, stored, node)
            stored = as_tagged(lo, stored, fields.get(name))
            lo.emit(ir.Store(base, ir.Attribute(name), stored, "set", lo.span(node)))
        case ir.Var(type=ir.Reference()):
            _set_attribute_of_linked(lo, base, name, value, node)
        case ir.Var(type=ir.Array() | ir.Number()):
            _set_attribute_of_array(lo, base, name, value, node)
        case Union():
            _set_of_each(lo, base, name, value, node, bare=bare)
        case ir.Const(value=owner) | Closure(function=owner) if isinstance(owner, OWNERS):
            assign(lo, owner, name, value, node)
        case ir.Const():
            raise lo.problem("AD0311", node, f"an attribute of {described(base.value)} is assigned")
        case ir.Var(type=ir.Scalar()) if cls is not None:
            raise lo.mistake(AttributeError, node, f"a value of class {cls.__name__!r} has no attributes of its own")
        case Closure():
            assign_of_local_function(lo, base, name, value, node)
        case _ if is_atom(base):
            if may_carry(lo, value):
                look_where_it_comes_from(lo, base)
            given = materialize(lo, value, node)
            refuse_linked(lo, [given], node)
            if name == "writeable" and given != ir.Const(False):
                refuse_writable_again(lo, base, node)  # type: ignore[arg-type]
            lo.emit(ir.Store(base, ir.Attribute(name), given, "set", lo.span(node)))  # type: ignore[arg-type]
        case _:
            raise lo.problem("AD0301", node, "an attribute of this value cannot be assigned")


def delete_attribute(lo: Lowerer, base: Value, name: str, node: ast.AST | None) -> None:
    """``del base.name``"""
    cls = class_of(lo, base)
    record = lo.store.get(base) if isinstance(base, Ref) else None
    found = None if cls is None else inspect.getattr_static(cls, name, None)
    if isinstance(found, property) and found.fdel is not None:
        lo.call(ir.Const(found.fdel), [base], {}, node)
        return
    is_deleted_by_class = isinstance(getattr(cls, "__delattr__", None), types.FunctionType)
    is_special = is_deleted_by_class or hasattr(type(found), "__delete__")
    if isinstance(base, ir.Var) and isinstance(base.type, ir.Instance) and not is_special:
        lo.at(node)
        if ir.may_vary(base.type.fields.get(name)):
            lo.open.effect(refuse_deletion, base, ir.Const(name))
            return
        note_outside(lo, base)
        base.type.storage.mark_written()
        lo.open.effect(delattr, base, ir.Const(name))
        return
    if not isinstance(record, Record) or is_special:
        raise lo.problem("AD0301", node, "an attribute of this value is deleted")
    if record.get(name) is None:
        raise lo.mistake(AttributeError, node, f"this object has no attribute {name!r} of its own")
    assert isinstance(base, Ref)
    remove_attribute(lo, base, name, node)


def _note_field(lo: Lowerer, cls: type, name: str) -> None:
    """Starts again where a field is assigned of which it was taken for known what it holds."""
    for owner, field in lo.run_data.fields_taken:
        if field == name and (issubclass(owner, cls) or issubclass(cls, owner)):
            lo.settings.fields_assigned.add((owner, name))
            raise Restart


def _set_attribute_of_linked(lo: Lowerer, base: ir.Var, name: str, value: Value, node: ast.AST | None) -> None:
    """``base.name = value`` for an object that others of its class refer to."""
    if put_each(lo, value, lambda option: _set_attribute_of_linked(lo, base, name, option, node), node):
        return
    found = referent(lo, base, node)
    assert isinstance(found.type, ir.Instance)
    stored = slot(lo, as_stored(lo, found.type.cls, name, value), node)
    grow_field(lo, found, name, stored, node)
    part = as_element(lo, stored, found.type.fields.get(name))
    lo.emit(ir.Store(found, ir.Attribute(name), part, "set", lo.span(node)))


def _set_of_each(lo: Lowerer, base: Union, name: str, value: Value, node: ast.AST | None, *, bare: bool) -> None:
    """``base.name = value`` for one of several structures."""

    def write(option: Value) -> Value:
        set_attribute(lo, option, name, value, node, bare=bare)
        return NONE

    on_each_option(lo, base, write, node)


_SET_OF_ARRAYS = ("real", "imag", "shape", "strides", "dtype", "data", "flat")
"""What NumPy lets assign: its arrays have no other attributes."""


def _set_attribute_of_array(lo: Lowerer, array: ir.Var, name: str, value: Value, node: ast.AST | None) -> None:
    """``array.name = value``: for a part of the array, a store into it; for its shape, another array for its names."""
    if name == "shape" and isinstance(array.type, ir.Array) and isinstance(node, ast.Attribute):
        cells = names_of_object(lo, array)
        if cells is not None and not any(outlives_the_call(lo, cell) for cell in cells):
            changed = lo.call(ir.Const(np.reshape), [array, value], {}, node)
            for cell in cells:
                bind_anew(lo, cell, changed, node)
            return
    if name not in _SET_OF_ARRAYS:
        raise lo.mistake(AttributeError, node, f"the attribute {name!r} of an array cannot be assigned", name=name)
    if name not in ("real", "imag") or isinstance(array.type, ir.Number):
        helps = ("make a view of another shape: b = a.reshape(shape)",) if name == "shape" else ()
        raise lo.problem("AD0303", node, f"the attribute {name!r} of an array is assigned", helps=helps)
    dtype = array.type.dtype if isinstance(array.type, ir.Array) else None
    if name == "imag" and dtype is not None and dtype.kind != "c":
        raise lo.mistake(TypeError, node, f"an array of {dtype} has no imaginary part to set")
    set_item(lo, attribute(lo, array, name, node), ELLIPSIS, value, node)


# Attributes of functions, classes and modules that the program assigns: variables that outlive the call.
#
# Those of functions and classes that are defined inside the call are variables of the call.


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
