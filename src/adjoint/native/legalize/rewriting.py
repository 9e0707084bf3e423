"""A walk that replaces statements of a function and of the functions that it calls."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adjoint.ir.nodes import Block, Branch, Call, Definition, Function, Load, Statement, Store, Terminator
from adjoint.ir.rebuild import map_blocks, map_branch


class Rewriting:
    """Walks over a function; what is to be replaced is told by :meth:`statement` and :meth:`terminator`.

    What nothing is replaced in stays the same object.
    """

    def __init__(self) -> None:
        self._made: dict[Definition, Definition] = {}

    def function(self, function: Function) -> Function:
        body = self.block(function.body)
        return function if body is function.body else Function(function.name, function.params, body, function.doc)

    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        """What stands for a statement that has no blocks."""
        return (statement,)

    def compound(self, statement: Statement) -> Statement:
        """What stands for a statement that has blocks, these being rewritten already."""
        return statement

    def terminator(self, terminator: Terminator) -> tuple[Iterable[Statement], Terminator]:
        """What stands for the end of a block, and statements before it."""
        return (), terminator

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Call) and isinstance(statement.callee, Definition):
                callee = self._definition(statement.callee)
                statement = Call(statement.targets, callee, statement.args, statement.kwargs, statement.span)
            if isinstance(statement, (Call, Load, Store)):
                statements += self.statement(statement)
            else:
                statements.append(self.compound(map_blocks(statement, self.block)))
        end = block.terminator
        if isinstance(end, Branch):
            end = map_branch(end, self.block)
        else:
            before, end = self.terminator(end)
            statements += before
        is_same = end is block.terminator and len(statements) == len(block.statements)
        if is_same and all(map(operator.is_, statements, block.statements)):
            return block
        return Block(tuple(statements), end)

    def _definition(self, definition: Definition) -> Definition:
        known = self._made.get(definition)
        if known is None:
            known = self._made[definition] = Definition(definition.name)
            known.function = None if definition.function is None else self.function(definition.function)
        return known
