"""Passes for a function and for the recursive functions that it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from adjoint import ir
from adjoint.analysis.called_functions import calls_of_functions
from adjoint.ir.printer import format_function
from adjoint.ir.rebuild import map_blocks, map_statements


def everywhere(function: ir.Function, step: Callable[[ir.Function], ir.Function]) -> ir.Function:
    """Applies a pass to a function and to all recursive functions that are called in it, each once.

    Where none of them becomes another, it gives the function itself.
    """
    found = with_called(function)
    made = {id(each): step(each) for each in found}
    if all(made[id(each)] is each for each in found):
        return function
    return _Everywhere(lambda each: made[id(each)] if id(each) in made else step(each)).function(function)


def called_by(function: ir.Function) -> list[ir.Definition]:
    """The recursive functions that a function calls, and those that they call."""
    found: dict[ir.Definition, None] = {}
    pending = [function]
    while pending:
        for callee in [call.callee for call in calls_of_functions(pending.pop())]:
            if isinstance(callee, ir.Definition) and callee not in found and callee.function is not None:
                found[callee] = None
                pending.append(callee.function)
    return list(found)


def with_called(function: ir.Function) -> list[ir.Function]:
    """A function, and all that stay functions in it."""
    return [function, *(each.function for each in called_by(function) if each.function is not None)]


def format_whole(function: ir.Function) -> str:
    """The text of a function, and of those that are called in it."""
    return "\n".join(map(format_function, with_called(function)))


def with_firsts(function: ir.Function, firsts: Mapping[ir.Definition, ir.Definition]) -> ir.Function:
    """The function with other definitions called for some, everywhere."""
    return _Everywhere(lambda each: each, firsts).function(function)


class _Everywhere:
    def __init__(
        self,
        step: Callable[[ir.Function], ir.Function],
        firsts: Mapping[ir.Definition, ir.Definition] = MappingProxyType({}),
    ) -> None:
        self.step = step
        self.firsts = firsts
        self.known: dict[ir.Definition, ir.Definition] = {}

    def function(self, function: ir.Function) -> ir.Function:
        changed = self.step(function)
        body = map_statements(changed.body, self.statement)
        return changed if body is changed.body else ir.Function(changed.name, changed.params, body, changed.doc)

    def statement(self, statement: ir.Statement) -> ir.Statement:
        if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition):
            callee = self.definition(statement.callee)
            return ir.Call(statement.targets, callee, statement.args, statement.kwargs, statement.span)
        return map_blocks(statement, lambda block: map_statements(block, self.statement))

    def definition(self, definition: ir.Definition) -> ir.Definition:
        definition = self.firsts.get(definition, definition)
        if definition not in self.known:
            new = self.known[definition] = definition.unfilled()
            assert definition.function is not None
            new.function = self.function(definition.function)
        return self.known[definition]
