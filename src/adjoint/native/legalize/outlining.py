"""Long functions in parts: the time that a compiler takes grows faster than the length of a function."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.ir.nodes import Block, Call, Definition, Function, Return, Statement, Var
from adjoint.ir.walk import blocks_of, free_vars, operands, statements_in, targets_of
from adjoint.native.costs import LONGEST_FUNCTION, LONGEST_PART, SHORTEST_PART


def in_parts(function: Function) -> Function:
    """The function, with runs of its statements in functions of their own where there are too many.

    A part ends where the fewest variables are alive.
    """
    statements = function.body.statements
    if sum(map(_size, statements)) <= LONGEST_FUNCTION or len(statements) <= SHORTEST_PART:
        return function
    after = _read_from(statements, function.body)
    parts: list[Statement] = []
    first = 0
    while len(statements) - first > LONGEST_PART:
        last = _cut(statements, first, after)
        parts.append(_part(f"{function.name}_part", statements[first:last], after[last]))
        first = last
    body = Block((*parts, *statements[first:]), function.body.terminator)
    return Function(function.name, function.params, body, function.doc)


def _size(statement: Statement) -> int:
    return 1 + sum(len(statements_in(block)) for block in blocks_of(statement))


def _read_from(statements: Sequence[Statement], body: Block) -> list[set[Var]]:
    """For each place between statements the variables that are read behind it."""
    read = [{atom for atom in operands(body.terminator) if isinstance(atom, Var)}]
    read[0].update(var for block in blocks_of(body.terminator) for var in free_vars(block))
    for statement in reversed(statements):
        own = {atom for atom in operands(statement) if isinstance(atom, Var)}
        own.update(var for block in blocks_of(statement) for var in free_vars(block))
        read.append(read[-1] | own)
    return read[::-1]


def _cut(statements: Sequence[Statement], first: int, after: list[set[Var]]) -> int:
    """Where a part that starts at ``first`` ends: where it hands on the least."""
    made: set[Var] = set()
    best, fewest, size = first + 1, None, 0
    for place in range(first, len(statements)):
        made.update(targets_of(statements[place]))
        size += _size(statements[place])
        alive = len(made & after[place + 1])
        if size >= SHORTEST_PART and (fewest is None or alive < fewest):
            best, fewest = place + 1, alive
        if size >= LONGEST_PART:
            break
    return best if fewest is not None else place + 1


def _part(name: str, statements: Sequence[Statement], read_later: set[Var]) -> Call:
    made = [target for statement in statements for target in targets_of(statement)]
    results = tuple(var for var in made if var in read_later)
    body = Block(tuple(statements), Return(results))
    params = free_vars(body)
    return Call(results, Definition(name, Function(name, params, body)), params)
