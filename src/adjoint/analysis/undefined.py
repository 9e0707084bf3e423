"""Which variables have no value on some path: nobody may read them there."""

from __future__ import annotations

from adjoint.analysis.joins import joins, reached
from adjoint.ir.nodes import UNDEFINED, Atom, Block, Const, Loop, Var
from adjoint.ir.types import Array
from adjoint.ir.walk import statements_in


def may_be_undefined(block: Block) -> set[Var]:
    """The variables of a block that have no value on some path."""
    flows: dict[Var, list[Var]] = {}
    found: set[Var] = set()
    for statement in statements_in(block):
        if isinstance(statement, Loop):
            found.update(statement.targets[len(statement.params) :])  # only exits give them a value
        for source, target in joins(statement):
            if source is UNDEFINED or _stands_in(source, target):
                found.add(target)
            elif isinstance(source, Var):
                flows.setdefault(source, []).append(target)
    return reached(found, flows)


def _stands_in(source: Atom, target: Var) -> bool:
    """Whether an array is None on a path on which nobody reads it."""
    return isinstance(target.type, Array) and isinstance(source, Const) and source.value is None
