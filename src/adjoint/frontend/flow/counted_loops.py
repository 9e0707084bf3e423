"""Loops that do not count their iterations, with a variable that does: so that those that have run can be run again."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adjoint import ir
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import leaves, statements_in


def is_counted(loop: ir.Loop) -> bool:
    """Whether the last parameter of a loop tells how many iterations have run."""
    if not loop.params or loop.inits[-1] != ir.Const(0):
        return False
    more = {
        statement.targets[0]
        for statement in statements_in(loop.body)
        if isinstance(statement, ir.Call) and statement.callee is operator.add
        if statement.args == (loop.params[-1], ir.Const(1))
    }
    ends = [leaf.values[len(loop.params) - 1] for leaf in leaves(loop.body) if isinstance(leaf, ir.Continue)]
    return more.issuperset(ends)


def with_counters(block: ir.Block, loops: Iterable[ir.Loop]) -> ir.Block:
    """The block in which some loops count."""
    uncounted = set(map(id, loops))

    def inner(old: ir.Block) -> ir.Block:
        statements = tuple([statement(each) for each in old.statements])
        end = old.terminator
        return ir.Block(statements, rebuild_terminator(end, same_atom, inner) if isinstance(end, ir.Branch) else end)

    def statement(old: ir.Statement) -> ir.Statement:
        new = map_blocks(old, inner)
        return _counting(new) if isinstance(new, ir.Loop) and id(old) in uncounted else new

    return inner(block)


def _counting(loop: ir.Loop) -> ir.Loop:
    count = ir.Var("count", ir.INT)
    place = len(loop.params)

    def block(old: ir.Block) -> ir.Block:
        match old.terminator:
            case ir.Continue(values):
                more = ir.Var("count", ir.INT)
                step = ir.Call((more,), operator.add, (count, ir.Const(1)), (), loop.span)
                return ir.Block((*old.statements, step), ir.Continue((*values, more)))
            case ir.Exit(kind, values):
                return ir.Block(old.statements, ir.Exit(kind, (*values[:place], count, *values[place:])))
            case ir.Branch(cond, then, orelse, span):
                return ir.Block(old.statements, ir.Branch(cond, block(then), block(orelse), span))
        return old

    targets = (*loop.targets[:place], ir.Var("count", ir.INT), *loop.targets[place:])
    params, inits = (*loop.params, count), (*loop.inits, ir.Const(0))
    return ir.Loop(loop.over, loop.index, params, inits, block(loop.body), targets, loop.exit, loop.span)
