"""Loops over what Python iterates: machine code asks for one item after another."""

from __future__ import annotations

from adjoint import ir
from adjoint.differentiation.reverse.forward_edits import filler
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.records import replace
from adjoint.runtime.lists import next_item


def with_items_asked_for(function: ir.Function) -> ir.Function:
    """The function with loops that ask an iterator for the next item, and are left where there is none."""
    return _Asking().function(function)


class _Asking(Rewriting):
    def block(self, block: ir.Block) -> ir.Block:
        block = super().block(block)
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, ir.Loop) and isinstance(statement.over, ir.Items):
                iterator = ir.Var("iterator", ir.OPAQUE)
                statements.append(ir.Call((iterator,), iter, (statement.over.iterable,), (), statement.span))
                statement = _asking(statement, iterator)
            statements.append(statement)
        is_same = len(statements) == len(block.statements)
        return block if is_same else ir.Block(tuple(statements), block.terminator)


def _asking(loop: ir.Loop, iterator: ir.Var) -> ir.Loop:
    is_there = ir.Var("is_there", ir.BOOL)
    item = ir.Var("item", ir.OPAQUE) if loop.index is None else loop.index
    call = ir.Call((is_there, item), next_item, (iterator, filler(item.type)), (), loop.span)
    over = ir.Block((), ir.Exit(0, loop.params))
    return replace(loop, over=None, index=None, body=ir.Block((call,), ir.Branch(is_there, loop.body, over)))


__all__ = ["with_items_asked_for"]
