"""Reversing what changes memory: stores, and lists that grow and shrink.

A store moves a cotangent: what the slot's shadow holds belongs to the value that was stored, and before the store the
slot held something else, on which nothing that follows depends. Where the slot holds a reference, its shadow is put
back instead.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.differentiation.memory.structural import object_display
from adjoint.differentiation.reverse.memory.overwritten_values import content_key, refuse_lost_reference
from adjoint.differentiation.reverse.memory.repeated_indices import accumulation, leaves_out
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.array_functions.places import numbered
from adjoint.runtime.copies import owned
from adjoint.runtime.objects import attribute_or_none, make_object
from adjoint.runtime.tangents import shadow_or_zeros

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.context import Context
    from adjoint.differentiation.reverse.cotangents import Scope
    from adjoint.differentiation.reverse.region import Sweep
    from adjoint.differentiation.reverse.statements import Reverser


def reverse_change(reverser: Reverser, statement: ir.Store | ir.Call, scope: Scope) -> None:
    """Reverses a statement that changes memory: a store, or a call that makes a list longer or shorter."""
    if isinstance(statement, ir.Store):
        _reverse_store(reverser, statement, scope)
    else:
        _reverse_change_of_container(reverser, statement, scope)


def _reverse_store(reverser: Reverser, store: ir.Store, scope: Scope) -> None:
    """Moves the cotangent of what was stored to the value that was stored."""
    base = store.base
    if not isinstance(base, ir.Var) or not reverser.active(base) or reverser.is_idle(store):
        return
    if not ir.is_handle(base.type):
        raise AssertionError(f"{base!r} is written, but its type says that it is not")
    if isinstance(base.type, ir.Array):
        _array(reverser, store, base, scope)
    elif isinstance(store.value, ir.Var) and ir.is_handle(store.value.type):
        if _holds_values(base) and reverser.active(store.value):
            label = "an array that is written is put where numbers are, too"
            reverser.context.problem("AD0303", store.span, label)
        elif reverser.active(store.value) or reverser.shadows.takes_unused_shadow(store, base):
            _reference(reverser, store, base, scope)
    elif not _holds_text(base, store.key):
        _slot(reverser, store, base, scope)


def _holds_text(base: ir.Var, key: ir.Key | None) -> bool:
    """Whether an attribute of an object is text, of which its shadow has nothing."""
    if not (isinstance(base.type, ir.Instance) and isinstance(key, ir.Attribute)):
        return False
    kind = base.type.fields.get(key.name)
    return isinstance(kind, ir.Opaque) and kind.cls in (str, bytes)


def _array(reverser: Reverser, store: ir.Store, base: ir.Var, scope: Scope) -> None:
    sweep, shadow = scope.sweep, reverser.shadows.of(base)
    key = None if store.key is None else content_key(reverser, store.key, store)
    moved = reverser.active(store.value)
    replaced = store.mode == "set"
    if replaced and leaves_out(reverser.context, base, store.key):
        reverser.supports.partial.add(shadow)
    if moved:
        assert isinstance(base.type, ir.Array)
        check = reverser.context.float_checks.check(store)
        if check is not None:
            reverser.context.edits.put_before(store, check)
        repeats = store.key is not None and accumulation(reverser.context, store.key) == "add_at"
        if replaced and key is not None and repeats:
            held = _held_by_last(scope, shadow, key, base.type)
        else:
            held = _held(scope, shadow, key, base.type, copy=replaced or store.mode == "add")
        if isinstance(held, ir.Var) and shadow in reverser.supports.partial:
            reverser.supports.partial.add(held)
    # A reference may be to the very memory that is written: then what is cleared is what it is to receive.
    clears_first = replaced and isinstance(store.value, ir.Var) and ir.is_handle(store.value.type)
    if replaced and clears_first:
        assert key is not None
        sweep.store(shadow, key, ir.Const(0.0), "set")
    if moved:
        reverser.add(scope, store.value, held, negative=store.mode == "sub")
    if replaced and not clears_first:
        assert key is not None
        sweep.store(shadow, key, ir.Const(0.0), "set")


def _held(scope: Scope, shadow: ir.Var, key: ir.Key | None, type_: ir.Array, *, copy: bool) -> ir.Atom:
    """What a part of a shadow holds, in memory of its own where it is to be changed later."""
    sweep = scope.sweep
    if key is None:
        return sweep.call(np.copy, shadow, hint="held") if copy else shadow
    held = sweep.load(shadow, key, element_type(type_, key), "t_bar")
    return owned_value(sweep, held) if copy else held


def owned_value(sweep: Sweep, value: ir.Atom) -> ir.Atom:
    """A value in memory of its own, so that what it was taken from may be written; a number is no memory."""
    match type_of_atom(value):
        case ir.Scalar():
            return value
        case ir.Array():
            return sweep.call(np.copy, value, hint="t_bar")
        case _:  # a number or an array: the running program tells
            return sweep.call(owned, value, hint="t_bar")


def _held_by_last(scope: Scope, shadow: ir.Var, key: ir.Key, type_: ir.Array) -> ir.Atom:
    """What a part of a shadow holds, where an index may name a place twice: the last value that was stored has it."""
    sweep = scope.sweep
    order, numbers = ir.Var("order", _numbers(type_.dims, written=True)), ir.Var("numbers", _numbers(None))
    sweep.emit(ir.Call((order,), np.empty_like, (shadow, ir.Const(int)), (), sweep.span))
    selected = sweep.load(order, key, _numbers(None), "numbers")
    sweep.emit(ir.Call((numbers,), numbered, (selected,), (), sweep.span))
    sweep.store(order, key, numbers, "set")
    last = ir.Var("last", ir.Array(np.dtype(bool), None))
    kept = sweep.load(order, key, _numbers(None), "last")
    sweep.emit(ir.Call((last,), operator.eq, (kept, numbers), (), sweep.span))
    held = sweep.load(shadow, key, element_type(type_, key), "t_bar")
    return sweep.call(np.where, last, held, ir.Const(0.0), hint="t_bar")


def _numbers(dims: tuple[ir.Dim, ...] | None, *, written: bool = False) -> ir.Array:
    return ir.Array(np.dtype(np.intp), dims, ir.Storage(written=written))


def element_type(type_: ir.Array, key: ir.Key) -> ir.Type:
    """The type of ``array[key]``, as far as the key's form tells."""
    assert isinstance(key, ir.Subscript)
    whole = all(not isinstance(item, ir.Slice) and _is_whole_number(type_of_atom(item)) for item in key.items)
    if whole and type_.dims is not None and len(key.items) == len(type_.dims):
        is_complex = type_.dtype is not None and type_.dtype.kind == "c"
        return ir.Scalar("complex" if is_complex else "float", type_.dtype)
    if whole and type_.dims is None:
        return ir.Number()
    return ir.Array(type_.dtype, None)


