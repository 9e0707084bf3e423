"""Views of what is a number on one path and an array on another: nobody knows what a write through them changes.

Such a value (:class:`adjoint.ir.types.Number`) is never written itself: that is refused where it is written. Of a view
of it, only the whole function shows whether it is. Where nobody else has the value, the view is a copy as well.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.ir.rebuild import map_blocks, map_statements
from adjoint.ir.walk import read_counts, statements_in, targets_of

_HELPS = ("write a copy: y = np.array(y)", "or have it an array from the start, on every path: np.zeros(1) for 0.0")


def refuse_written_views(block: ir.Block) -> None:
    """Raises where a view is made of a number or an array, and is written."""
    found = [
        diagnostic("AD0401", statement.span, "this may be a view of a number or an array, and is written", helps=_HELPS)
        for statement in statements_in(block)
        if _is_written_view(statement)
    ]
    if found:
        raise DifferentiationError(*dict.fromkeys(found))


def with_copies_of_new_numbers(block: ir.Block) -> ir.Block:
    """Has a copy made instead of a view that is written, of what was made right there and is read by nothing else."""
    if not any(map(_is_written_view, statements_in(block))):
        return block
    return _with_copies(block, read_counts(block))


def _with_copies(block: ir.Block, reads: Counter[ir.Var]) -> ir.Block:
    new: set[ir.Atom] = set()

    def copied(statement: ir.Statement) -> ir.Statement:
        if isinstance(statement, ir.Call):
            facts = effects_of(statement)
            if facts.known and facts.view_of is None and not facts.hands_on:
                new.update(target for target in targets_of(statement) if reads[target] == 1)
            is_plain = statement.callee is np.asarray and len(statement.args) == 1 and not statement.kwargs
            if is_plain and statement.args[0] in new and _is_written_view(statement):
                return ir.Call(statement.targets, np.array, statement.args, (), statement.span)
        return map_blocks(statement, lambda inner: _with_copies(inner, reads))

    return map_statements(block, copied)


def _is_written_view(statement: ir.Statement) -> bool:
    if not isinstance(statement, ir.Call) or not any(map(_is_either, statement.args)):
        return False
    place = effects_of(statement).view_of
    if place is None or place >= len(statement.args) or not _is_either(statement.args[place]):
        return False
    return any(storage.find().written for target in statement.targets for storage in ir.storages(target.type))


def _is_either(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Number)
