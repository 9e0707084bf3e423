"""Arrays that a loop carries, and that are written: as values, where each iteration writes only what it has made.

What is run again must not change which memory a variable refers to. Of arrays that are filled once and then only read
nobody can tell whether they are carried themselves, or copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of, written_args
from adjoint.analysis.memory.storage_alias import owns_result
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import leaves, statements_in


def without_invariants(loop: ir.Loop) -> tuple[ir.Loop, dict[ir.Var, ir.Atom]]:
    """The loop without references that it carries and does not change; tells what stands for their targets."""
    ends = list(leaves(loop.body))
    same = [
        slot
        for slot, param in enumerate(loop.params)
        if ir.is_handle(param.type)
        and isinstance(loop.inits[slot], ir.Var)
        and all(end.values[slot] is param for end in ends if isinstance(end, (ir.Continue, ir.Exit)))
    ]
    if not same:
        return loop, {}
    inside: dict[ir.Var, ir.Atom] = {loop.params[slot]: loop.inits[slot] for slot in same}

    def left(values: Sequence[ir.Atom]) -> tuple[ir.Atom, ...]:
        return tuple(value for slot, value in enumerate(values) if slot not in same)

    def leaf(end: ir.Terminator) -> tuple[tuple[ir.Statement, ...], ir.Terminator]:
        match end:
            case ir.Continue(values=values):
                return (), ir.Continue(left(values))
            case ir.Exit(kind=kind, values=values):
                return (), ir.Exit(kind, left(values))
            case _:
                return (), end

    body = substitute(_with_ends(loop.body, leaf), inside)
    new = ir.Loop(
        loop.over,
        loop.index,
        tuple(param for slot, param in enumerate(loop.params) if slot not in same),
        left(loop.inits),
        body,
        tuple(target for slot, target in enumerate(loop.targets) if slot not in same),
        loop.exit,
        loop.span,
    )
    return new, {loop.targets[slot]: loop.inits[slot] for slot in same}


def with_values_carried(loop: ir.Loop) -> tuple[list[ir.Statement], ir.Loop, list[ir.Statement]]:
    """What stands before a loop, the loop, and what stands behind it, so that it carries values."""
    slots = [
        slot
        for slot, param in enumerate(loop.params)
        if isinstance(param.type, ir.Array) and ir.is_handle(param.type) and loop.inits[slot] is not ir.UNDEFINED
    ]
    homes: set[ir.Storage] = set().union(*(ir.storages(loop.params[slot].type) for slot in slots))
    if not slots or not _writes_only_its_own(loop.body, homes):
        return [], loop, []
    before: list[ir.Statement] = []
    starts: list[ir.Statement] = []
    behind: list[ir.Statement] = []
    params, inits, targets = list(loop.params), list(loop.inits), list(loop.targets)
    for slot in slots:
        init = inits[slot]
        if isinstance(init, ir.Var):
            inits[slot] = _copied(init, before)
        params[slot] = _value(params[slot])
        starts.append(ir.Call((loop.params[slot],), np.copy, (params[slot],), (), loop.span))
    changed = [
        place
        for place, target in enumerate(targets)
        if isinstance(target.type, ir.Array) and not homes.isdisjoint(ir.storages(target.type))
    ]
    for place in changed:
        targets[place] = _value(targets[place])
        behind.append(ir.Call((loop.targets[place],), np.copy, (targets[place],), (), loop.span))

    def leaf(end: ir.Terminator) -> tuple[tuple[ir.Statement, ...], ir.Terminator]:
        if not isinstance(end, (ir.Continue, ir.Exit)):
            return (), end
        made: list[ir.Statement] = []
        places = slots if isinstance(end, ir.Continue) else changed
        values = list(end.values)
        for place in places:
            value = values[place]
            if isinstance(value, ir.Var):
                values[place] = _copied(value, made)
        new = ir.Continue(tuple(values)) if isinstance(end, ir.Continue) else ir.Exit(end.kind, tuple(values))
        return tuple(made), new

    body = _with_ends(loop.body, leaf)
    body = ir.Block((*starts, *body.statements), body.terminator)
    new = ir.Loop(loop.over, loop.index, tuple(params), tuple(inits), body, tuple(targets), loop.exit, loop.span)
    return before, new, behind


def _value(var: ir.Var) -> ir.Var:
    assert isinstance(var.type, ir.Array)
    return ir.Var(var.hint, ir.Array(var.type.dtype, var.type.dims), var.named)


def _copied(var: ir.Var, statements: list[ir.Statement]) -> ir.Var:
    copy = _value(var)
    statements.append(ir.Call((copy,), np.copy, (var,)))
    return copy


def _with_ends(
    block: ir.Block, leaf: Callable[[ir.Terminator], tuple[tuple[ir.Statement, ...], ir.Terminator]]
) -> ir.Block:
    """A block with other ends, and statements before them."""
    end = block.terminator
    if isinstance(end, ir.Branch):
        sides = _with_ends(end.then, leaf), _with_ends(end.orelse, leaf)
        return ir.Block(block.statements, ir.Branch(end.cond, *sides, end.span))
    more, end = leaf(end)
    return ir.Block((*block.statements, *more), end)


def _writes_only_its_own(body: ir.Block, homes: set[ir.Storage]) -> bool:
    """Whether what is written of some memory was made in the same iteration."""
    own: set[ir.Atom] = set()
    for statement in statements_in(body):
        match statement:
            case ir.Call(targets=(target,)) if not isinstance(
                statement.callee, (ir.Definition, ir.Derived, ir.Function)
            ):
                if owns_result(statement, effects_of(statement)):
                    own.add(target)
            case ir.Load(target=target, base=base) if base in own:
                own.add(target)
    return all(
        atom in own or homes.isdisjoint(ir.storages(atom.type))
        for statement in statements_in(body)
        for atom in _written(statement)
        if isinstance(atom, ir.Var)
    )


def _written(statement: ir.Statement) -> Iterator[ir.Atom]:
    if isinstance(statement, ir.Store):
        yield statement.base
    elif isinstance(statement, ir.Call):
        yield from written_args(statement)