def _is_whole_number(type_: ir.Type | None) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind == "int"


def _slot(reverser: Reverser, store: ir.Store, base: ir.Var, scope: Scope) -> None:
    """A number or an unwritten array in a container."""
    sweep, shadow = scope.sweep, reverser.shadows.of(base)
    if store.key is None:
        reverser.context.problem("AD0303", store.span, "a whole container is changed in place")
        return
    key = content_key(reverser, store.key, store)
    value = store.value
    type_ = type_of_atom(value)
    assert type_ is not None
    scalar = isinstance(type_, ir.Scalar)
    held = sweep.load(shadow, key, type_ if scalar else reverser.shadows.type_of(type_), "t_bar")
    if store.mode == "set":
        zero: ir.Atom = ir.Const(0.0)
        if not scalar:
            old = ir.Var("old", ir.Number() if _may_be_missing(base, store.key, reverser.context) else type_)
            reverser.keep_before(store, old, _read(old, base, store.key, reverser.context))
            zero = sweep.call(zeros_like, old, hint="t_bar")
        sweep.store(shadow, key, zero, "set")
        reverser.add(scope, value, held)
    else:  # the slot keeps its array, to which others add
        reverser.add(scope, value, owned_value(sweep, held), negative=store.mode == "sub")


def _reference(reverser: Reverser, store: ir.Store, base: ir.Var, scope: Scope) -> None:
    """A reference in a container: its shadow was put beside it, and what was there before is put back."""
    assert store.key is not None and isinstance(store.value, ir.Var)
    shadow = reverser.shadows.of(base)
    old = ir.Var("old_bar", reverser.shadows.type_of(store.value.type))
    reverser.keep_before(store, old, _read(old, shadow, store.key, None))
    reverser.context.forward_shadows.add(old)
    scope.sweep.store(shadow, content_key(reverser, store.key, store), old, "set")


