"""The memory that values refer to: storage classes, their slots, and what is known to lie in them.

A *slot* is the places of one storage class that hold values: for objects there is one for each field.
"""

from __future__ import annotations

from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom
from adjoint.ir.types import Array, Dict, Instance, List, PerPlace, Storage, Tuple, Type, may_vary

Slot = tuple[Storage, str | None]


def has_slots(type_: Type | None) -> bool:
    """Whether values of this type are references to memory that may be written."""
    return isinstance(type_, (List, Dict, Instance)) or (isinstance(type_, Array) and type_.storage.written)


def is_container(atom: Atom) -> bool:
    return isinstance(type_of_atom(atom), (List, Dict, Tuple, Instance))


class Memory:
    """Storage classes with what is known to lie in them."""

    def __init__(self) -> None:
        self.parents: dict[Storage, Storage] = {}
        self.content: dict[Slot, Type] = {}
        self.entered: dict[int, Type] = {}

    def find(self, storage: Storage) -> Storage:
        storage = storage.find()
        while storage in self.parents:
            storage = self.parents[storage].find()
        return storage

    def unite(self, one: Storage, other: Storage) -> None:
        mine, theirs = self.find(one), self.find(other)
        if mine is theirs:
            return
        self.parents[theirs] = mine
        for (storage, name), type_ in list(self.content.items()):
            if storage is theirs:
                del self.content[storage, name]
                self.hold(mine, name, type_)

    def hold(self, storage: Storage, name: str | None, type_: Type | None) -> None:
        """Records that a value of this type lies in a slot: it may be any other that lies there."""
        if type_ is None:
            return
        if isinstance(type_, PerPlace):
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
            if (not has_slots(known) and has_slots(type_)) or (not may_vary(known) and may_vary(type_)):
                self.content[self.find(storage), name] = type_

    def enter(self, type_: Type | None) -> None:
        """Records what a type says about the memory of its values, once: an object may lie in one of its kind."""
        if type_ is None or id(type_) in self.entered:
            return
        self.entered[id(type_)] = type_
        match type_:
            case List(element=part, storage=storage) | Dict(value=part, storage=storage):
                self.hold(storage, None, part)
            case Instance(fields=fields, storage=storage):
                for name, part in fields.items():
                    self.hold(storage, name, part)
            case Tuple(items=items):
                for item in items:
                    self.enter(item)

    def link(self, one: Type | None, other: Type | None) -> None:
        """Records that a value of one type may be a value of the other."""
        if one is other:
            return
        self.enter(one)
        self.enter(other)
        match one, other:
            case (Array(storage=mine), Array(storage=theirs)) | (List(storage=mine), List(storage=theirs)):
                self.unite(mine, theirs)
            case (Dict(storage=mine), Dict(storage=theirs)) | (Instance(storage=mine), Instance(storage=theirs)):
                self.unite(mine, theirs)
            case Tuple(items=mine_), Tuple(items=theirs_):
                for first, second in zip(mine_, theirs_, strict=False):
                    self.link(first, second)

    def slots(self, type_: Type | None) -> list[Slot]:
        """Every slot that can be reached from a value of this type."""
        found: dict[Slot, None] = {}
        self._collect(type_, found, set())
        return list(found)

    def _collect(self, type_: Type | None, found: dict[Slot, None], seen: set[int]) -> None:
        match type_:
            case Array(storage=storage):
                if storage.written and may_vary(type_):
                    found[self.find(storage), None] = None
            case List(element=part, storage=storage) | Dict(value=part, storage=storage):
                self._collect_slot((self.find(storage), None), part, found, seen)
            case Instance(fields=fields, storage=storage):
                root = self.find(storage)
                names = dict.fromkeys((*fields, *(name for owner, name in self.content if owner is root and name)))
                for name in names:
                    self._collect_slot((root, name), fields.get(name), found, seen)
            case Tuple(items=items) | PerPlace(items=items):
                for item in items:
                    self._collect(item, found, seen)

    def _collect_slot(self, slot: Slot, part: Type | None, found: dict[Slot, None], seen: set[int]) -> None:
        content = self.content.get(slot)
        if may_vary(content or part):
            found[slot] = None
        for inner in (content, part):
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                self._collect(inner, found, seen)
