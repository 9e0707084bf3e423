"""How shadows are made: zeros beside what is allocated, the same view of a shadow, a display of the parts' shadows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.analysis.memory.reachable import own_memory, parts
from adjoint.differentiation.reverse.context import Context
from adjoint.differentiation.reverse.memory.gathers import REORDERED, copies, is_gathered
from adjoint.differentiation.reverse.memory.overwritten_values import Writes
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Atom,
    Block,
    Call,
    Const,
    Definition,
    If,
    Load,
    Statement,
    Subscript,
    Surgery,
    Var,
    Yield,
)
from adjoint.ir.types import (
    BOOL,
    Array,
    Dict,
    Instance,
    List,
    Number,
    PerPlace,
    Scalar,
    Storage,
    Tuple,
    Type,
    carries_derivative,
    has_one_layout,
    is_float_dtype,
    may_be_whole,
    may_vary,
)
from adjoint.ir.walk import operands, targets_of
from adjoint.rules.kinds import Constant
from adjoint.rules.registry import rule_for
from adjoint.runtime import display, tangents
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.objects import make_object
from adjoint.types import tangent_class

if TYPE_CHECKING:
    pass

VIEWS = (*REORDERED, np.real, tangents.shadow_or_zeros)
"""Functions whose result is always a view, without overlap."""
DETACHED = (np.broadcast_to, np.broadcast_arrays, np.lib.stride_tricks.sliding_window_view, np.imag)
"""Functions of which the same view of the shadow is no shadow: elements share memory, or have another sign."""
DISPLAYS = (display.make_list, display.make_tuple, display.make_dict, make_object)


class ShadowRecipes:
    """How the shadow of what a statement gives is made of the shadows of what it is given."""

    def __init__(self, context: Context, writes: Writes) -> None:
        self.context = context
        self.writes = writes
        self.detached: set[Var] = set()
        self.layouts_read: set[Storage] | None = None
        self.found: dict[Var, Var] = {}
        self.storages: dict[Storage, Storage] = {}
        self.of_tuples = Storage(written=True)
        self.sharing: dict[Var, Var] = {}
        self.forward: set[Var] = set()

    def of(self, var: Var) -> Var:
        """The shadow of a reference."""
        return self.found[var]

    def type_of(self, type_: Type) -> Type:
        """The type of the shadow of a reference, or of the slot that holds a cotangent."""
        match type_:
            case Array(dtype=dtype, dims=dims):
                return Array(dtype, dims, self.storage(type_.storage))
            case List(element=element, storage=storage):
                return List(None if element is None else self.type_of(element), self.storage(storage))
            case PerPlace(items=items):
                return PerPlace(tuple(map(self.type_of, items)))
            case Tuple(items=items):
                return List(_common(tuple(map(self.type_of, items))), self.of_tuples)
            case Dict(value=value, storage=storage):
                return Dict(None if value is None else self.type_of(value), self.storage(storage))
            case Instance(cls=cls, fields=fields, storage=storage):
                inner = {name: self.type_of(field) for name, field in fields.items()}
                return Instance(cls, inner, self.storage(storage))
            case _:
                return type_

    def storage(self, storage: Storage) -> Storage:
        return self.storages.setdefault(storage.find(), Storage(written=True))

    def zeros(self, var: Var, shadow: Var) -> Call:
        """A zero shadow for memory as it is."""
        if isinstance(var.type, Array):
            known = is_float_dtype(var.type.dtype) and not self.context.may_be_undefined(var)
            return Call((shadow,), np.zeros_like if known and not self.layout_shows(var) else zeros_like, (var,))
        binding = self.context.regions.bindings[var]
        given = binding.statement is None and binding.region.kind == "top"
        return Call((shadow,), tangents.shadow if given else _maker(var.type), (var,))

    def layout_shows(self, var: Var) -> bool:
        """Whether views of an array are views where it lies as it takes, backwards too."""
        if has_one_layout(var.type):
            return False
        if self.layouts_read is None:
            from adjoint.analysis.memory.array_layout import layouts_read  # lazy

            self.layouts_read = layouts_read(self.context.function)
        return own_memory(var.type) in self.layouts_read

    def recipes(self, var: Var, shadow: Var, statement: Call | Load, *, at_end: bool = False) -> list[Statement]:
        """How the shadow of what a statement gives is made; ``at_end``: after the memory's last change."""
        may_be_empty = (
            isinstance(statement, Load)
            and not isinstance(type_of_atom(statement.base), Array)  # a view of a shadow is always there
            and may_be_whole(var.type)
            and not is_gathered(statement)
        )
        slot = Var(shadow.hint, shadow.type) if may_be_empty else shadow
        recipe = self.recipe(var, slot, statement, at_end=at_end)
        if recipe is None:
            return []
        return [recipe, Call((shadow,), tangents.shadow_or_zeros, (slot, var))] if may_be_empty else [recipe]

    def recipe(self, var: Var, shadow: Var, statement: Call | Load, *, at_end: bool) -> Statement | None:
        """The same where nothing is missing in a slot; None where the shadow is made elsewhere, or refused."""
        if isinstance(statement, Load):
            base = statement.base
            assert isinstance(base, Var)
            if is_gathered(statement):
                return self.gather(var, shadow, statement)
            if base not in self.found:  # nothing that varies is in there: a call may hand it on beside what does
                return self.zeros(var, shadow)
            return Load(shadow, self.of(base), statement.key, statement.span)
        if isinstance(statement.callee, Definition):
            return None  # the call gives the shadow, too
        if isinstance(statement.callee, Surgery):
            base = statement.args[statement.targets.index(var)]
            assert isinstance(base, Var)
            return Load(shadow, self.of(base), Subscript((Const(Ellipsis),)), statement.span)
        rule = rule_for(statement.callee)
        view = rule.view_of if rule is not None else None
        if view is not None and isinstance(statement.args[view], Var) and self.shares(var, statement.args[view]):
            return self.view(var, shadow, statement, view)
        from adjoint.differentiation.memory.constant_views import UNSURE, is_unsure  # lazy

        if is_unsure(statement):
            self.context.problem("AD0303", statement.span, UNSURE)
            return None
        parts = [atom for atom in operands(statement) if isinstance(atom, Var) and atom in self.found]
        if statement.callee in DISPLAYS and (parts or not at_end):
            return self.display(shadow, statement)
        from adjoint.differentiation.reverse.memory.forward_shadows import POPS  # lazy

        if statement.callee in POPS:
            taken = self.taken_like(statement, (shadow,))
            if taken is not None:
                return taken
            self.context.problem("AD0303", statement.span, "a reference is taken out of a container")
            return None
        return self.zeros(var, shadow)

    def taken_like(self, call: Call, targets: tuple[Var, ...]) -> Call | None:
        """The same taken out of a container's shadow: the last element of a list, the entry of a key; else None."""
        base, *key = call.args
        if not isinstance(base, Var) or len(key) != {list.pop: 0, dict.pop: 1}.get(call.callee):
            return None
        return Call(targets, call.callee, (self.of(base), *key), (), call.span)

    def gather(self, var: Var, shadow: Var, load: Load) -> Statement | None:
        """The shadow of what was picked out by masks or integer arrays: memory of its own, as that itself is."""
        if not copies(load.key):
            from adjoint.differentiation.memory.constant_views import UNSURE  # lazy

            self.context.problem("AD0303", load.span, UNSURE)
            return None
        return self.zeros(var, shadow)

    def shares(self, var: Var, base: Atom) -> bool:
        return isinstance(base, Var) and base in self.found and own_memory(var.type) is own_memory(base.type)

    def view(self, var: Var, shadow: Var, statement: Call, place: int) -> Statement | None:
        """The same view of the shadow; where the operation copies at need, the array itself is asked what it did."""
        base = statement.args[place]
        assert isinstance(base, Var)
        if statement.callee in DETACHED or isinstance(rule_for(statement.callee), Constant):
            return self.detach(var, shadow, statement)
        callee = _writable(statement.callee)
        args = (*statement.args[:place], self.of(base), *statement.args[place + 1 :])
        if statement.callee in VIEWS:
            return Call((shadow,), callee, args, statement.kwargs, statement.span)
        shares = self.shares_memory(var, base, statement)
        inner, zeros = Var(shadow.hint, shadow.type), Var(shadow.hint, shadow.type)
        same: Statement = Call((inner,), callee, args, statement.kwargs, statement.span)
        if statement.callee is tangents.follow_view:
            same = Load(inner, self.of(base), Subscript((Const(Ellipsis),)), statement.span)
        then, orelse = Block((same,), Yield((inner,))), Block((self.zeros(var, zeros),), Yield((zeros,)))
        return If(shares, then, orelse, (shadow,), statement.span)

    def detach(self, var: Var, shadow: Var, statement: Call) -> Statement | None:
        """A shadow of its own: the view is a value, as long as its array stays."""
        if self.writes.after(statement, var.type.storage):  # type: ignore[attr-defined]
            label = "this is a view that is followed as a value only, and the array is written later"
            self.context.problem("AD0303", statement.span, label)
            return None
        self.detached.add(var)
        return self.zeros(var, shadow)

    def shares_memory(self, var: Var, base: Var, statement: Call) -> Var:
        """Whether an array that an operation gave is a view: a variable of the forward region."""
        if var not in self.sharing:
            shares = self.sharing[var] = Var("shares", BOOL)
            binding = self.context.regions.bindings[var]
            self.context.regions.bind(shares, binding.region, None, binding.block)
            self.context.anchors[shares] = statement, True
            make = Call((shares,), np.may_share_memory, (var, base), (), statement.span)
            if var in self.forward:
                self.context.edits.put_after(statement, make)
            else:
                self.context.copies[shares] = make
        return self.sharing[var]

    def display(self, shadow: Var, statement: Call) -> Statement | None:
        if statement.callee is make_object:
            return self.object_display(shadow, statement)
        args = []
        for place, atom in enumerate(statement.args):
            is_key = statement.callee is display.make_dict and place % 2 == 0
            args.append(atom if is_key else self.empty_slot(atom, statement))
        callee = display.make_list if statement.callee is display.make_tuple else statement.callee
        return Call((shadow,), callee, tuple(args), (), statement.span)

    def object_display(self, shadow: Var, statement: Call) -> Statement:
        cls, names, *parts = statement.args
        made = _result(statement)
        later = _assigned_later(made, names)
        if not later and not any(atom in self.found for atom in parts if isinstance(atom, Var)):
            return Call((shadow,), _maker(made.type), (made,), (), statement.span)
        assert isinstance(cls, Const)
        assert isinstance(names, Const)
        from adjoint.differentiation.memory.structural import counts_as_float  # lazy

        slots = [
            Const(0.0) if counts_as_float(statement, place) else self.empty_slot(atom, statement)
            for place, atom in enumerate(parts, 2)
        ]
        all_names = Const((*names.value, *later))
        slots += later.values()
        return Call((shadow,), make_object, (Const(tangent_class(cls.value)), all_names, *slots), (), statement.span)

    def empty_slot(self, atom: Atom, statement: Statement) -> Atom:
        """What a new slot of a shadow holds."""
        if not isinstance(atom, Var):
            type_ = type_of_atom(atom)
            if isinstance(type_, Tuple) and may_vary(type_):
                return self.unused_shadow(atom, self.type_of(type_), statement)
            return Const(0.0) if isinstance(atom, Const) and isinstance(atom.value, float) else Const(None)
        if atom in self.found:
            return self.found[atom]
        match atom.type:
            case Scalar(kind="float" | "complex"):
                return Const(0.0)
            case Array(dtype=dtype) if dtype is None or is_float_dtype(dtype):
                zeros = Var(f"{atom.hint}_bar", self.type_of(Array(dtype, atom.type.dims)))
                return self.made_beside(statement, Call((zeros,), zeros_like, (atom,)))
            case Number():
                zeros = Var(f"{atom.hint}_bar", atom.type)
                return self.made_beside(statement, Call((zeros,), zeros_like, (atom,)))
            case List() | Tuple() | Dict() | Instance() if may_vary(atom.type):
                return self.unused_shadow(atom, self.type_of(atom.type), statement)
            case _:
                return Const(None)

    def unused_shadow(self, atom: Atom, type_: Type, statement: Statement) -> Var:
        """A shadow of what does not vary: what is beside it in the same container may, and both are read alike."""
        unused = Var(f"{getattr(atom, 'hint', 't')}_bar", type_)
        return self.made_beside(statement, Call((unused,), tangents.shadow_like, (atom,)))

    def made_beside(self, statement: Statement, make: Call) -> Var:
        """What a new slot holds, made right after the statement that makes the container; the reverse may read it."""
        (made,) = make.targets
        context = self.context
        context.regions.bind_beside(made, statement)
        context.anchors[made] = statement, True
        context.forward_shadows.add(made)
        context.edits.put_after(statement, make)
        return made


