"""Indices that are never negative are marked: compiled code need not count from the end for them."""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.shapes.nonnegative import naturals_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.runtime.arithmetic import indices


def with_unsigned_indices(function: ir.Function) -> ir.Function:
    """The function with those indices marked that are surely not negative."""
    return ir.Function(
        function.name, function.params, _Marking(naturals_of(function)).block(function.body), function.doc
    )


class _Marking:
    def __init__(self, naturals: set[ir.Var]) -> None:
        self.naturals = naturals
        self.falling: set[ir.Atom | ir.Slice | None] = set()

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, ir.Loop) and isinstance(statement.over, ir.Range) and statement.over.backward:
                self.falling.add(statement.index)
            current = map_blocks(statement, self.block)
            if (
                isinstance(current, (ir.Load, ir.Store))
                and isinstance(type_of_atom(current.base), ir.Array)
                and isinstance(current.key, ir.Subscript)
            ):
                is_row = isinstance(current, ir.Load) and isinstance(current.target.type, ir.Array)
                items = tuple(self.marked(item, statements, is_row) for item in current.key.items)
                key = ir.Subscript(items, current.key.tupled)
                if isinstance(current, ir.Load):
                    current = ir.Load(current.target, current.base, key, current.span)
                else:
                    current = ir.Store(current.base, key, current.value, current.mode, current.span)
            statements.append(current)
        return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))

    def marked(self, item: ir.Atom | ir.Slice, before: list[ir.Statement], is_row: bool) -> ir.Atom | ir.Slice:
        if not isinstance(item, ir.Var) or item not in self.naturals:
            return item
        marked = ir.Var(item.hint, ir.INT)
        mark = indices.row if is_row and item in self.falling else indices.unsigned
        before.append(ir.Call((marked,), mark, (item,)))
        return marked
