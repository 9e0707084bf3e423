"""Names: the variable that one means in the frame at hand, and what it holds."""

from __future__ import annotations

import ast

from adjoint import ir
from adjoint.frontend.control.binding_flags import raise_unbound
from adjoint.frontend.data.outside.lookups import note
from adjoint.frontend.entry.inputs import global_value
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Cell, Value, is_torn


def lookup(lo: Lowerer, name: str, node: ast.AST | None) -> Value:
    """What a name means in the current frame."""
    cell = lo.cell_named(name)
    if cell is not None:
        return held_by(lo, cell, node)
    return global_value(lo, name, node)


def held_by(lo: Lowerer, cell: Cell, node: ast.AST | None) -> Value:
    """What a variable holds."""
    note(lo, cell)
    raise_unbound(lo, cell, node)
    name, value = cell.name, lo.store.get(cell, ir.UNDEFINED)
    if value is ir.UNDEFINED:
        lo.await_binding(cell)
    if value is ir.UNDEFINED and cell in lo.store:
        raise lo.problem("AD0304", node, f"{name!r} is read before it is assigned")
    if value is ir.UNDEFINED:
        label = f"{name!r} is not assigned on any path that leads here"
        raise lo.mistake(UnboundLocalError, node, label, code="AD0304")
    if is_torn(value):
        from adjoint.frontend.control.partial_effects import keep_or_refuse  # lazy

        keep_or_refuse(lo, value, node, f"what {name!r} holds here depends on where the exception was raised")
    return value
