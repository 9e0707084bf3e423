"""Two loops over one range, the second of which does again what the first did, as one.

What the first keeps for the second in an array is then at hand.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.ir.join import is_array
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import free_vars, operands
from adjoint.native.loops.loop_reversal import Accesses, touch_apart
from adjoint.records import replace


def with_loops_joined(function: ir.Function) -> ir.Function:
    """The function with neighbouring loops joined where only the order of what they do, and of errors, changes."""
    return ir.Function(function.name, function.params, _block(function.body), function.doc)


def _block(block: ir.Block) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        current = map_blocks(statement, _block)
        if not isinstance(current, ir.Loop) or not _join(statements, current):
            statements.append(current)
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, _block))


def _join(before: list[ir.Statement], second: ir.Loop) -> bool:
    """Joins a loop with the one that ends the statements before it, but for some that may stand before both."""
    place = next((place for place in reversed(range(len(before))) if isinstance(before[place], ir.Loop)), None)
    if place is None:
        return False
    first, between = before[place], before[place + 1 :]
    assert isinstance(first, ir.Loop)
    if not all(map(_may_be_earlier, between)) or not _may_be_one(first, between, second):
        return False
    before[place:] = [*between, _joined(first, second)]
    return True


def _may_be_earlier(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and effects_of(statement).pure and not any(map(is_array, operands(statement)))


def _may_be_one(first: ir.Loop, between: Sequence[ir.Statement], second: ir.Loop) -> bool:
    over = _of_both(first, second)
    if over is None or over.backward or first.index is None:
        return False
    if not all(isinstance(loop.body.terminator, ir.Continue) and loop.exit is None for loop in (first, second)):
        return False
    read = {*second.inits, *free_vars(second.body), *(atom for s in between for atom in operands(s))}
    return read.isdisjoint(first.targets) and second.index is not None and _stay_apart(first, second, first.index)


def _of_both(first: ir.Loop, second: ir.Loop) -> ir.Range | None:
    """The range of two loops that run over the same; its order is free where that of both is."""
    one, other = first.over, second.over
    if not isinstance(one, ir.Range) or not isinstance(other, ir.Range):
        return None
    free = one.free and other.free
    return replace(one, free=free) if replace(one, free=free) == replace(other, free=free) else None


def _stay_apart(first: ir.Loop, second: ir.Loop, index: ir.Var) -> bool:
    """Whether what one loop does to memory concerns the other in the same iteration only."""
    assert second.index is not None
    moved = ir.Loop(
        second.over, index, second.params, second.inits, substitute(second.body, {second.index: index}), second.targets
    )
    one, other = Accesses(first), Accesses(moved)
    if not one.known or not other.known:
        return False
    outside = one.from_outside()
    for storage, accesses in other.from_outside().items():
        both = [*outside.get(storage, ()), *accesses]
        shared = storage in outside and any(access.writes for access in both)
        if shared and not touch_apart(both, {index}):
            return False
    return True


def _joined(first: ir.Loop, second: ir.Loop) -> ir.Loop:
    assert first.index is not None and second.index is not None
    renamed = substitute(second.body, {second.index: first.index})
    one, other = first.body.terminator, renamed.terminator
    assert isinstance(one, ir.Continue) and isinstance(other, ir.Continue)
    body = ir.Block((*first.body.statements, *renamed.statements), ir.Continue((*one.values, *other.values)))
    return ir.Loop(
        _of_both(first, second),
        first.index,
        (*first.params, *second.params),
        (*first.inits, *second.inits),
        body,
        (*first.targets, *second.targets),
        None,
        first.span,
    )


__all__ = ["with_loops_joined"]
