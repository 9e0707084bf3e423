"""A walk that replaces statements of a function and of the functions that it calls."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adjoint import ir
from adjoint.ir.rebuild import map_blocks, map_branch


class Rewriting:
    """Walks over a function; what is to be replaced is told by :meth:`statement` and :meth:`terminator`.

    What nothing is replaced in stays the same object.
    """

    def __init__(self) -> None:
        self._made: dict[ir.Definition, ir.Definition] = {}

    def function(self, function: ir.Function) -> ir.Function:
        body = self.block(function.body)
        return function if body is function.body else ir.Function(function.name, function.params, body, function.doc)

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        """What stands for a statement that has no blocks."""
        return (statement,)

    def whole(self, statement: ir.Statement) -> ir.Statement | None:
        """What stands for a statement that has blocks, as it is; None where its blocks are rewritten first."""
        return None

    def compound(self, statement: ir.Statement) -> ir.Statement:
        """What stands for a statement that has blocks, these being rewritten already."""
        return statement

    def terminator(self, terminator: ir.Terminator) -> tuple[Iterable[ir.Statement], ir.Terminator]:
        """What stands for the end of a block, and statements before it."""
        return (), terminator

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition):
                callee = self._definition(statement.callee)
                statement = ir.Call(statement.targets, callee, statement.args, statement.kwargs, statement.span)
            if isinstance(statement, (ir.Call, ir.Load, ir.Store)):
                statements += self.statement(statement)
            elif (stands_for := self.whole(statement)) is not None:
                statements.append(stands_for)
            else:
                statements.append(self.compound(map_blocks(statement, self.block)))
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = map_branch(end, self.block)
        else:
            before, end = self.terminator(end)
            statements += before
        is_same = end is block.terminator and len(statements) == len(block.statements)
        if is_same and all(map(operator.is_, statements, block.statements)):
            return block
        return ir.Block(tuple(statements), end)

    def _definition(self, definition: ir.Definition) -> ir.Definition:
        known = self._made.get(definition)
        if known is None:
            known = self._made[definition] = ir.Definition(definition.name)
            known.function = None if definition.function is None else self.function(definition.function)
        return known
