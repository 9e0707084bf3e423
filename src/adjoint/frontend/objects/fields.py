"""Fields of objects that are known: they are bound anew, unless others could see the object under another name."""

from __future__ import annotations

import ast

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import refuse_stand_ins
from adjoint.frontend.data.constants import as_stored
from adjoint.frontend.data.outside.lifted import lift
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Record, Ref, TupleValue, Value
from adjoint.runtime.objects import put_attribute as write_through
from adjoint.types.structure import CONTAINERS


def writable(lo: Lowerer, ref: Ref, node: ast.AST | None) -> None:
    """Raises where ``ref`` may not be written, or where that could not be seen through another name for it.

    What a variable from outside holds becomes an argument: lowering starts again.
    """
    sites = tuple(original_sites((ref.site,)))
    if any(lift(lo, site) for site in sites):
        raise Restart
    if ref.joins or ref.site.place[0] == "joined":
        raise NeedsRuntime(sites)


def put_attribute(lo: Lowerer, base: Ref, name: str, value: Value, node: ast.AST | None) -> None:
    """Writes to an object whose parts are known, past any ``__setattr__``."""
    writable(lo, base, node)
    record = lo.store[base]
    assert isinstance(record, Record)
    value = as_stored(lo, record.cls, name, value)
    lo.store[base] = record.with_part(name, value)
    if base.origin is not None:
        lo.open.effect(write_through, base.origin, ir.Const(name), handed_out(lo, value, node))


def remove_attribute(lo: Lowerer, base: Ref, name: str, node: ast.AST | None) -> None:
    """Takes an attribute from an object whose parts are known, and that has it."""
    writable(lo, base, node)
    record = lo.store[base]
    assert isinstance(record, Record)
    if base.origin is not None:
        raise lo.problem("AD0301", node, f"the attribute {name!r} of an object that is given is deleted")
    lo.store[base] = Record(record.cls, tuple([part for part in record.parts if part[0] != name]))


def handed_out(lo: Lowerer, value: Value, node: ast.AST | None) -> ir.Atom:
    """A value for memory of the caller. Lists and dicts in it are copies: where they are written later, all exist."""
    refuse_stand_ins(lo, value, node)
    atom = materialize(lo, value, node)
    _seal(lo, value)
    return atom


def _seal(lo: Lowerer, value: Value) -> None:
    match value:
        case TupleValue(items=items):
            for item in items:
                _seal(lo, item)
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls in CONTAINERS:
                value.joins.append(True)
                for item in record.items:
                    _seal(lo, item)
