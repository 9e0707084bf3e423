"""Indices that are never negative are marked: compiled code need not count from the end for them."""

from __future__ import annotations

from adjoint.analysis.nonnegative import naturals_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Block, Call, Function, Load, Loop, Range, Slice, Statement, Store, Subscript, Var
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.types import INT, Array
from adjoint.runtime.arithmetic import indices


def with_unsigned_indices(function: Function) -> Function:
    """The function with those indices marked that are surely not negative."""
    return Function(function.name, function.params, _Marking(naturals_of(function)).block(function.body), function.doc)


class _Marking:
    def __init__(self, naturals: set[Var]) -> None:
        self.naturals = naturals
        self.falling: set[Atom | Slice | None] = set()

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Loop) and isinstance(statement.over, Range) and statement.over.backward:
                self.falling.add(statement.index)
            current = map_blocks(statement, self.block)
            if (
                isinstance(current, (Load, Store))
                and isinstance(type_of_atom(current.base), Array)
                and isinstance(current.key, Subscript)
            ):
                is_row = isinstance(current, Load) and isinstance(current.target.type, Array)
                items = tuple(self.marked(item, statements, is_row) for item in current.key.items)
                key = Subscript(items, current.key.tupled)
                if isinstance(current, Load):
                    current = Load(current.target, current.base, key, current.span)
                else:
                    current = Store(current.base, key, current.value, current.mode, current.span)
            statements.append(current)
        return Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))

    def marked(self, item: Atom | Slice, before: list[Statement], is_row: bool) -> Atom | Slice:
        if not isinstance(item, Var) or item not in self.naturals:
            return item
        marked = Var(item.hint, INT)
        mark = indices.row if is_row and item in self.falling else indices.unsigned
        before.append(Call((marked,), mark, (item,)))
        return marked
