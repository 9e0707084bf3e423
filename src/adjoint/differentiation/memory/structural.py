"""Calls that only move things about: what they do to a container, they do to its shadow.

A structural call is repeated on shadows. Each argument plays a role: a container stands for its shadow, an item for
its tangent, anything else (an index, a key) for itself.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any, Literal

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.runtime import copies, display, objects, tangents
from adjoint.types.structure import float_fields, is_namedtuple_class

Role = Literal["container", "item", "same"]

_ROLES: dict[Any, tuple[Role, ...]] = {
    list.append: ("container", "item"),
    list.insert: ("container", "same", "item"),
    list.extend: ("container", "container"),
    list.pop: ("container", "same"),
    list.clear: ("container",),
    list.reverse: ("container",),
    list.copy: ("container",),
    dict.get: ("container", "same", "item"),
    dict.pop: ("container", "same", "item"),
    dict.setdefault: ("container", "same", "item"),
    dict.update: ("container", "container"),
    dict.copy: ("container",),
    dict.clear: ("container",),
    copy.copy: ("container",),
    copies.snapshot: ("container",),
    operator.getitem: ("container", "same"),
    operator.concat: ("container", "container"),
    list: ("container",),
    tuple: ("container",),
    reversed: ("container",),
    objects.attribute_or_none: ("container", "same"),
    tangents.pour: ("container", "container"),
}
_ON_LISTS: dict[Any, tuple[Role, ...]] = {operator.add: ("container", "container"), operator.mul: ("container", "same")}
_ITEMS: tuple[Role, ...] = ("item",)
_IN_TURN: tuple[Role, ...] = ("same", "item")
_CLASS_AND_NAMES: tuple[Role, ...] = ("same", "same")
_SHADOW_CALLEE: dict[Any, Any] = {tuple: list, operator.concat: operator.add}


def roles_of(call: ir.Call, is_container: Callable[[Any], bool]) -> tuple[Role, ...] | None:
    """The roles of the positional arguments of a structural call; None for any other call.

    Parameters
    ----------
    call
        The call.
    is_container
        Whether an atom is a list, tuple, dict or object at run time.
    """
    callee, count = call.callee, len(call.args)
    if callee in (display.make_list, display.make_tuple) or is_namedtuple_class(callee):
        return _ITEMS * count
    if callee in tangents.LAYOUTS:
        return ("item", "same")
    if callee is display.make_dict:
        return _IN_TURN * (count // 2)
    if is_object_display(callee):
        return (*_CLASS_AND_NAMES, *_ITEMS * (count - 2))
    try:
        roles = _ROLES.get(callee)
        if roles is None and call.args and is_container(call.args[0]) and not any(map(_is_array, call.args)):
            roles = _ON_LISTS.get(callee)
    except TypeError:  # not hashable
        return None
    if roles is None or not call.args or call.kwargs or count > len(roles):
        return None
    return roles[:count] if is_container(call.args[0]) else None


def as_store(call: ir.Call) -> ir.Store | None:
    """What a call stores that adds to a slot of which it is not known whether it holds a number or an array."""
    if call.callee is tangents.add_to_slot:
        key: ir.Key = ir.Subscript((call.args[1],))
    elif call.callee is tangents.add_to_field:
        name = call.args[1]
        assert isinstance(name, ir.Const)
        key = ir.Attribute(name.value)
    else:
        return None
    return ir.Store(call.args[0], key, call.args[2], "add", call.span)


def _is_array(atom: Any) -> bool:
    """Whether NumPy answers for an operator."""
    return isinstance(getattr(atom, "type", None), (ir.Array, ir.Number))


def shadow_callee(call: ir.Call) -> Any:
    """What makes the shadow of a structural call's result."""
    callee = call.callee
    if callee is display.make_tuple or is_namedtuple_class(callee):
        return display.make_list
    return _SHADOW_CALLEE.get(callee, callee)


def is_object_display(callee: Any) -> bool:
    """Whether ``callee(cls, names, *values)`` makes an object with these fields."""
    return getattr(callee, "__name__", "") == "make_object" and callee.__module__ == "adjoint.runtime.objects"


def counts_as_float(call: ir.Call, place: int) -> bool:
    """Whether an argument of the display of an object is a whole number in a field of floats."""
    cls, names = object_display(call)
    return place > 1 and type_of_atom(call.args[place]) == ir.INT and names[place - 2] in float_fields(cls)


def object_display(call: ir.Call) -> tuple[type, tuple[str, ...]]:
    """The class and the field names of the object that a call makes."""
    cls, names = call.args[0], call.args[1]
    assert isinstance(cls, ir.Const)
    assert isinstance(names, ir.Const)
    return cls.value, tuple(names.value)
