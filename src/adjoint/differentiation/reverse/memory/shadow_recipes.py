"""How shadows are made: zeros beside what is allocated, the same view of a shadow, a display of the parts' shadows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import own_memory, parts
from adjoint.differentiation.memory.late_fields import assigned_attributes, may_be_missing
from adjoint.differentiation.memory.slots import type_of_slot
from adjoint.differentiation.reverse.context import Context
from adjoint.differentiation.reverse.memory.gathers import REORDERED, copies, is_gathered
from adjoint.differentiation.reverse.memory.overwritten_values import Writes
from adjoint.ir.join import memory_pairs, type_of_atom
from adjoint.ir.walk import operands, targets_of
from adjoint.rules.kinds import Constant
from adjoint.rules.registry import rule_for
from adjoint.runtime import display, tangents
from adjoint.runtime.array_functions import places
from adjoint.runtime.array_functions.arrays import zeros_in_memory, zeros_like
from adjoint.runtime.objects import make_object
from adjoint.types import tangent_class

VIEWS = (*REORDERED, np.real, tangents.shadow_or_zeros)
"""Functions whose result is always a view, without overlap."""
DETACHED = (np.broadcast_to, np.broadcast_arrays, np.lib.stride_tricks.sliding_window_view, np.imag, places.strided)
"""Functions of which the same view of the shadow is no shadow: elements share memory, or have another sign."""
DISPLAYS = (display.make_list, display.make_tuple, display.make_dict, make_object)


class ShadowRecipes:
    """How the shadow of what a statement gives is made of the shadows of what it is given."""

    def __init__(self, context: Context, writes: Writes) -> None:
        self.context = context
        self.writes = writes
        self.detached: set[ir.Var] = set()
        self.layouts_read: set[ir.Storage] | None = None
        self.assigned: frozenset[str] | None = None
        self.found: dict[ir.Var, ir.Var] = {}
        self.storages: dict[ir.Storage, ir.Storage] = {}
        self.of_tuples = ir.Storage(written=True)
        self.sharing: dict[ir.Var, ir.Var] = {}
        self.forward: set[ir.Var] = set()

    def of(self, var: ir.Var) -> ir.Var:
        """The shadow of a reference."""
        return self.found[var]

    def type_of(self, type_: ir.Type) -> ir.Type:
        """The type of the shadow of a reference, or of the slot that holds a cotangent."""
        match type_:
            case ir.Array(dtype=dtype, dims=dims):
                return ir.Array(dtype, dims, self.storage(type_.storage))
            case ir.List(element=element, storage=storage):
                return ir.List(None if element is None else self.type_of(element), self.storage(storage))
            case ir.PerPlace(items=items):
                return ir.PerPlace(tuple(map(self.type_of, items)))
            case ir.Tuple(items=items):
                return ir.List(_common(tuple(map(self.type_of, items))), self.of_tuples)
            case ir.Dict(value=value, storage=storage):
                return ir.Dict(None if value is None else self.type_of(value), self.storage(storage))
            case ir.Instance(cls=cls, fields=fields, storage=storage):
                inner = {name: self.type_of(field) for name, field in fields.items()}
                return ir.Instance(cls, inner, self.storage(storage))
            case _:
                return type_

    def storage(self, storage: ir.Storage) -> ir.Storage:
        return self.storages.setdefault(storage.find(), ir.Storage(written=True))

    def note_memory(self, type_: ir.Type | None, of_shadow: ir.Type | None) -> None:
        """Takes down in which memory a shadow lies that is there already: views of it lie in there, too."""
        for memory, shadow in memory_pairs(type_, of_shadow):
            self.storages.setdefault(memory, shadow)

    def zeros(self, var: ir.Var, shadow: ir.Var) -> ir.Call:
        """A zero shadow for memory as it is."""
        if isinstance(var.type, ir.Array):
            known = ir.is_float_dtype(var.type.dtype) and not self.context.may_be_undefined(var)
            layout = zeros_in_memory if var.type.dims is None else zeros_like
            return ir.Call((shadow,), np.zeros_like if known and not self.layout_shows(var) else layout, (var,))
        binding = self.context.regions.bindings[var]
        given = binding.statement is None and binding.region.kind == "top"
        return self.of_given(var, shadow) if given else ir.Call((shadow,), _maker(var.type), (var,))

    def of_given(self, var: ir.Var, shadow: ir.Var) -> ir.Call:
        """The zero shadow of a parameter, with places for attributes that its objects may be assigned first here."""
        if self.assigned is None:
            self.assigned = assigned_attributes(self.context.function)
        missing = may_be_missing(var.type, self.assigned)
        maker = _maker(var.type) if missing or _is_assigned(var.type) else tangents.shadow
        if not missing:
            return ir.Call((shadow,), maker, (var,))
        of_values = (ir.Const(None), ir.Const(True)) if maker is tangents.shadow_of_values else ()
        return ir.Call((shadow,), tangents.shadow_with, (var, ir.Const(missing), *of_values))

    def layout_shows(self, var: ir.Var) -> bool:
        """Whether views of an array are views where it lies as it takes, backwards too."""
        if ir.has_one_layout(var.type):
            return False
        if self.layouts_read is None:
            from adjoint.analysis.memory.array_layout import layouts_read  # lazy

            self.layouts_read = layouts_read(self.context.function)
        return own_memory(var.type) in self.layouts_read

    def recipes(
        self, var: ir.Var, shadow: ir.Var, statement: ir.Call | ir.Load, *, at_end: bool = False
    ) -> list[ir.Statement]:
        """How the shadow of what a statement gives is made; ``at_end``: after the memory's last change."""
        may_be_empty = (
            isinstance(statement, ir.Load)
            and not isinstance(type_of_atom(statement.base), ir.Array)  # a view of a shadow is always there
            and ir.may_be_whole(var.type)
            and not is_gathered(statement)
        )
        slot = ir.Var(shadow.hint, shadow.type) if may_be_empty else shadow
        recipe = self.recipe(var, slot, statement, at_end=at_end)
        if recipe is None:
            return []
        return [recipe, ir.Call((shadow,), tangents.shadow_or_zeros, (slot, var))] if may_be_empty else [recipe]

    def recipe(self, var: ir.Var, shadow: ir.Var, statement: ir.Call | ir.Load, *, at_end: bool) -> ir.Statement | None:
        """The same where nothing is missing in a slot; None where the shadow is made elsewhere, or refused."""
        if isinstance(statement, ir.Load):
            base = statement.base
            assert isinstance(base, ir.Var)
            if is_gathered(statement):
                return self.gather(var, shadow, statement)
            if base not in self.found:  # nothing that varies is in there: a call may hand it on beside what does
                return self.zeros(var, shadow)
            return ir.Load(shadow, self.of(base), statement.key, statement.span)
        if isinstance(statement.callee, ir.Definition):
            return None  # the call gives the shadow, too
        if isinstance(statement.callee, ir.Surgery):
            base = statement.args[statement.targets.index(var)]
            assert isinstance(base, ir.Var)
            return ir.Load(shadow, self.of(base), ir.WHOLE, statement.span)
        rule = rule_for(statement.callee)
        view = rule.view_of if rule is not None else None
        if view is not None and isinstance(statement.args[view], ir.Var) and self.shares(var, statement.args[view]):
            return self.view(var, shadow, statement, view)
        from adjoint.differentiation.memory.constant_views import UNSURE, is_unsure  # lazy

        if is_unsure(statement, self.context.function):
            self.context.problem("AD0303", statement.span, UNSURE)
            return None
        held = statement.args[1::2] if statement.callee is display.make_dict else operands(statement)
        parts = [atom for atom in held if isinstance(atom, ir.Var) and atom in self.found]
        if statement.callee in DISPLAYS and (parts or not at_end or _is_tuple_of_floats(statement)):
            return self.display(shadow, statement)
        from adjoint.differentiation.reverse.memory.forward_shadows import POPS  # lazy

        if statement.callee in POPS:
            taken = self.taken_like(statement, (shadow,))
            if taken is not None:
                return taken
            self.context.problem("AD0303", statement.span, "a reference is taken out of a container")
            return None
        return self.zeros(var, shadow)

    def taken_like(self, call: ir.Call, targets: tuple[ir.Var, ...]) -> ir.Call | None:
        """The same taken out of a container's shadow: an item of a list, the entry of a key; else None."""
        base, *key = call.args
        takes = call.callee is list.pop or (call.callee is dict.pop and len(key) == 1)
        if not takes or not isinstance(base, ir.Var):
            return None
        return ir.Call(targets, call.callee, (self.of(base), *key), (), call.span)

    def gather(self, var: ir.Var, shadow: ir.Var, load: ir.Load) -> ir.Statement | None:
        """The shadow of what was picked out by masks or integer arrays: memory of its own, as that itself is."""
        if not copies(load.key):
            from adjoint.differentiation.memory.constant_views import UNSURE  # lazy

            self.context.problem("AD0303", load.span, UNSURE)
            return None
        return self.zeros(var, shadow)

    def shares(self, var: ir.Var, base: ir.Atom) -> bool:
        return isinstance(base, ir.Var) and base in self.found and own_memory(var.type) is own_memory(base.type)

    def view(self, var: ir.Var, shadow: ir.Var, statement: ir.Call, place: int) -> ir.Statement | None:
        """The same view of the shadow; where the operation copies at need, the array itself is asked what it did."""
        base = statement.args[place]
        assert isinstance(base, ir.Var)
        if statement.callee in DETACHED or isinstance(rule_for(statement.callee), Constant):
            return self.detach(var, shadow, statement)
        callee = _writable(statement.callee)
        args = (*statement.args[:place], self.of(base), *statement.args[place + 1 :])
        if statement.callee in VIEWS:
            return ir.Call((shadow,), callee, args, statement.kwargs, statement.span)
        shares = self.shares_memory(var, base, statement)
        inner, zeros = ir.Var(shadow.hint, shadow.type), ir.Var(shadow.hint, shadow.type)
        same: ir.Statement = ir.Call((inner,), callee, args, statement.kwargs, statement.span)
        if statement.callee is tangents.follow_view:
            same = ir.Load(inner, self.of(base), ir.WHOLE, statement.span)
        then, orelse = ir.Block((same,), ir.Yield((inner,))), ir.Block((self.zeros(var, zeros),), ir.Yield((zeros,)))
        return ir.If(shares, then, orelse, (shadow,), statement.span)

    def detach(self, var: ir.Var, shadow: ir.Var, statement: ir.Call) -> ir.Statement | None:
        """A shadow of its own: the view is a value, as long as its array stays."""
        if self.writes.after(statement, var.type.storage):  # type: ignore[attr-defined]
            label = "this is a view that is followed as a value only, and the array is written later"
            self.context.problem("AD0303", statement.span, label)
            return None
        self.detached.add(var)
        return self.zeros(var, shadow)

    def shares_memory(self, var: ir.Var, base: ir.Var, statement: ir.Call) -> ir.Var:
        """Whether an array that an operation gave is a view: a variable of the forward region."""
        if var not in self.sharing:
            shares = self.sharing[var] = ir.Var("shares", ir.BOOL)
            binding = self.context.regions.bindings[var]
            self.context.regions.bind(shares, binding.region, None, binding.block)
            self.context.anchors[shares] = statement, True
            make = ir.Call((shares,), np.may_share_memory, (var, base), (), statement.span)
            if var in self.forward:
                self.context.edits.put_after(statement, make)
            else:
                self.context.copies[shares] = make
        return self.sharing[var]

    def display(self, shadow: ir.Var, statement: ir.Call) -> ir.Statement | None:
        if statement.callee is make_object:
            return self.object_display(shadow, statement)
        args = []
        for place, atom in enumerate(statement.args):
            is_key = statement.callee is display.make_dict and place % 2 == 0
            slot = atom if is_key else self.empty_slot(atom, statement, _type_held(statement, place))
            counts = statement.callee is display.make_tuple and isinstance(type_of_atom(atom), ir.Scalar)
            args.append(ir.Const(0.0) if counts and slot == ir.Const(None) else slot)
        callee = display.make_list if statement.callee is display.make_tuple else statement.callee
        return ir.Call((shadow,), callee, tuple(args), (), statement.span)

    def object_display(self, shadow: ir.Var, statement: ir.Call) -> ir.Statement:
        cls, names, *parts = statement.args
        made = _result(statement)
        assert isinstance(cls, ir.Const)
        assert isinstance(names, ir.Const)
        floats = _fields_of_floats(made)
        later = [name for name in made.type.fields if name not in names.value]  # type: ignore[attr-defined]
        late = bool(later) or any(
            _has_no_slot(atom) for name, atom in zip(names.value, parts, strict=True) if name in floats
        )
        maker = _maker(made.type)
        of_values = maker is tangents.shadow_of_values
        known = late or all(
            _has_known_zeros(type_of_atom(atom)) or (of_values and self.is_of_floats(atom)) for atom in parts
        )
        if not known and not any(atom in self.found for atom in parts if isinstance(atom, ir.Var)):
            return ir.Call((shadow,), maker, (made,), (), statement.span)
        from adjoint.differentiation.memory.structural import counts_as_float  # lazy

        slots = [
            ir.Const(0.0)
            if name in floats or counts_as_float(statement, place)
            else self.empty_slot(atom, statement, made.type.fields.get(name))  # type: ignore[attr-defined]
            for place, (name, atom) in enumerate(zip(names.value, parts, strict=True), 2)
        ]
        all_names = ir.Const((*names.value, *later))
        slots += [ir.Const(0.0 if name in floats else None) for name in later]
        return ir.Call(
            (shadow,), make_object, (ir.Const(tangent_class(cls.value)), all_names, *slots), (), statement.span
        )

    def is_of_floats(self, atom: ir.Atom) -> bool:
        """Whether a value is an array of floats, and surely there."""
        if not isinstance(atom, ir.Var) or not isinstance(atom.type, ir.Array) or self.context.may_be_undefined(atom):
            return False
        return atom.type.dtype is not None and ir.is_float_dtype(atom.type.dtype)

    def empty_slot(self, atom: ir.Atom, statement: ir.Statement, held: ir.Type | None) -> ir.Atom:
        """What a new slot of a shadow holds, in a place for values of the type ``held``."""
        type_ = type_of_atom(atom)
        if isinstance(type_, ir.Tuple) and atom not in self.found and (ir.may_vary(type_) or ir.may_vary(held)):
            return self.unused_shadow(atom, self.type_of(type_), statement)
        if not isinstance(atom, ir.Var):
            return ir.Const(0.0) if isinstance(atom, ir.Const) and isinstance(atom.value, float) else ir.Const(None)
        if atom in self.found:
            return self.found[atom]
        match atom.type:
            case ir.Scalar(kind="float" | "complex"):
                return ir.Const(0.0)
            case ir.Array(dtype=dtype) if dtype is None or ir.is_float_dtype(dtype):
                zeros = ir.Var(f"{atom.hint}_bar", self.type_of(ir.Array(dtype, atom.type.dims)))
                return self.made_beside(statement, ir.Call((zeros,), zeros_like, (atom,)))
            case ir.Number():
                zeros = ir.Var(f"{atom.hint}_bar", atom.type)
                return self.made_beside(statement, ir.Call((zeros,), zeros_like, (atom,)))
            case ir.List() | ir.Dict() | ir.Instance() if ir.may_vary(atom.type):
                return self.unused_shadow(atom, self.type_of(atom.type), statement)
            case _:
                return ir.Const(None)

    def unused_shadow(self, atom: ir.Atom, type_: ir.Type, statement: ir.Statement) -> ir.Var:
        """A shadow of what does not vary: what is beside it in the same container may, and both are read alike."""
        unused = ir.Var(f"{getattr(atom, 'hint', 't')}_bar", type_)
        like = type_of_atom(atom)
        if isinstance(like, ir.Tuple) and _has_known_zeros(like):
            slots = (ir.Const(0.0),) * len(like.items)
            return self.made_beside(statement, ir.Call((unused,), display.make_list, slots))
        return self.made_beside(statement, ir.Call((unused,), tangents.shadow_like, (atom,)))

    def made_beside(self, statement: ir.Statement, make: ir.Call) -> ir.Var:
        """What a new slot holds, made right after the statement that makes the container; the reverse may read it."""
        (made,) = make.targets
        context = self.context
        context.regions.bind_beside(made, statement)
        context.anchors[made] = statement, True
        context.forward_shadows.add(made)
        context.edits.put_after(statement, make)
        return made


