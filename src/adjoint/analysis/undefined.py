"""Which variables have no value on some path: nobody may read them there."""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.joins import joins, reached
from adjoint.ir.walk import statements_in


def may_be_undefined(block: ir.Block) -> set[ir.Var]:
    """The variables of a block that have no value on some path."""
    flows: dict[ir.Var, list[ir.Var]] = {}
    found: set[ir.Var] = set()
    for statement in statements_in(block):
        if isinstance(statement, ir.Loop):
            found.update(statement.targets[len(statement.params) :])  # only exits give them a value
        for source, target in joins(statement):
            if source is ir.UNDEFINED or (isinstance(target.type, ir.Array) and is_undefined(source)):
                found.add(target)
            elif isinstance(source, ir.Var):
                flows.setdefault(source, []).append(target)
    return reached(found, flows)


def is_undefined(source: ir.Atom) -> bool:
    """Whether an array has no value: on a path on which nobody reads it, it may be None."""
    return source is ir.UNDEFINED or (isinstance(source, ir.Const) and source.value is None)