def _assigned_later(made: Var, names: Atom) -> dict[str, Const]:
    """The attributes that an object lacks when it is made, with what their slots hold until they are assigned."""
    assert isinstance(made.type, Instance)
    assert isinstance(names, Const)
    return {
        name: Const(0.0 if isinstance(type_, Scalar) and carries_derivative(type_) else None)
        for name, type_ in made.type.fields.items()
        if name not in names.value
    }


def _writable(view: Any) -> Any:
    """What gives the same view as a function, but one that can be written."""
    if view is not np.diagonal and view is not np.diag:
        return view
    from adjoint.runtime.array_functions import places  # lazy

    return places.diagonal if view is np.diagonal else places.diag


def _maker(type_: Type) -> Any:
    """What makes the zero shadow of memory that the function makes: arrays that are written are shared as they are."""
    arrays = [part for part in _all_parts(type_) if isinstance(part, (Array, Number))]
    written = any(isinstance(array, Array) and array.storage.written for array in arrays)
    return tangents.shadow_of_values if arrays and not written else tangents.shadow


def _all_parts(type_: Type) -> Iterator[Type]:
    yield type_
    for part in parts(type_):
        yield from _all_parts(part)


def _common(parts: tuple[Type, ...]) -> Type | None:
    """The type of the slots of a tuple's shadow; None where it has none."""
    if not parts:
        return None
    return parts[0] if all(part == parts[0] for part in parts[1:]) else PerPlace(parts)


def _result(statement: Statement) -> Var:
    (target,) = targets_of(statement)
    return target