def _has_known_zeros(type_: ir.Type | None) -> bool:
    """Whether zeros beside a value are made without a look at it: it is a number, or a tuple of numbers."""
    return all(isinstance(part, ir.Scalar) for part in (type_.items if isinstance(type_, ir.Tuple) else (type_,)))


def _is_tuple_of_floats(statement: ir.Call) -> bool:
    """Whether the zeros beside what a statement makes are known without a look at it."""
    types = map(type_of_atom, statement.args)
    return statement.callee is display.make_tuple and all(
        isinstance(type_, ir.Scalar) and type_.kind == "float" for type_ in types
    )


def _type_held(statement: ir.Call, place: int) -> ir.Type | None:
    """What type the place is of in which a display has its argument."""
    type_ = _result(statement).type
    if isinstance(type_, ir.Tuple):
        return type_.items[place]
    return type_of_slot(type_, None)


def _fields_of_floats(made: ir.Var) -> set[str]:
    """The attributes whose slots hold a cotangent from the start, whatever the object holds there when it is made."""
    assert isinstance(made.type, ir.Instance)
    fields = made.type.fields.items()
    return {name for name, type_ in fields if isinstance(type_, ir.Scalar) and ir.carries_derivative(type_)}


def _has_no_slot(atom: ir.Atom) -> bool:
    """Whether an attribute holds nothing at first of which a zero could be made."""
    return isinstance(atom, ir.Const) and atom.value is None


