"""Arrays that a loop carries, and that are written: as values, where each iteration writes only what it has made.

What is run again must not change which memory a variable refers to. Of arrays that are filled once and then only read
nobody can tell whether they are carried themselves, or copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from adjoint.analysis.memory.storage_alias import owns_result
from adjoint.frontend.interpreter.values import UNDEFINED
from adjoint.ir.effects import effects_of, storages, written_places
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Continue,
    Definition,
    Derived,
    Exit,
    Function,
    Load,
    Loop,
    Statement,
    Store,
    Terminator,
    Var,
)
from adjoint.ir.rebuild import substitute
from adjoint.ir.types import Array, Storage, is_handle
from adjoint.ir.walk import leaves, operands, statements_in


def without_invariants(loop: Loop) -> tuple[Loop, dict[Var, Atom]]:
    """The loop without references that it carries and does not change; tells what stands for their targets."""
    ends = list(leaves(loop.body))
    same = [
        slot
        for slot, param in enumerate(loop.params)
        if is_handle(param.type)
        and isinstance(loop.inits[slot], Var)
        and all(end.values[slot] is param for end in ends if isinstance(end, (Continue, Exit)))
    ]
    if not same:
        return loop, {}
    inside: dict[Var, Atom] = {loop.params[slot]: loop.inits[slot] for slot in same}

    def left(values: Sequence[Atom]) -> tuple[Atom, ...]:
        return tuple(value for slot, value in enumerate(values) if slot not in same)

    def leaf(end: Terminator) -> tuple[tuple[Statement, ...], Terminator]:
        match end:
            case Continue(values=values):
                return (), Continue(left(values))
            case Exit(kind=kind, values=values):
                return (), Exit(kind, left(values))
            case _:
                return (), end

    body = substitute(_with_ends(loop.body, leaf), inside)
    new = Loop(
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


def with_values_carried(loop: Loop) -> tuple[list[Statement], Loop, list[Statement]]:
    """What stands before a loop, the loop, and what stands behind it, so that it carries values."""
    slots = [
        slot
        for slot, param in enumerate(loop.params)
        if isinstance(param.type, Array) and is_handle(param.type) and loop.inits[slot] is not UNDEFINED
    ]
    homes: set[Storage] = set().union(*(storages(loop.params[slot].type) for slot in slots))
    if not slots or not _writes_only_its_own(loop.body, homes):
        return [], loop, []
    before: list[Statement] = []
    starts: list[Statement] = []
    behind: list[Statement] = []
    params, inits, targets = list(loop.params), list(loop.inits), list(loop.targets)
    for slot in slots:
        init = inits[slot]
        if isinstance(init, Var):
            inits[slot] = _copied(init, before)
        params[slot] = _value(params[slot])
        starts.append(Call((loop.params[slot],), np.copy, (params[slot],), (), loop.span))
    changed = [
        place
        for place, target in enumerate(targets)
        if isinstance(target.type, Array) and not homes.isdisjoint(storages(target.type))
    ]
    for place in changed:
        targets[place] = _value(targets[place])
        behind.append(Call((loop.targets[place],), np.copy, (targets[place],), (), loop.span))

    def leaf(end: Terminator) -> tuple[tuple[Statement, ...], Terminator]:
        if not isinstance(end, (Continue, Exit)):
            return (), end
        made: list[Statement] = []
        places = slots if isinstance(end, Continue) else changed
        values = list(end.values)
        for place in places:
            value = values[place]
            if isinstance(value, Var):
                values[place] = _copied(value, made)
        new = Continue(tuple(values)) if isinstance(end, Continue) else Exit(end.kind, tuple(values))
        return tuple(made), new

    body = _with_ends(loop.body, leaf)
    body = Block((*starts, *body.statements), body.terminator)
    new = Loop(loop.over, loop.index, tuple(params), tuple(inits), body, tuple(targets), loop.exit, loop.span)
    return before, new, behind


def _value(var: Var) -> Var:
    assert isinstance(var.type, Array)
    return Var(var.hint, Array(var.type.dtype, var.type.dims), var.named)


def _copied(var: Var, statements: list[Statement]) -> Var:
    copy = _value(var)
    statements.append(Call((copy,), np.copy, (var,)))
    return copy


def _with_ends(block: Block, leaf: Callable[[Terminator], tuple[tuple[Statement, ...], Terminator]]) -> Block:
    """A block with other ends, and statements before them."""
    end = block.terminator
    if isinstance(end, Branch):
        sides = _with_ends(end.then, leaf), _with_ends(end.orelse, leaf)
        return Block(block.statements, Branch(end.cond, *sides, end.span))
    more, end = leaf(end)
    return Block((*block.statements, *more), end)


def _writes_only_its_own(body: Block, homes: set[Storage]) -> bool:
    """Whether what is written of some memory was made in the same iteration."""
    own: set[Atom] = set()
    for statement in statements_in(body):
        match statement:
            case Call(targets=(target,)) if not isinstance(statement.callee, (Definition, Derived, Function)):
                if owns_result(statement, effects_of(statement)):
                    own.add(target)
            case Load(target=target, base=base) if base in own:
                own.add(target)
    return all(
        atom in own or homes.isdisjoint(storages(atom.type))
        for statement in statements_in(body)
        for atom in _written(statement)
        if isinstance(atom, Var)
    )


def _written(statement: Statement) -> Iterator[Atom]:
    if isinstance(statement, Store):
        yield statement.base
    elif isinstance(statement, Call):
        atoms, callee = operands(statement), statement.callee
        if isinstance(callee, (Definition, Derived, Function)):
            function = callee if isinstance(callee, Function) else callee.function
            places = range(len(atoms)) if function is None else written_places(function)
        else:
            found = effects_of(statement)
            places = found.writes if found.known else range(len(atoms))
        yield from (atoms[place] for place in places if place < len(atoms))
