"""Variables that are assigned on several paths: what was computed from them on those paths, and not behind them.

Where paths meet, a variable has a name of its own, and what is computed from it there is told from the text. What was
computed from it before, on one of the paths, depends on it as well, if that path was taken: so that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint.frontend.surgery.sole_names import reached_by
from adjoint.ir.nodes import Atom, Binding, Call, Continue, Exit, Loop, Statement, Var, Yield
from adjoint.ir.types import Storage
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of, vars_used

Slice = Callable[[Statement, Sequence[Var], set[Storage]], Statement | None]
"""A statement as far as some of its targets, and what it writes in some memory, need it."""


def is_computed_on_a_path(before: Sequence[Statement], variable: Var, value: Atom, computing: Slice) -> bool:
    """Whether a value depends on what a variable was bound to before the paths met on which it is bound."""
    for place, statement in enumerate(before):
        if variable in targets_of(statement) and blocks_of(statement):
            bound = _bound_on_paths(statement, variable)
            return value in _reached(before, place, variable, bound, computing)
    return False


def _bound_on_paths(statement: Statement, variable: Var) -> set[Var]:
    """What a variable is before paths meet: inside of the statement, or before it where a path assigns nothing."""
    slot = targets_of(statement).index(variable)
    ends = [end for block in blocks_of(statement) for end in leaves(block)]
    found = [end.values[slot] for end in ends if isinstance(end, (Yield, Continue, Exit)) and slot < len(end.values)]
    if isinstance(statement, Loop):
        found.append(statement.inits[slot])
    inside = [inner for block in blocks_of(statement) for inner in statements_in(block)]
    bound = {atom for atom in found if isinstance(atom, Var)}
    for inner in inside:
        if blocks_of(inner):
            for target in bound.intersection(targets_of(inner)):
                bound |= _bound_on_paths(inner, target)
    return bound


def _reached(before: Sequence[Statement], place: int, variable: Var, bound: set[Var], computing: Slice) -> set[Atom]:
    """What depends on any of some variables, but not by what another one is where paths meet."""
    atoms: set[Atom] = set(bound)
    memory: set[Storage] = set()
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
    statement: Statement,
    made: Sequence[Var],
    written: set[Storage],
    atoms: set[Atom],
    memory: set[Storage],
    computing: Slice,
) -> bool:
    left = computing(statement, made, written) if blocks_of(statement) else statement
    if left is None:
        return False
    used = _used(left) | {
        atom
        for block in blocks_of(left)
        for inner in statements_in(block)
        if isinstance(inner, Call) and isinstance(inner.callee, Binding)
        for atom in inner.targets
    }
    return not atoms.isdisjoint(used) or any(not memory.isdisjoint(reached_by(atom)) for atom in used)


def _used(statement: Statement) -> set[Atom]:
    found: set[Atom] = {atom for atom in operands(statement) if isinstance(atom, Var)}
    return found.union(*map(vars_used, blocks_of(statement)))
