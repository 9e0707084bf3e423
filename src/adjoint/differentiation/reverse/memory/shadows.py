"""Shadows: where the cotangents of what lies in memory are.

The shadow of a reference is found by the statements that found the reference. Where nothing but numbers and arrays of
numbers changes in the memory, the reverse region makes shadows itself, from what is there at the end; where
references are stored, picked by branches or carried by loops, the forward region makes and moves shadows beside the
memory itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.analysis.memory.reachable import all_memory, own_memory, parts
from adjoint.differentiation.reverse.calls.calling_convention import Given
from adjoint.differentiation.reverse.context import Context
from adjoint.differentiation.reverse.forward_edits import Slot
from adjoint.differentiation.reverse.memory.gathers import REORDERED, copies, is_gathered
from adjoint.differentiation.reverse.memory.overwritten_values import Writes
from adjoint.differentiation.reverse.region import Sweep
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.nodes import (
    UNDEFINED,
    Atom,
    Block,
    Call,
    Const,
    Continue,
    Definition,
    Exit,
    Guarded,
    If,
    Key,
    Load,
    Loop,
    Range,
    Statement,
    Store,
    Subscript,
    Surgery,
    Var,
    Yield,
)
from adjoint.ir.types import (
    BOOL,
    INT,
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
    is_handle,
    may_be_whole,
    may_vary,
)
from adjoint.ir.walk import blocks_of, key_atoms, leaves, operands, statements_in, targets_of
from adjoint.rules.kinds import Constant
from adjoint.rules.registry import rule_for
from adjoint.runtime import display, tangents
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.objects import make_object
from adjoint.types import tangent_class

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.memory.moved_references import Places

VIEWS = (*REORDERED, np.real, tangents.shadow_or_zeros)
"""Functions whose result is always a view, without overlap."""
DETACHED = (np.broadcast_to, np.broadcast_arrays, np.lib.stride_tricks.sliding_window_view, np.imag)
"""Functions of which the same view of the shadow is no shadow: elements share memory, or have another sign."""
DISPLAYS = (display.make_list, display.make_tuple, display.make_dict, make_object)


class Shadows:
    """The shadows of the references through which a derivative flows."""

    def __init__(self, context: Context, given: Given, writes: Writes, lent: Mapping[Var, Var], moved: Places) -> None:
        self.context = context
        self.given = given
        self.lent = lent
        self.writes = writes
        self.detached: set[Var] = set()
        self.late: list[Var] = []
        self.layouts_read: set[Storage] | None = None
        self.found: dict[Var, Var] = {}
        self.storages: dict[Storage, Storage] = {}
        self.of_tuples = Storage(written=True)
        self.sharing: dict[Var, Var] = {}
        self.handles = [var for var in context.regions.bindings if is_handle(var.type) and context.active(var)]
        self.forward: set[Var] = set()
        if self.handles:
            self.make_all(moved)

    def make_all(self, moved: Places) -> None:
        from adjoint.differentiation.reverse.memory.forward_shadows import Beside  # lazy

        statements = statements_in(self.context.function.body)
        self.forward = Beside(self.context, self.handles, statements, self.given, moved).found
        for var in self.handles:
            self.make(var)
        for statement in statements if self.forward else ():
            self.follow(statement)

    def of(self, var: Var) -> Var:
        """The shadow of a reference."""
        return self.found[var]

    def start_from(self, var: Var, cotangent: Var, sweep: Sweep) -> None:
        """Lets the shadow of a returned container hold a given cotangent from the start."""
        shadow = self.of(var)
        recipe = self.context.recipes.get(shadow)
        seed = _SEEDS.get(recipe[2].callee) if recipe is not None and isinstance(recipe[2], Call) else None
        if recipe is None or seed is None:
            sweep.effect(tangents.pour, shadow, cotangent)
            return
        region, order, _ = recipe
        self.context.recipes[shadow] = region, order, Call((shadow,), seed, (cotangent, var))

    def none(self, sweep: Sweep, var: Var) -> Var:
        """The shadow of a reference through which no derivative flows."""
        shadow = Var(f"{var.hint}_bar", self.type_of(var.type))
        sweep.emit(self.zeros(var, shadow))
        return shadow

    def none_on_entry(self, sweep: Sweep, param: Var) -> Var:
        """The same of a parameter, as it was when the function was called."""
        if isinstance(param.type, Array) or not any(storage.written for storage in all_memory(param.type)):
            return self.none(sweep, param)
        binding = self.context.regions.bindings[param]
        shadow = Var(f"{param.hint}_bar", self.type_of(param.type))
        self.context.regions.bind(shadow, binding.region, None, binding.block)
        self.context.edits.put_first(binding.block, self.zeros(param, shadow))
        return shadow

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

    # Making them

    def make(self, var: Var) -> None:
        binding = self.context.regions.bindings[var]
        if var in self.given.shadows:
            shadow = self.found[var] = self.lent.get(var) or Var(f"{var.hint}_bar", self.type_of(var.type))
            if var in self.given.first:
                self.context.forward_shadows.add(shadow)
                self.context.regions.bind(shadow, binding.region, None, binding.block)
            elif var in self.forward:
                self.late.append(var)
            return
        shadow = self.found[var] = Var(f"{var.hint}_bar", self.type_of(var.type))
        statement = binding.statement
        if var in self.forward:
            self.context.forward_shadows.add(shadow)
            self.context.regions.bind(shadow, binding.region, None, binding.block)
            if statement is not None:
                self.context.anchors[shadow] = statement, True
            if statement is None and binding.region.kind == "top":
                self.context.edits.put_first(binding.block, Call((shadow,), tangents.shadow, (var,)))
            elif isinstance(statement, (Call, Load)):
                for recipe in self.recipes(var, shadow, statement):
                    self.context.edits.put_after(statement, recipe)
            return
        if isinstance(statement, (Call, Load)):
            recipes = self.recipes(var, shadow, statement, at_end=True)
        else:
            recipes = [self.zeros(var, shadow)]
        for turn, recipe in enumerate(recipes, 1):
            (made,) = targets_of(recipe)
            self.context.recipes[made] = (binding.region, (binding.order, turn), recipe)

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

    def takes_unused_shadow(self, base: Var, value: Atom) -> bool:
        """Whether a slot is given a reference without derivative, in a container whose others have one."""
        if not isinstance(value, Var) or value in self.found or base not in self.forward:
            return False
        return isinstance(value.type, (List, Tuple, Dict, Instance)) and may_vary(value.type)

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

    # Moving them beside the memory

    def follow(self, statement: Statement) -> None:
        edits = self.context.edits
        match statement:
            case If(targets=targets) | Guarded(targets=targets):
                for place, target in enumerate(targets):
                    if target in self.forward:
                        values = tuple(self.picked(block, place) for block in blocks_of(statement))
                        edits.hand_out(statement, self.of(target), values)
            case Loop():
                self.follow_loop(statement)
            case Call(callee=list.append, args=(Var() as base, value)) if base in self.forward:
                slot = self.empty_slot(value, statement)
                edits.put_after(statement, Call((), list.append, (self.of(base), slot), (), statement.span))
            case Call(callee=list.pop | dict.pop, targets=targets, args=(Var() as base, *_)) if base in self.forward:
                taken = self.taken_like(statement, ())
                if taken is not None and not any(target in self.forward for target in targets):
                    edits.put_after(statement, taken)
            case Store(base=Var() as base, key=key, value=value, mode="set") if base in self.forward:
                in_slot = value in self.found or isinstance(type_of_atom(value), (Array, Number))
                in_slot |= self.takes_unused_shadow(base, value)
                in_slot |= isinstance(base.type, Dict)  # the key may be a new one
                if in_slot and key is not None and not is_array(base):
                    slot = self.empty_slot(value, statement)
                    edits.put_after(statement, Store(self.of(base), key, slot, "set", statement.span))

    def picked(self, block: Block, place: int) -> Atom:
        for leaf in leaves(block):
            if isinstance(leaf, Yield):
                return self.shadow_of_value(leaf.values[place])
        return UNDEFINED

    def shadow_of_value(self, value: Atom) -> Atom:
        if isinstance(value, Var) and value in self.found:
            return self.found[value]
        return UNDEFINED if value is UNDEFINED else Const(None)

    def follow_loop(self, loop: Loop) -> None:
        for place, target in enumerate(loop.targets):
            param = loop.params[place] if place < len(loop.params) else None
            if target not in self.forward and param not in self.forward:
                continue
            init = self.shadow_of_value(loop.inits[place]) if param is not None else UNDEFINED

            def value(leaf: Continue | Exit, full: bool, place: int = place) -> Atom:
                del full
                return self.shadow_of_value(leaf.values[place])

            after = self.found.get(target) or Var(f"{target.hint}_bar", self.type_of(target.type))
            inside = None
            if param is not None:
                inside = self.found.get(param) or Var(f"{param.hint}_bar", self.type_of(param.type))
            self.context.edits.carry(loop, Slot(inside, init, after, value))

    def add_parts(self, builder: Builder, shadow: Var, type_: Type, cotangent: Atom) -> None:
        """Adds the parts of a cotangent to the slots of a sequence's shadow."""
        if isinstance(type_, Tuple) or (isinstance(type_, List) and isinstance(type_.element, PerPlace)):
            for place, part in enumerate(parts(type_)):
                self.add_part(builder, shadow, Const(place), part, cotangent)
        elif isinstance(type_, List) and type_.element is not None:
            size, index = Var("n", INT), Var("i", INT)
            builder.emit(Call((size,), len, (shadow,)))
            inner = builder.nested()
            self.add_part(inner, shadow, index, type_.element, cotangent)
            over = Range(Const(0), size, Const(1))
            builder.emit(Loop(over, index, (), (), inner.block(Continue(())), ()))

    def add_part(self, builder: Builder, shadow: Var, place: Atom, part: Type, cotangent: Atom) -> None:
        if not carries_derivative(part):
            return
        item = builder.item(cotangent, place, part, "t_bar")
        if isinstance(part, (Scalar, Number)):
            builder.store(shadow, Subscript((place,)), item, "add")
            return
        slot = builder.item(shadow, place, self.type_of(part), "t_bar")
        if isinstance(part, Array):
            builder.store(slot, None, item, "add")
        else:
            self.add_parts(builder, slot, part, item)

    def add_to_slot(self, sweep: Sweep, shadow: Var, key: Key, cotangent: Atom) -> None:
        """Adds to a slot of which it is not known whether it holds a number or an array."""
        atoms = key_atoms(key)
        if len(atoms) == 1:
            sweep.effect(tangents.add_to_slot, shadow, atoms[0], cotangent)
        else:
            sweep.effect(tangents.add_to_field, shadow, Const(getattr(key, "name", None)), cotangent)


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


_SEEDS: dict[Any, Any] = {
    tangents.shadow: tangents.seed_shadow,
    tangents.shadow_of_values: tangents.seed_of_values,
}


def _maker(type_: Type) -> Any:
    """What makes the zero shadow of memory that the function makes: arrays that are written are shared as they are."""
    arrays = [part for part in _all_parts(type_) if isinstance(part, (Array, Number))]
    written = any(isinstance(array, Array) and array.storage.written for array in arrays)
    return tangents.shadow_of_values if arrays and not written else tangents.shadow


def _all_parts(type_: Type) -> Iterator[Type]:
    yield type_
    for part in parts(type_):
        yield from _all_parts(part)


def _element(atom: Atom) -> Type | None:
    return atom.type.element if isinstance(atom, Var) and isinstance(atom.type, List) else None


def _common(parts: tuple[Type, ...]) -> Type | None:
    """The type of the slots of a tuple's shadow; None where it has none."""
    if not parts:
        return None
    return parts[0] if all(part == parts[0] for part in parts[1:]) else PerPlace(parts)


def _result(statement: Statement) -> Var:
    (target,) = targets_of(statement)
    return target
