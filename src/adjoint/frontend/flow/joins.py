"""Variables that are assigned on several paths: what was computed from them on those paths, and not behind them.

Where paths meet, a variable has a name of its own, and what is computed from it there is told from the text. What was
computed from it before, on one of the paths, depends on it as well, if that path was taken: so that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint import ir
from adjoint.frontend.surgery.sole_names import reached_by
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of, vars_used

Slice = Callable[[ir.Statement, Sequence[ir.Var], set[ir.Storage]], ir.Statement | None]
"""A statement as far as some of its targets, and what it writes in some memory, need it."""


def is_computed_on_a_path(before: Sequence[ir.Statement], variable: ir.Var, value: ir.Atom, computing: Slice) -> bool:
    """Whether a value depends on what a variable was bound to before the paths met on which it is bound."""
    for place, statement in enumerate(before):
        if variable in targets_of(statement) and blocks_of(statement):
            bound = _bound_on_paths(statement, variable)
            return value in _reached(before, place, variable, bound, computing)
    return False


def _bound_on_paths(statement: ir.Statement, variable: ir.Var) -> set[ir.Var]:
    """What a variable is before paths meet: inside of the statement, or before it where a path assigns nothing."""
    slot = targets_of(statement).index(variable)
    ends = [end for block in blocks_of(statement) for end in leaves(block)]
    found = [
        end.values[slot] for end in ends if isinstance(end, (ir.Yield, ir.Continue, ir.Exit)) and slot < len(end.values)
    ]
    if isinstance(statement, ir.Loop):
        found.append(statement.inits[slot])
    inside = [inner for block in blocks_of(statement) for inner in statements_in(block)]
    bound = {atom for atom in found if isinstance(atom, ir.Var)}
    for inner in inside:
        if blocks_of(inner):
            for target in bound.intersection(targets_of(inner)):
                bound |= _bound_on_paths(inner, target)
    return bound


def _reached(
    before: Sequence[ir.Statement], place: int, variable: ir.Var, bound: set[ir.Var], computing: Slice
) -> set[ir.Atom]:
    """What depends on any of some variables, but not by what another one is where paths meet."""
    atoms: set[ir.Atom] = set(bound)
    memory: set[ir.Storage] = set()
    for at, statement in enumerate(before):
        others = [target for target in targets_of(statement) if at != place or target is not variable]
        written = {storage for atom in _used(statement) for storage in reached_by(atom) if storage.written}
        found = [target for target in others if _depends(statement, [target], set(), atoms, memory, computing)]
        if written and _depends(statement, (), written, atoms, memory, computing):
            memory |= written
        atoms.update(found)
        memory |= {storage for target in found for storage in reached_by(target) if storage.written}
    return atoms


def _depends(
    statement: ir.Statement,
    made: Sequence[ir.Var],
    written: set[ir.Storage],
    atoms: set[ir.Atom],
    memory: set[ir.Storage],
    computing: Slice,
) -> bool:
    left = computing(statement, made, written) if blocks_of(statement) else statement
    if left is None:
        return False
    used = _used(left) | {
        atom
        for block in blocks_of(left)
        for inner in statements_in(block)
        if isinstance(inner, ir.Call) and isinstance(inner.callee, ir.Binding)
        for atom in inner.targets
    }
    return not atoms.isdisjoint(used) or any(not memory.isdisjoint(reached_by(atom)) for atom in used)


def _used(statement: ir.Statement) -> set[ir.Atom]:
    found: set[ir.Atom] = {atom for atom in operands(statement) if isinstance(atom, ir.Var)}
    return found.union(*map(vars_used, blocks_of(statement)))
