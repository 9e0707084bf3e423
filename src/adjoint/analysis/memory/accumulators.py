"""Arrays that a loop only adds to: the order of the sums, and when they are added, is then nobody's business."""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.walk import operands, statements_in, targets_of, terminators_in


def is_only_added_to(array: ir.Var, loop: ir.Loop, function: ir.Function, aliases: Aliases) -> bool:
    """Whether a loop does nothing with the memory of an array, which no caller has, but to add to it in place."""
    own = aliases.of(array)
    if own in aliases.classes(function.params):
        return False
    ends = [atom for end in terminators_in(loop.body) for atom in operands(end)]
    if own in aliases.classes((*loop.inits, *ends)):
        return False
    for statement in statements_in(loop.body):
        atoms = operands(statement)
        if isinstance(statement, ir.Store) and statement.mode != "set" and aliases.of(statement.base) == own:
            atoms = (statement.value,)
        if own in aliases.classes((*atoms, *targets_of(statement))):
            return False
    return True
