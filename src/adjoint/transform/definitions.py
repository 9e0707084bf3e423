"""Passes for a function and for the recursive functions that it calls."""

from __future__ import annotations

from collections.abc import Callable

from adjoint.ir.nodes import Block, Call, Definition, Function, Statement
from adjoint.ir.walk import map_blocks, rebuild_terminator


def everywhere(function: Function, step: Callable[[Function], Function]) -> Function:
    """Applies a pass to a function and to all recursive functions that are called in it, each once."""
    return _Everywhere(step).function(function)


class _Everywhere:
    def __init__(self, step: Callable[[Function], Function]) -> None:
        self.step = step
        self.known: dict[Definition, Definition] = {}

    def function(self, function: Function) -> Function:
        changed = self.step(function)
        return Function(changed.name, changed.params, self.block(changed.body), changed.doc)

    def block(self, block: Block) -> Block:
        statements = tuple(self.statement(statement) for statement in block.statements)
        return Block(statements, rebuild_terminator(block.terminator, lambda atom: atom, self.block))

    def statement(self, statement: Statement) -> Statement:
        if isinstance(statement, Call) and isinstance(statement.callee, Definition):
            callee = self.definition(statement.callee)
            return Call(statement.targets, callee, statement.args, statement.kwargs, statement.span)
        return map_blocks(statement, self.block)

    def definition(self, definition: Definition) -> Definition:
        if definition not in self.known:
            new = self.known[definition] = Definition(definition.name, None, definition.checkpoints)
            assert definition.function is not None
            new.function = self.function(definition.function)
        return self.known[definition]
