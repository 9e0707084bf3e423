"""Shadows: where the cotangents of what lies in memory are.

The shadow of a reference is found by the statements that found the reference. Where nothing but numbers and arrays of
numbers changes in the memory, the reverse region makes shadows itself, from what is there at the end; where
references are stored, picked by branches or carried by loops, the forward region makes and moves shadows beside the
memory itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory, parts
from adjoint.differentiation.memory.slots import type_of_slot
from adjoint.differentiation.reverse.calls.calling_convention import Given
from adjoint.differentiation.reverse.context import Context, sources
from adjoint.differentiation.reverse.forward_edits import Slot
from adjoint.differentiation.reverse.memory.overwritten_values import Writes
from adjoint.differentiation.reverse.memory.shadow_recipes import ShadowRecipes
from adjoint.differentiation.reverse.region import Sweep
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.walk import blocks_of, key_atoms, leaves, statements_in, targets_of
from adjoint.runtime import tangents

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.memory.moved_references import Places


class Shadows(ShadowRecipes):
    """The shadows of the references through which a derivative flows."""

    def __init__(
        self, context: Context, given: Given, writes: Writes, lent: Mapping[ir.Var, ir.Var], moved: Places
    ) -> None:
        super().__init__(context, writes)
        self.given = given
        self.lent = lent
        for var, shadow in lent.items():
            self.note_memory(var.type, shadow.type)
        self.late: list[ir.Var] = []
        self.handles = [var for var in context.regions.bindings if ir.is_handle(var.type) and context.active(var)]
        self.handles += self.taken_out()
        self.constants = self.constants_among(self.handles)
        self.handles += self.constants
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

    def taken_out(self) -> list[ir.Var]:
        """What is taken out of containers through which derivatives flow, and not used: its shadow goes back.

        Others may have read it before: a tuple has no memory of its own, but a shadow that they add to.
        """
        context, known = self.context, set(self.handles)
        return [
            statement.targets[0]
            for statement in statements_in(context.function.body)
            if isinstance(statement, ir.Call) and statement.callee in (list.pop, dict.pop) and statement.targets
            if statement.targets[0] not in known and ir.is_handle(statement.targets[0].type)
            if ir.may_vary(statement.targets[0].type) and context.active(statement.args[0])
        ]

    def constants_among(self, handles: Sequence[ir.Var]) -> list[ir.Var]:
        """Lists, and arrays of whole numbers, without derivatives, where a reference may be one of those."""
        bindings = self.context.regions.bindings
        work, seen = list(handles), set(handles)
        found = []
        for var in work:
            for atom in sources(var, bindings[var]):
                if isinstance(atom, ir.Var) and atom not in seen and _may_lack_derivative(atom.type):
                    seen.add(atom)
                    work.append(atom)
                    found.append(atom)
        return found

    def start_from(self, var: ir.Var, cotangent: ir.Var, sweep: Sweep) -> None:
        """Lets the shadow of a returned container hold a given cotangent from the start."""
        shadow = self.of(var)
        recipe = self.context.recipes.get(shadow)
        seed = _SEEDS.get(recipe[2].callee) if recipe is not None and isinstance(recipe[2], ir.Call) else None
        if recipe is None or seed is None:
            sweep.effect(tangents.pour, shadow, cotangent)
            return
        region, order, _ = recipe
        self.context.recipes[shadow] = region, order, ir.Call((shadow,), seed, (cotangent, var))

    def none(self, sweep: Sweep, var: ir.Var) -> ir.Var:
        """The shadow of a reference through which no derivative flows."""
        shadow = ir.Var(f"{var.hint}_bar", self.type_of(var.type))
        sweep.emit(self.zeros(var, shadow))
        return shadow

    def none_on_entry(self, sweep: Sweep, param: ir.Var) -> ir.Var:
        """The same of a parameter, as it was when the function was called."""
        if isinstance(param.type, ir.Array) or not any(storage.written for storage in all_memory(param.type)):
            return self.none(sweep, param)
        binding = self.context.regions.bindings[param]
        shadow = ir.Var(f"{param.hint}_bar", self.type_of(param.type))
        self.context.regions.bind(shadow, binding.region, None, binding.block)
        self.context.edits.put_first(binding.block, self.zeros(param, shadow))
        return shadow

    # Making them

    def make(self, var: ir.Var) -> None:
        binding = self.context.regions.bindings[var]
        if var in self.given.shadows:
            shadow = self.found[var] = self.lent.get(var) or ir.Var(f"{var.hint}_bar", self.type_of(var.type))
            if var in self.given.first:
                self.context.forward_shadows.add(shadow)
                self.context.regions.bind(shadow, binding.region, None, binding.block)
            elif var in self.forward:
                self.late.append(var)
            return
        shadow = self.found[var] = ir.Var(f"{var.hint}_bar", self.type_of(var.type))
        statement = binding.statement
        if var in self.forward:
            self.context.forward_shadows.add(shadow)
            self.context.regions.bind(shadow, binding.region, None, binding.block)
            if statement is not None:
                self.context.anchors[shadow] = statement, True
            if statement is None and binding.region.kind == "top":
                make = self.zeros if _is_of_whole_numbers(var.type) else self.of_given
                self.context.edits.put_first(binding.block, make(var, shadow))
            elif isinstance(statement, (ir.Call, ir.Load)):
                for recipe in self.recipes(var, shadow, statement):
                    self.context.edits.put_after(statement, recipe)
            return
        if isinstance(statement, (ir.Call, ir.Load)):
            recipes = self.recipes(var, shadow, statement, at_end=True)
        else:
            recipes = [self.zeros(var, shadow)]
        for turn, recipe in enumerate(recipes, 1):
            (made,) = targets_of(recipe)
            self.context.recipes[made] = (binding.region, (binding.order, turn), recipe)

    def takes_unused_shadow(self, store: ir.Store, base: ir.Var) -> bool:
        """Whether a slot is given a reference without derivative, in a container whose others have one."""
        value = store.value
        if not isinstance(value, ir.Var) or value in self.found or base not in self.forward:
            return False
        if isinstance(value.type, ir.Tuple):
            return ir.may_vary(value.type) or ir.may_vary(type_of_slot(base.type, store.key))
        return isinstance(value.type, (ir.List, ir.Dict, ir.Instance)) and ir.may_vary(value.type)

    # Moving them beside the memory

    def follow(self, statement: ir.Statement) -> None:
        edits = self.context.edits
        match statement:
            case ir.If(targets=targets) | ir.Guarded(targets=targets):
                for place, target in enumerate(targets):
                    if target in self.forward:
                        values = tuple(self.picked(block, place) for block in blocks_of(statement))
                        edits.hand_out(statement, self.of(target), values)
            case ir.Loop():
                self.follow_loop(statement)
            case ir.Call(callee=list.append | list.insert as callee, args=(ir.Var() as base, *place, value)) if (
                base in self.forward
            ):
                is_number = base in self.constants and isinstance(type_of_atom(value), ir.Scalar)
                held = type_of_slot(base.type, None)
                slot = ir.Const(0.0) if is_number else self.empty_slot(value, statement, held)
                edits.put_after(statement, ir.Call((), callee, (self.of(base), *place, slot), (), statement.span))
            case ir.Call(callee=list.pop | dict.pop, targets=targets, args=(ir.Var() as base, *_)) if (
                base in self.forward
            ):
                taken = self.taken_like(statement, ())
                if taken is not None and not any(target in self.forward for target in targets):
                    edits.put_after(statement, taken)
            case ir.Store(base=ir.Var() as base, key=key, value=value, mode="set") if base in self.forward:
                in_slot = value in self.found or isinstance(type_of_atom(value), (ir.Array, ir.Number))
                in_slot |= self.takes_unused_shadow(statement, base)
                in_slot |= isinstance(base.type, ir.Dict)  # the key may be a new one
                if in_slot and key is not None and not is_array(base):
                    slot = self.empty_slot(value, statement, type_of_slot(base.type, key))
                    edits.put_after(statement, ir.Store(self.of(base), key, slot, "set", statement.span))

    def picked(self, block: ir.Block, place: int) -> ir.Atom:
        for leaf in leaves(block):
            if isinstance(leaf, ir.Yield):
                return self.shadow_of_value(leaf.values[place])
        return ir.UNDEFINED

    def shadow_of_value(self, value: ir.Atom) -> ir.Atom:
        if isinstance(value, ir.Var) and value in self.found:
            return self.found[value]
        return ir.UNDEFINED if value is ir.UNDEFINED else ir.Const(None)

    def follow_loop(self, loop: ir.Loop) -> None:
        for place, target in enumerate(loop.targets):
            param = loop.params[place] if place < len(loop.params) else None
            if target not in self.forward and param not in self.forward:
                continue
            init = self.shadow_of_value(loop.inits[place]) if param is not None else ir.UNDEFINED

            def value(leaf: ir.Continue | ir.Exit, full: bool, place: int = place) -> ir.Atom:
                del full
                return self.shadow_of_value(leaf.values[place])

            after = self.found.get(target) or ir.Var(f"{target.hint}_bar", self.type_of(target.type))
            inside = None
            if param is not None:
                inside = self.found.get(param) or ir.Var(f"{param.hint}_bar", self.type_of(param.type))
            self.context.edits.carry(loop, Slot(inside, init, after, value))

    def add_parts(self, builder: Builder, shadow: ir.Var, type_: ir.Type, cotangent: ir.Atom) -> None:
        """Adds the parts of a cotangent to the slots of a sequence's shadow."""
        if isinstance(type_, ir.Tuple) or (isinstance(type_, ir.List) and isinstance(type_.element, ir.PerPlace)):
            for place, part in enumerate(parts(type_)):
                self.add_part(builder, shadow, ir.Const(place), part, cotangent)
        elif isinstance(type_, ir.List) and type_.element is not None:
            size, index = ir.Var("n", ir.INT), ir.Var("i", ir.INT)
            builder.emit(ir.Call((size,), len, (shadow,)))
            inner = builder.nested()
            self.add_part(inner, shadow, index, type_.element, cotangent)
            over = ir.Range(ir.Const(0), size, ir.Const(1))
            builder.emit(ir.Loop(over, index, (), (), inner.block(ir.Continue(())), ()))

    def add_part(self, builder: Builder, shadow: ir.Var, place: ir.Atom, part: ir.Type, cotangent: ir.Atom) -> None:
        if not ir.carries_derivative(part):
            return
        item = builder.item(cotangent, place, part, "t_bar")
        if isinstance(part, (ir.Scalar, ir.Number)):
            builder.store(shadow, ir.Subscript((place,)), item, "add")
            return
        slot = builder.item(shadow, place, self.type_of(part), "t_bar")
        if isinstance(part, ir.Array):
            if ir.may_be_whole(part):
                slot = builder.call(tangents.shadow_or_zeros, slot, item, hint=slot.hint)
            builder.store(slot, None, item, "add")
        else:
            self.add_parts(builder, slot, part, item)

    def add_to_slot(self, sweep: Sweep, shadow: ir.Var, key: ir.Key, cotangent: ir.Atom) -> None:
        """Adds to a slot of which it is not known whether it holds a number or an array."""
        atoms = key_atoms(key)
        if len(atoms) == 1:
            sweep.effect(tangents.add_to_slot, shadow, atoms[0], cotangent)
        else:
            sweep.effect(tangents.add_to_field, shadow, ir.Const(getattr(key, "name", None)), cotangent)


_SEEDS: dict[Any, Any] = {
    tangents.shadow: tangents.seed_shadow,
    tangents.shadow_of_values: tangents.seed_of_values,
}


def _may_lack_derivative(type_: ir.Type) -> bool:
    """Whether references of a type may be those of whole numbers, beside others that vary."""
    return isinstance(type_, ir.List) or _is_of_whole_numbers(type_)


def _is_of_whole_numbers(type_: ir.Type) -> bool:
    """Whether values of a type are arrays of whole numbers."""
    return isinstance(type_, ir.Array) and ir.is_whole_dtype(type_.dtype)


def _element(atom: ir.Atom) -> ir.Type | None:
    return atom.type.element if isinstance(atom, ir.Var) and isinstance(atom.type, ir.List) else None
