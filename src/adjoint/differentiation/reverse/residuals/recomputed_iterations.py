"""Loops whose iterations are run again in the reverse sweep, one by one, rather than remembered.

An iteration that depends on nothing but what the loop carries, and on memory that stays as it is, gives the same again
when it is reversed: only what the loop carries is kept, and everything else lives as long as one iteration. Where the
loop only adds up, not even that; then nobody needs what the forward sweep computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import all_memory
from adjoint.ir.rebuild import inline, map_blocks
from adjoint.ir.walk import free_vars, operands, statements_in
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.records import dataclass

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.cotangents import Scope
    from adjoint.differentiation.reverse.statements import Reverser


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration as a function: of the loop's index and parameters, and of what its body reads from outside."""

    function: ir.Function
    loop: ir.Loop
    captured: tuple[ir.Var, ...]


@dataclass(frozen=True, slots=True)
class Reversed:
    """Both sweeps of an iteration: statements, and the cotangents of values and of what was captured.

    ``partial``: a selection may have left something out of those, or of the memory in which they accumulate.
    """

    statements: tuple[ir.Statement, ...]
    seeds: tuple[ir.Var, ...]
    cotangents: tuple[ir.Atom, ...]
    partial: bool = False


Again = Callable[
    [
        ir.Function,
        tuple[int, ...],
        tuple[int, ...],
        dict[ir.Var, ir.Var],
        dict[ir.Var, ir.Var],
        frozenset[ir.Storage],
        bool,
    ],
    Reversed | None,
]
"""Reverses an iteration: its function, ``wrt``, ``outputs``, the memory in which cotangents of arrays from outside
accumulate, of such as are written and of others, the memory from outside, which has its last values, and whether a
selection may have left something out of what it is given."""


def iteration_of(reverser: Reverser, loop: ir.Loop) -> Iteration | None:
    """An iteration that may be run again when it is reversed; None where that might give something else."""
    region = reverser.context.region(reverser.context.regions.core(loop))
    outermost = region.parent is not None and not region.parent.in_loop
    if not outermost or not isinstance(loop.over, ir.Range) or loop.index is None:
        return None
    if not isinstance(loop.body.terminator, ir.Continue) or any(ir.is_handle(param.type) for param in loop.params):
        return None
    if any(not isinstance(param.type, ir.Scalar) and reverser.context.may_be_undefined(param) for param in loop.params):
        return None  # the cotangent of what an iteration is not given has no shape
    bound = (loop.index, *loop.params)
    captured = tuple(var for var in free_vars(loop.body) if var not in bound)
    if not all(_can_be_captured(reverser, var) for var in captured):
        return None
    outside = {storage for var in captured for storage in all_memory(var.type)}
    if not all(_may_run_again(reverser, statement, outside) for statement in statements_in(loop.body)):
        return None
    body = ir.Block(loop.body.statements, ir.Return(loop.body.terminator.values))
    return Iteration(ir.Function("iteration", (*bound, *captured), body), loop, captured)


def _can_be_captured(reverser: Reverser, var: ir.Var) -> bool:
    if not reverser.active(var):
        return isinstance(var.type, (ir.Scalar, ir.Array, ir.Opaque))
    if isinstance(var.type, ir.Array):
        return ir.is_handle(var.type) or var in reverser.ownership.owned
    return isinstance(var.type, ir.Scalar)


def _may_run_again(reverser: Reverser, statement: ir.Statement, outside: set[ir.Storage]) -> bool:
    """Whether a statement does the same again; what it stores to memory from outside is left out then."""
    if isinstance(statement, ir.Guarded):
        return False
    if isinstance(statement, ir.Call):
        found = effects_of(statement)
        if isinstance(statement.callee, ir.Derived) or not (found.known and (found.pure or found.confined)):
            return False
        if any(not outside.isdisjoint(_memory(operands(statement)[place])) for place in found.writes):
            return False
    read = [atom for atom in operands(statement) if not outside.isdisjoint(_memory(atom))]
    if isinstance(statement, ir.Store):
        read = [atom for atom in read if atom is not statement.base]
    return all(reverser.writes.settled(statement, atom) for atom in read)


def _memory(atom: ir.Atom) -> set[ir.Storage]:
    return set(all_memory(atom.type)) if isinstance(atom, ir.Var) else set()


def replay(
    reverser: Reverser, again: Again, iteration: Iteration, scope: Scope, given: Mapping[int, ir.Atom]
) -> dict[int, ir.Atom] | None:
    """Writes an iteration and its reverse into the body of a reverse loop.

    Parameters
    ----------
    scope
        The cotangents in the body of the reverse loop.
    given
        The cotangents of those parameters of the loop that carry one, after the iteration.

    Returns
    -------
    dict
        The cotangents of the same parameters before the iteration; None, and nothing written, where that fails.
    """
    function, loop = iteration.function, iteration.loop
    varying = [var for var in iteration.captured if reverser.active(var)]
    handles = {var: reverser.shadows.of(var) for var in varying if ir.is_handle(var.type)}
    owned = {
        var: reverser.ownership.owned[var] for var in varying if isinstance(var.type, ir.Array) and var not in handles
    }
    memory = handles | owned
    wanted = [*(loop.params[slot] for slot in given), *varying]
    wrt = tuple(function.params.index(var) for var in wanted)
    outside = frozenset(storage for var in iteration.captured for storage in all_memory(var.type))
    left_out = reverser.supports.partial
    partial = not left_out.isdisjoint(
        (*memory.values(), *(each for each in given.values() if isinstance(each, ir.Var)))
    )
    found = again(function, wrt, tuple(given), handles, owned, outside, partial)
    if found is None:
        return None
    for var in owned:
        reverser.ownership.accumulator(var)
    values = {
        var: cotangent
        for var, cotangent in zip(wanted, found.cotangents, strict=True)
        if var not in handles and cotangent is not owned.get(var)
    }
    body = ir.Block(_without_stores(found.statements, outside), ir.Return(tuple(values.values())))
    free = (*function.params, *found.seeds, *memory.values())
    alone = remove_dead_code(ir.Function("iteration", free, body))
    names: dict[ir.Var, ir.Atom] = {}
    inlined = inline(scope.sweep, alone, (*function.params, *given.values(), *memory.values()), names)
    for known in (reverser.family.by_chance, reverser.family.shadows):
        known.update([new for var in known if isinstance(new := names.get(var), ir.Var)])
    cotangents = dict(zip(values, inlined, strict=True))
    if found.partial:
        left_out.update(var for var in (*memory.values(), *inlined) if isinstance(var, ir.Var))
    for var in varying:
        reverser.add(scope, var, cotangents.get(var))
    return {slot: cotangents[loop.params[slot]] for slot in given}


def _without_stores(statements: Sequence[ir.Statement], outside: frozenset[ir.Storage]) -> tuple[ir.Statement, ...]:
    """Statements that leave memory from outside as it is: it holds what they would store, or something later."""

    def block(old: ir.Block) -> ir.Block:
        return ir.Block(_without_stores(old.statements, outside), old.terminator)

    return tuple(
        map_blocks(statement, block)
        for statement in statements
        if not isinstance(statement, ir.Store) or outside.isdisjoint(_memory(statement.base))
    )


__all__ = ["Iteration", "Reversed", "iteration_of", "replay"]
