"""Redundant load elimination: what was just read from a place, or stored there, need not be read again.

Places are fields of objects, and elements of arrays of 64-bit floats and whole numbers and of truth values, where what
is stored is what is read. A view of a part of an array is the same view whatever is written there: it is made once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.identities import told_apart
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.ir.join import is_integer, type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, substitute
from adjoint.ir.views import rank_of_part
from adjoint.ir.walk import operands, with_inner

Place = tuple[ir.Var, tuple[ir.Atom | ir.Slice, ...] | ir.Subscript | str]
"""An array with the index of an element or, as a whole, the index of a view; an object with the name of a field."""
Known = dict[Place, ir.Atom]
_EXACT = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_))


def without_repeated_fields(function: ir.Function) -> ir.Function:
    """The function without loads of fields of objects that were loaded before.

    What a field refers to has one name then, and one shadow; a number is kept once.
    """
    return _eliminated(function, _field, stores=False)


def without_repeated_loads(function: ir.Function) -> ir.Function:
    """The function without loads of what was loaded before.

    Before a reversal each load that is gone spares a sum into a shadow. What was stored is loaded all the same: the
    reverse sweep keeps what is loaded, and computes again what was calculated. A program that stores a value and reads
    it back cuts a long calculation in two.
    """
    return _eliminated(function, _part, stores=False)


def with_stores_forwarded(function: ir.Function) -> ir.Function:
    """The function without loads of what was loaded or stored before (store-to-load forwarding)."""
    return _eliminated(function, _element, stores=True)


PlaceOf = Callable[[ir.Statement], "Place | None"]


def _eliminated(function: ir.Function, place_of: PlaceOf, *, stores: bool) -> ir.Function:
    body = _Elimination(function, place_of, stores).block(function.body, {})
    return ir.Function(function.name, function.params, body, function.doc)


class _Elimination:
    def __init__(self, function: ir.Function, place_of: PlaceOf, stores: bool) -> None:
        self.function = function
        self.place_of = place_of
        self.stores = stores

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.function)

    @cached_property
    def apart(self) -> frozenset[ir.Var]:
        return told_apart(self.function)

    def block(self, block: ir.Block, known: Known) -> ir.Block:
        statements: list[ir.Statement] = []
        renamed: dict[ir.Var, ir.Atom] = {}
        inside = lambda inner: self.block(inner, dict(known))
        for statement in block.statements:
            current = substitute(statement, renamed)
            place = self.place_of(current)
            if isinstance(current, ir.Load) and place is not None:
                if place in known and self.is_alike(known[place], current.target):
                    renamed[current.target] = known[place]
                    continue
                known[place] = current.target
            else:
                if isinstance(current, (ir.If, ir.Loop, ir.Guarded)):
                    if not isinstance(current, ir.If):
                        _forget(known, current)
                    current = map_blocks(current, inside)
                _forget(known, current)
                if self.stores and isinstance(current, ir.Store) and current.mode == "set" and place is not None:
                    known[place] = current.value
            statements.append(current)
        end = substitute(block.terminator, renamed)
        return ir.Block(tuple(statements), rebuild_terminator(end, lambda atom: atom, inside))

    def is_alike(self, stored: ir.Atom, read: ir.Var) -> bool:
        """Whether what was stored, or read before, may stand for what is read."""
        if not isinstance(read.type, ir.Array):
            return _is_alike(stored, read)
        if type_of_atom(stored) != read.type or read in self.apart:
            return False
        return not (self.memory.returned(stored) and self.memory.returned(read))  # two results are two objects


def _field(statement: ir.Statement) -> Place | None:
    """The field of an object that a statement reads."""
    if not isinstance(statement, ir.Load) or not isinstance(statement.key, ir.Attribute):
        return None
    base = statement.base
    return (base, statement.key.name) if isinstance(base, ir.Var) and isinstance(base.type, ir.Instance) else None


def _element(statement: ir.Statement) -> Place | None:
    """The single place of an array that a statement reads or writes."""
    if not isinstance(statement, (ir.Load, ir.Store)) or not isinstance(statement.key, ir.Subscript):
        return None
    base, key = statement.base, statement.key
    if not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array) or base.type.dtype not in _EXACT:
        return None
    if base.type.dims is None or len(key.items) != len(base.type.dims):
        return None
    return (base, key.items) if all(map(is_integer, key.items)) else None


def _part(statement: ir.Statement) -> Place | None:
    """The place that a statement reads or writes, or the view of an array that it makes."""
    place = _element(statement)
    if place is not None or not isinstance(statement, ir.Load) or not isinstance(statement.key, ir.Subscript):
        return place
    base, key, target = statement.base, statement.key, statement.target
    if not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array) or not isinstance(target.type, ir.Array):
        return None
    return (base, key) if rank_of_part(base, key) else None


def _is_alike(stored: ir.Atom, read: ir.Var) -> bool:
    """Whether what was stored is of the type of what is read, a number or an object."""
    type_ = type_of_atom(stored)
    return type_ == read.type or (_is_float(type_) and _is_float(read.type))


def _is_float(type_: ir.Type | None) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind == "float" and type_.dtype in (None, np.dtype(np.float64))


def _forget(known: Known, statement: ir.Statement) -> None:
    """Forgets what a statement, or anything inside of it, may overwrite."""
    if not known:
        return
    written: set[ir.Storage] = set()
    for inner in with_inner(statement):
        found = written_by(inner)
        if found is None:
            known.clear()
            return
        written |= found
    if not written:
        return
    bases = {base for base in {place[0] for place in known} if not written.isdisjoint(ir.storages(base.type))}
    for place in [place for place in known if place[0] in bases and not isinstance(place[1], ir.Subscript)]:
        del known[place]


def written_by(statement: ir.Statement) -> set[ir.Storage] | None:
    """The memory that a statement writes by itself; None if that is not known."""
    if isinstance(statement, ir.Store):
        return set(ir.storages(type_of_atom(statement.base)))
    if not isinstance(statement, ir.Call):
        return set()
    found = effects_of(statement)
    if not found.known:
        return None
    values = operands(statement)
    places = [place for place in found.writes if place < len(values)]
    return set().union(*(ir.storages(type_of_atom(values[place])) for place in places))
