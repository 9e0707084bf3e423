"""Long functions in parts: the time that a compiler takes grows faster than the length of a function."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.ir.rebuild import map_blocks, map_branch
from adjoint.ir.walk import blocks_of, free_vars, operands, statements_in, targets_of
from adjoint.native.costs import LONGEST_FUNCTION, LONGEST_PART, SHORTEST_PART
from adjoint.runtime import display

_PART = "_part"
"""How names of parts end."""


def in_parts(function: ir.Function) -> ir.Function:
    """The function, with runs of its statements in functions of their own where there are too many.

    A part ends where the fewest variables are alive. Bodies of loops are taken apart like functions. What fills lists
    stays: where a list is made empty, a compiler looks for what is put on it to know its type.
    """
    if len(statements_in(function.body)) <= LONGEST_FUNCTION or function.name.endswith(_PART):
        return function  # what still is long in a part cannot be taken apart
    body = _taken_apart(function.body, function.name + _PART)
    return ir.Function(function.name, function.params, body, function.doc)


def _taken_apart(block: ir.Block, name: str) -> ir.Block:
    """A block in which no run of statements is long, from the inside out."""

    def inside(each: ir.Statement) -> ir.Statement:
        if (_size(each) <= LONGEST_PART and not _fills_lists(each)) or _is_one_loop(each):
            return each
        return map_blocks(each, lambda inner: _taken_apart(inner, name))

    statements = [inside(each) for each in block.statements]
    end = block.terminator
    if isinstance(end, ir.Branch):
        end = map_branch(end, lambda inner: _taken_apart(inner, name))
    after = _read_from(statements, end)
    found: list[ir.Statement] = []
    first = 0
    for place in range(len(statements) + 1):
        if place == len(statements) or _fills_lists(statements[place]):
            found += _in_runs(statements[:place], first, after, name)
            found += statements[place : place + 1]
            first = place + 1
    return ir.Block(tuple(found), end)


def _is_one_loop(statement: ir.Statement) -> bool:
    """Whether a statement is a loop whose iterations may go side by side: calls would keep LLVM from it."""
    return (
        isinstance(statement, ir.Loop)
        and not statement.params
        and not any(isinstance(each, ir.Loop) for each in statements_in(statement.body))
    )


def _fills_lists(statement: ir.Statement) -> bool:
    """Whether a statement makes a list of which a compiler has to see what is put on it, or puts something on one."""
    inner = [each for block in blocks_of(statement) for each in statements_in(block)]
    calls = [each for each in (statement, *inner) if isinstance(each, ir.Call)]
    return any(each.callee is list.append or (each.callee is display.make_list and not each.args) for each in calls)


def _in_runs(statements: Sequence[ir.Statement], first: int, after: list[set[ir.Var]], name: str) -> list[ir.Statement]:
    """The statements from ``first`` on, in parts as far as they are long together."""
    left = sum(map(_size, statements[first:]))
    parts: list[ir.Statement] = []
    while left > LONGEST_PART and len(statements) - first > 1:
        last = _cut(statements, first, after)
        parts.append(_part(name, statements[first:last], after[last]))
        left -= sum(map(_size, statements[first:last]))
        first = last
    return [*parts, *statements[first:]]


def _size(statement: ir.Statement) -> int:
    return 1 + sum(len(statements_in(block)) for block in blocks_of(statement))


def _read_from(statements: Sequence[ir.Statement], end: ir.Terminator) -> list[set[ir.Var]]:
    """For each place between statements the variables that are read behind it."""
    read = [{atom for atom in operands(end) if isinstance(atom, ir.Var)}]
    read[0].update(var for block in blocks_of(end) for var in free_vars(block))
    for statement in reversed(statements):
        own = {atom for atom in operands(statement) if isinstance(atom, ir.Var)}
        own.update(var for block in blocks_of(statement) for var in free_vars(block))
        read.append(read[-1] | own)
    return read[::-1]


def _cut(statements: Sequence[ir.Statement], first: int, after: list[set[ir.Var]]) -> int:
    """Where a part that starts at ``first`` ends: where it hands on the least."""
    made: set[ir.Var] = set()
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


def _part(name: str, statements: Sequence[ir.Statement], read_later: set[ir.Var]) -> ir.Call:
    made = [target for statement in statements for target in targets_of(statement)]
    results = tuple(var for var in made if var in read_later)
    body = ir.Block(tuple(statements), ir.Return(results))
    params = free_vars(body)
    return ir.Call(results, ir.Definition(name, ir.Function(name, params, body)), params)
