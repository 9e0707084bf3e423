"""Redundant load elimination: what was just read from a place, or stored there, need not be read again.

Places are fields of objects, and elements of arrays of 64-bit floats and whole numbers and of truth values, where what
is stored is what is read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import operands, with_inner

Place = tuple[ir.Var, tuple[ir.Atom | ir.Slice, ...] | str]
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
    return _eliminated(function, _element, stores=False)


def with_stores_forwarded(function: ir.Function) -> ir.Function:
    """The function without loads of what was loaded or stored before (store-to-load forwarding)."""
    return _eliminated(function, _element, stores=True)


PlaceOf = Callable[[ir.Statement], "Place | None"]


def _eliminated(function: ir.Function, place_of: PlaceOf, *, stores: bool) -> ir.Function:
    return ir.Function(function.name, function.params, _block(function.body, {}, place_of, stores), function.doc)


def _block(block: ir.Block, known: Known, place_of: PlaceOf, stores: bool) -> ir.Block:
    statements: list[ir.Statement] = []
    renamed: dict[ir.Var, ir.Atom] = {}
    inside = lambda inner: _block(inner, dict(known), place_of, stores)
    for statement in block.statements:
        current = substitute(statement, renamed)
        place = place_of(current)
        if isinstance(current, ir.Load) and place is not None:
            if place in known and _is_alike(known[place], current.target):
                renamed[current.target] = known[place]
                continue
            known[place] = current.target
        else:
            if isinstance(current, (ir.If, ir.Loop, ir.Guarded)):
                if not isinstance(current, ir.If):
                    _forget(known, current)
                current = map_blocks(current, inside)
            _forget(known, current)
            if stores and isinstance(current, ir.Store) and current.mode == "set" and place is not None:
                known[place] = current.value
        statements.append(current)
    end = substitute(block.terminator, renamed)
    return ir.Block(tuple(statements), rebuild_terminator(end, lambda atom: atom, inside))


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
    plain = all(isinstance(item, (ir.Var, ir.Const)) and _is_whole(item) for item in key.items)
    return (base, key.items) if plain else None


def _is_whole(atom: ir.Atom) -> bool:
    type_ = type_of_atom(atom)
    return isinstance(type_, ir.Scalar) and type_.kind == "int"


def _is_alike(stored: ir.Atom, read: ir.Var) -> bool:
    """Whether what was stored is of the type of what is read."""
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
    for place in [place for place in known if place[0] in bases]:
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
