"""Which memory of a function may be one: statements unify the slots that they connect (Steensgaard)."""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.joins import joins
from adjoint.differentiation.memory.slots import Memory, Slot, has_slots, is_container
from adjoint.differentiation.memory.structural import as_store, is_object_display, object_display, roles_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import leaves, statements_in
from adjoint.rules.registry import rule_for
from adjoint.runtime.tangents import follow_view

Node = ir.Var | Slot
"""A value, or a place in memory that holds values."""


class Aliases:
    """The slots of the memory of a function: what lies in memory that may be one, whatever the order of events."""

    def __init__(self, function: ir.Function) -> None:
        self.memory = Memory()
        self.known_nodes: dict[ir.Var, list[Node]] = {}
        for param in function.params:
            self.memory.enter(param.type)
        for statement in statements_in(function.body):
            self._link(statement)

    def slot(self, type_: ir.Type | None, key: ir.Key | None) -> Slot | None:
        match type_:
            case ir.Array(storage=storage) if storage.written:
                return self.memory.find(storage), None
            case ir.List(storage=storage) | ir.Dict(storage=storage):
                return self.memory.find(storage), None
            case ir.Instance(storage=storage) if isinstance(key, ir.Attribute):
                return self.memory.find(storage), key.name
            case _:
                return None

    def nodes(self, atom: ir.Atom) -> list[Node]:
        """The value itself, unless it is a reference, and every slot that can be reached from it."""
        if not isinstance(atom, ir.Var) or not ir.may_vary(atom.type):
            return []
        known = self.known_nodes.get(atom)
        if known is None:
            own: list[Node] = [] if has_slots(atom.type) else [atom]
            known = self.known_nodes[atom] = [*own, *self.memory.slots(atom.type)]
        return known

    def content(self, base: ir.Atom, key: ir.Key | None) -> ir.Type | None:
        """The type of what lies in a slot."""
        slot = self.slot(type_of_atom(base), key)
        return None if slot is None else self.memory.content.get(slot)

    def _link(self, statement: ir.Statement) -> None:
        memory = self.memory
        match statement:
            case ir.Load(target=target, base=base, key=key):
                self._link_load(type_of_atom(base), key, target.type)
            case ir.Store(base=base, key=key, value=value):
                slot = self.slot(type_of_atom(base), key)
                if slot is not None and not isinstance(type_of_atom(base), ir.Array):
                    memory.hold(*slot, type_of_atom(value))
            case ir.Call() if (stored := as_store(statement)) is not None:
                self._link(stored)
            case ir.Call():
                self._link_call(statement)
        for source, target in joins(statement):
            memory.link(type_of_atom(source), target.type)

    def _link_load(self, base: ir.Type | None, key: ir.Key, target: ir.Type) -> None:
        match base:
            case ir.Array():
                if has_slots(base) and has_slots(target):
                    self.memory.link(base, target)
            case ir.Tuple(items=items):
                place = key.items[0] if isinstance(key, ir.Subscript) and len(key.items) == 1 else None
                if isinstance(place, ir.Const) and isinstance(place.value, int):
                    items = items[place.value :][:1] if place.value >= 0 else (items[place.value],)
                for item in items:
                    self.memory.link(item, target)
            case _:
                slot = self.slot(base, key)
                if slot is not None:
                    self.memory.hold(*slot, target)

    def _link_call(self, call: ir.Call) -> None:
        memory = self.memory
        for target in call.targets:
            memory.enter(target.type)
        if isinstance(call.callee, (ir.Definition, ir.Function)):
            self._link_function(call)
            return
        if is_object_display(call.callee):
            for name, value in zip(object_display(call)[1], call.args[2:], strict=True):
                memory.hold(*self.field(call.targets[0], name), type_of_atom(value))
            return
        if call.callee is follow_view:
            memory.link(type_of_atom(call.args[0]), call.targets[0].type)
            return
        roles = roles_of(call, is_container)
        if roles is None:
            rule = rule_for(call.callee)
            if rule is not None and rule.view_of is not None and rule.view_of < len(call.args):
                for target in call.targets:
                    memory.link(type_of_atom(call.args[rule.view_of]), target.type)
            return
        containers = [type_of_atom(arg) for arg, role in zip(call.args, roles, strict=True) if role == "container"]
        items = [type_of_atom(arg) for arg, role in zip(call.args, roles, strict=True) if role == "item"]
        holders = containers or [target.type for target in call.targets]
        if not containers and isinstance(holders[0] if holders else None, ir.Tuple):
            memory.link(holders[0], ir.Tuple(tuple(item or ir.Opaque() for item in items)))
            return
        self._link_structural(call, holders, items)

    def field(self, target: ir.Var, name: str) -> Slot:
        slot = self.slot(target.type, ir.Attribute(name))
        assert slot is not None
        return slot

    def _link_structural(self, call: ir.Call, holders: list[ir.Type | None], items: list[ir.Type | None]) -> None:
        memory = self.memory
        for other in holders[1:]:
            memory.link(holders[0], other)
        for holder in holders[:1]:
            slot = self.slot(holder, None)
            if slot is None:
                continue
            for item in items:
                memory.hold(*slot, item)
            for target in call.targets:
                if target.type is holder:
                    continue
                if type(target.type) is type(holder) and not takes_out(call):
                    memory.link(holder, target.type)
                else:
                    memory.hold(slot[0], None, target.type)

    def _link_function(self, call: ir.Call) -> None:
        function = call.callee.function if isinstance(call.callee, ir.Definition) else call.callee
        assert function is not None
        for arg, param in zip(call.args, function.params, strict=True):
            self.memory.link(type_of_atom(arg), param.type)
        for leaf in leaves(function.body):
            if isinstance(leaf, ir.Return):
                for value, target in zip(leaf.values, call.targets, strict=False):
                    self.memory.link(type_of_atom(value), target.type)


def takes_out(call: ir.Call) -> bool:
    """Whether a structural call gives what lies in a container, rather than another container."""
    return getattr(call.callee, "__name__", "") in ("pop", "get", "setdefault", "getitem")
