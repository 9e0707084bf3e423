"""Views of what is a number on one path and an array on another: nobody knows what a write through them changes.

Such a value (:class:`adjoint.ir.types.Number`) is never written itself: that is refused where it is written. Of a view
of it, only the whole function shows whether it is.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.ir.walk import statements_in

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


def _is_written_view(statement: ir.Statement) -> bool:
    if not isinstance(statement, ir.Call) or not any(map(_is_either, statement.args)):
        return False
    place = effects_of(statement).view_of
    if place is None or place >= len(statement.args) or not _is_either(statement.args[place]):
        return False
    return any(storage.find().written for target in statement.targets for storage in ir.storages(target.type))


def _is_either(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Number)
