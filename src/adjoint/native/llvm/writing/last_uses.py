"""Until which statement of a block its variables are needed."""

from __future__ import annotations

from adjoint import ir
from adjoint.ir.walk import blocks_of, free_vars, operands, targets_of


def last_uses(block: ir.Block) -> dict[ir.Var, int]:
    """For each variable the place of the last statement that reads it; the terminator's is behind all."""
    last: dict[ir.Var, int] = {}
    for place, statement in enumerate(block.statements):
        for var in variables_read(statement):
            last[var] = place
        for target in targets_of(statement):
            last.setdefault(target, place)
    end = block.terminator
    for atom in operands(end):
        if isinstance(atom, ir.Var):
            last[atom] = len(block.statements)
    for inner in blocks_of(end):
        for var in free_vars(inner):
            last[var] = len(block.statements)
    return last


def variables_read(statement: ir.Statement) -> list[ir.Var]:
    """The variables that a statement reads, also inside of it."""
    found = [atom for atom in operands(statement) if isinstance(atom, ir.Var)]
    for inner in blocks_of(statement):
        found += free_vars(inner)
    return found