def _read(target: ir.Var, base: ir.Var, key: ir.Key, context: Context | None) -> ir.Statement:
    """What a slot holds; None where a dict has no such key yet, or an object no such attribute."""
    if not _may_be_missing(base, key, context):
        return ir.Load(target, base, key)
    if isinstance(key, ir.Attribute):
        return ir.Call((target,), attribute_or_none, (base, ir.Const(key.name)))
    return ir.Call((target,), dict.get, (base, *(item for item in key.items if not isinstance(item, ir.Slice))))


def _may_be_missing(base: ir.Var, key: ir.Key, context: Context | None) -> bool:
    """Whether a slot may be filled for the first time.

    Shadows, for which there is no ``context``, have a slot for each attribute.
    """
    if isinstance(key, ir.Attribute):
        return context is not None and _may_lack(context, base, key.name)
    return isinstance(base.type, ir.Dict)


def _may_lack(context: Context, base: ir.Var, name: str) -> bool:
    """Whether an attribute may be assigned for the first time: some object that this may be was made without it.

    Of those that callers make in functions that call themselves, nothing is known.
    """
    assert isinstance(base.type, ir.Instance)
    home = base.type.storage.find()
    if any(home in map(ir.Storage.find, ir.storages(param.type)) for param in context.function.params):
        return True
    for statement in statements_in(context.function.body):
        if isinstance(statement, ir.Call) and statement.callee is make_object:
            (made,) = statement.targets
            if made.type.storage.find() is home and name not in object_display(statement)[1]:  # type: ignore[attr-defined]
                return True
    return False


def _holds_values(base: ir.Var) -> bool:
    """Whether a container holds what may be numbers or arrays: of these, no reference is known."""
    match base.type:
        case ir.List(element=part) | ir.Dict(value=part):
            return isinstance(part, ir.Number)
        case _:
            return False


def _reverse_change_of_container(reverser: Reverser, call: ir.Call, scope: Scope) -> None:
    """The reverse of putting an item into a list is taking it out there, and the other way round.

    That of ``dict.pop`` is a store.
    """
    base, *place = call.args
    if not isinstance(base, ir.Var) or not reverser.active(base):
        return
    sweep, shadow = scope.sweep, reverser.shadows.of(base)
    if call.callee in (list.append, list.insert):
        value = place.pop()
        moved = reverser.active(value) and not reverser.is_idle(call)
        if moved and isinstance(value, ir.Var) and (not ir.is_handle(value.type) or _holds_values(base)):
            refuse_lost_reference(reverser, call, value)
            held = ir.Var(
                f"{value.hint}_bar", ir.Number() if _holds_values(base) else reverser.shadows.type_of(value.type)
            )
            sweep.emit(ir.Call((held,), list.pop, (shadow, *place), (), call.span))
            if ir.may_be_whole(value.type):
                held = sweep.call(shadow_or_zeros, held, value, hint=held.hint)
            reverser.add(scope, value, held)
        else:
            sweep.effect(list.pop, shadow, *place)
        return
    if call.callee is dict.pop:
        key = content_key(reverser, ir.Subscript(tuple(place)), call)
        back = _cotangent_of_taken(reverser, call, base, scope)
        sweep.store(shadow, key, back, "set")
        return
    back = _cotangent_of_taken(reverser, call, base, scope)
    sweep.effect(list.insert if place else list.append, shadow, *place, back)


def _cotangent_of_taken(reverser: Reverser, call: ir.Call, base: ir.Var, scope: Scope) -> ir.Atom:
    """The cotangent of what a call takes out of a container: what its slot holds from there on."""
    sweep = scope.sweep
    back: ir.Atom = ir.Const(0.0)
    element = base.type.element if isinstance(base.type, ir.List) else getattr(base.type, "value", None)
    if call.targets:
        (target,) = call.targets
        if ir.is_handle(target.type):
            back = reverser.shadows.found.get(target, ir.Const(None))
        else:
            taken = reverser.take(scope, target)
            back = reverser.context.zero(sweep, target) if taken is None else taken
            if taken is not None:
                back = owned_value(sweep, back)
    elif not isinstance(element, ir.Scalar):
        reverser.context.problem("AD0303", call.span, "what is taken out of the container here is not named")
    return back
