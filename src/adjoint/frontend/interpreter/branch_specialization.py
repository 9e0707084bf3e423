"""Conditions made of whole numbers from outside, and of nothing else: flags, that decide of what a program consists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.frontend.interpreter.joins import NeedsRuntime
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.ir.walk import operands, targets_of

if TYPE_CHECKING:
    from adjoint.frontend.interpreter.core import Lowerer
    from adjoint.frontend.interpreter.state.attempts import Path
    from adjoint.frontend.interpreter.state.blocks import Open


@contextmanager
def knowing_flags(lo: Lowerer, cond: ir.Atom) -> Iterator[None]:
    """Starts again with the flags known that decide a branch whose sides leave other structures behind."""
    try:
        yield
    except NeedsRuntime:
        found = _flags_behind(lo, cond)
        if found and not found <= lo.settings.constant_inputs:
            lo.settings.constant_inputs |= found
            raise Restart from None
        raise


def _flags_behind(lo: Lowerer, cond: ir.Atom) -> set[Path]:
    """The integers from outside, other than arguments, of which a condition is computed; none, where of others too."""
    made: dict[ir.Atom, ir.Call] = {}
    opened: Open | None = lo.block
    while opened is not None:
        calls = (each for each in opened.statements if isinstance(each, ir.Call))
        made.update((target, call) for call in calls for target in targets_of(call))
        opened = opened.parent
    found: set[Path] = set()
    pending = [cond]
    for atom in pending:
        path = lo.run_data.whole_inputs.get(atom) if isinstance(atom, ir.Var) else None
        if path is not None and path[0] != "argument":
            found.add(path)
        elif atom in made:
            pending += operands(made[atom])
        elif isinstance(atom, ir.Var):
            return set()
    return found
