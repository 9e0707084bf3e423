"""Loops that do not count their iterations, with a variable that does: so that those that have run can be run again."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adjoint.ir.nodes import Block, Branch, Call, Const, Continue, Exit, Loop, Statement, Var
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.types import INT
from adjoint.ir.walk import leaves, statements_in


def is_counted(loop: Loop) -> bool:
    """Whether the last parameter of a loop tells how many iterations have run."""
    if not loop.params or loop.inits[-1] != Const(0):
        return False
    more = {
        statement.targets[0]
        for statement in statements_in(loop.body)
        if isinstance(statement, Call) and statement.callee is operator.add
        if statement.args == (loop.params[-1], Const(1))
    }
    ends = [leaf.values[len(loop.params) - 1] for leaf in leaves(loop.body) if isinstance(leaf, Continue)]
    return more.issuperset(ends)


def with_counters(block: Block, loops: Iterable[Loop]) -> Block:
    """The block in which some loops count."""
    uncounted = set(map(id, loops))

    def inner(old: Block) -> Block:
        statements = tuple([statement(each) for each in old.statements])
        end = old.terminator
        return Block(statements, rebuild_terminator(end, same_atom, inner) if isinstance(end, Branch) else end)

    def statement(old: Statement) -> Statement:
        new = map_blocks(old, inner)
        return _counting(new) if isinstance(new, Loop) and id(old) in uncounted else new

    return inner(block)


def _counting(loop: Loop) -> Loop:
    count = Var("count", INT)
    place = len(loop.params)

    def block(old: Block) -> Block:
        match old.terminator:
            case Continue(values):
                more = Var("count", INT)
                step = Call((more,), operator.add, (count, Const(1)), (), loop.span)
                return Block((*old.statements, step), Continue((*values, more)))
            case Exit(kind, values):
                return Block(old.statements, Exit(kind, (*values[:place], count, *values[place:])))
            case Branch(cond, then, orelse, span):
                return Block(old.statements, Branch(cond, block(then), block(orelse), span))
        return old

    targets = (*loop.targets[:place], Var("count", INT), *loop.targets[place:])
    params, inits = (*loop.params, count), (*loop.inits, Const(0))
    return Loop(loop.over, loop.index, params, inits, block(loop.body), targets, loop.exit, loop.span)
