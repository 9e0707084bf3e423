"""The memory that values refer to: storage classes, their slots, and what is known to lie in them.

A *slot* is the places of one storage class that hold values: for objects there is one for each field.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.ir.join import type_of_atom

Slot = tuple[ir.Storage, str | None]


def has_slots(type_: ir.Type | None) -> bool:
    """Whether values of this type are references to memory that may be written."""
    return isinstance(type_, (ir.List, ir.Dict, ir.Instance)) or (isinstance(type_, ir.Array) and type_.storage.written)


def type_of_slot(type_: ir.Type, key: ir.Key | None) -> ir.Type | None:
    """The type of what lies in a container, or of an attribute of an object."""
    match type_:
        case ir.List(element=part) | ir.Dict(value=part):
            return part
        case ir.Instance(fields=fields) if isinstance(key, ir.Attribute):
            return fields.get(key.name)
        case _:
            return None


def is_container(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), (ir.List, ir.Dict, ir.Tuple, ir.Instance))


class Memory:
    """Storage classes with what is known to lie in them."""

    def __init__(self) -> None:
        self.parents: dict[ir.Storage, ir.Storage] = {}
        self.content: dict[Slot, ir.Type] = {}
        self.entered: dict[int, ir.Type] = {}

    def find(self, storage: ir.Storage) -> ir.Storage:
        storage = storage.find()
        while storage in self.parents:
            storage = self.parents[storage].find()
        return storage

    def unite(self, one: ir.Storage, other: ir.Storage) -> None:
        mine, theirs = self.find(one), self.find(other)
        if mine is theirs:
            return
        self.parents[theirs] = mine
        for (storage, name), type_ in list(self.content.items()):
            if storage is theirs:
                del self.content[storage, name]
                self.hold(mine, name, type_)

    def hold(self, storage: ir.Storage, name: str | None, type_: ir.Type | None) -> None:
        """Records that a value of this type lies in a slot: it may be any other that lies there."""
        if type_ is None:
            return
        if isinstance(type_, ir.PerPlace):
            for item in type_.items:
                self.hold(storage, name, item)
            return
        slot = (self.find(storage), name)
        known = self.content.get(slot)
        if known is None:
            self.content[slot] = type_
            self.enter(type_)
        elif known is not type_:
            self.link(known, type_)
            if (not has_slots(known) and has_slots(type_)) or (not ir.may_vary(known) and ir.may_vary(type_)):
                self.content[self.find(storage), name] = type_

    def enter(self, type_: ir.Type | None) -> None:
        """Records what a type says about the memory of its values, once: an object may lie in one of its kind."""
        if type_ is None or id(type_) in self.entered:
            return
        self.entered[id(type_)] = type_
        match type_:
            case ir.List(element=part, storage=storage) | ir.Dict(value=part, storage=storage):
                self.hold(storage, None, part)
            case ir.Instance(fields=fields, storage=storage):
                for name, part in fields.items():
                    self.hold(storage, name, part)
            case ir.Tuple(items=items):
                for item in items:
                    self.enter(item)

    def link(self, one: ir.Type | None, other: ir.Type | None) -> None:
        """Records that a value of one type may be a value of the other."""
        if one is other:
            return
        self.enter(one)
        self.enter(other)
        match one, other:
            case (ir.Array(storage=mine), ir.Array(storage=theirs)) | (ir.List(storage=mine), ir.List(storage=theirs)):
                self.unite(mine, theirs)
            case (ir.Dict(storage=mine), ir.Dict(storage=theirs)) | (
                ir.Instance(storage=mine),
                ir.Instance(storage=theirs),
            ):
                self.unite(mine, theirs)
            case ir.Tuple(items=mine_), ir.Tuple(items=theirs_):
                for first, second in zip(mine_, theirs_, strict=False):
                    self.link(first, second)

    def slots(self, type_: ir.Type | None) -> list[Slot]:
        """Every slot that can be reached from a value of this type."""
        found: dict[Slot, None] = {}
        self._collect(type_, found, {})
        return list(found)

    def _collect(self, type_: ir.Type | None, found: dict[Slot, None], seen: dict[int, bool]) -> bool:
        """Adds the slots that a value of a type leads to, and says whether a derivative may lie in one of them."""
        match type_:
            case ir.Array(storage=storage):
                if storage.written and ir.may_vary(type_):
                    found[self.find(storage), None] = None
                return ir.may_vary(type_)
            case ir.List(element=part, storage=storage) | ir.Dict(value=part, storage=storage):
                return self._collect_slot((self.find(storage), None), part, found, seen)
            case ir.Instance(fields=fields, storage=storage):
                root = self.find(storage)
                names = dict.fromkeys((*fields, *(name for owner, name in self.content if owner is root and name)))
                parts = [self._collect_slot((root, name), fields.get(name), found, seen) for name in names]
                return any(parts)
            case ir.Tuple(items=items) | ir.PerPlace(items=items):
                parts = [self._collect(item, found, seen) for item in items]
                return any(parts)
            case _:
                return ir.may_vary(type_)

    def _collect_slot(self, slot: Slot, part: ir.Type | None, found: dict[Slot, None], seen: dict[int, bool]) -> bool:
        varies = False
        for inner in (self.content.get(slot), part):
            if inner is not None and id(inner) not in seen:
                seen[id(inner)] = True  # what leads back to itself may lead to anything
                seen[id(inner)] = self._collect(inner, found, seen)
            varies = varies or (inner is not None and seen[id(inner)])
        if varies:
            found[slot] = None
        return varies