def _writable(view: Any) -> Any:
    """What gives the same view as a function, but one that can be written."""
    if view is not np.diagonal and view is not np.diag:
        return view

    return places.diagonal if view is np.diagonal else places.diag


def _is_assigned(type_: ir.Type) -> bool:
    """Whether slots of containers are assigned, so that one array may come to lie in several."""
    parts = [part for part in _all_parts(type_) if isinstance(part, (ir.List, ir.Dict, ir.Instance))]
    return any(part.storage.find().written for part in parts)


def _maker(type_: ir.Type) -> Any:
    """What makes the zero shadow of memory that the function makes: arrays that are written are shared as they are."""
    arrays = [part for part in _all_parts(type_) if isinstance(part, (ir.Array, ir.Number))]
    written = any(isinstance(array, ir.Array) and array.storage.written for array in arrays)
    return tangents.shadow_of_values if arrays and not written else tangents.shadow


def _all_parts(type_: ir.Type) -> Iterator[ir.Type]:
    yield type_
    for part in parts(type_):
        yield from _all_parts(part)


def _common(parts: tuple[ir.Type, ...]) -> ir.Type | None:
    """The type of the slots of a tuple's shadow; None where it has none."""
    if not parts:
        return None
    return parts[0] if all(part == parts[0] for part in parts[1:]) else ir.PerPlace(parts)


def _result(statement: ir.Statement) -> ir.Var:
    (target,) = targets_of(statement)
    return target
