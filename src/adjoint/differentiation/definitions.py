"""Passes for a function and for the recursive functions that it calls."""

from __future__ import annotations

from collections.abc import Callable

from adjoint.ir.nodes import Applied, Call, Declared, Definition, Derived, Function, Statement
from adjoint.ir.printer import format_function
from adjoint.ir.walk import map_blocks, map_statements, statements_in
from adjoint.rules.declare import General
from adjoint.rules.registry import rule_for
from adjoint.runtime.arithmetic import numbers


def everywhere(function: Function, step: Callable[[Function], Function]) -> Function:
    """Applies a pass to a function and to all recursive functions that are called in it, each once."""
    return _Everywhere(step).function(function)


def called_by(function: Function) -> list[Definition]:
    """The recursive functions that a function calls, and those that they call."""
    found: dict[Definition, None] = {}
    pending = [function]
    while pending:
        for statement in statements_in(pending.pop().body):
            callee = statement.callee if isinstance(statement, Call) else None
            if isinstance(callee, Definition) and callee not in found and callee.function is not None:
                found[callee] = None
                pending.append(callee.function)
    return list(found)


def format_whole(function: Function) -> str:
    """The text of a function, and of the recursive functions that are called in it."""
    parts = [function, *(definition.function for definition in called_by(function))]
    return "\n".join(format_function(part) for part in parts if part is not None)


def has_singular_slopes(function: Function) -> bool:
    """Whether slopes in a function, or in one that it calls, may be infinite, or not a number."""
    bodies = [function, *(definition.function for definition in called_by(function))]
    return any(
        isinstance(statement, Call) and _is_singular(statement.callee)
        for body in bodies
        if body is not None
        for statement in statements_in(body.body)
    )


def _is_singular(callee: object) -> bool:
    if isinstance(callee, (Declared, Derived, Applied)):
        return True
    if isinstance(callee, (Definition, Function)):
        return False
    module = getattr(callee, "__module__", None) or ""
    if module == "adjoint.runtime.display":
        return False
    rule = rule_for(callee)
    return isinstance(rule, General) or getattr(rule, "singular", False) or module == numbers.__name__


class _Everywhere:
    def __init__(self, step: Callable[[Function], Function]) -> None:
        self.step = step
        self.known: dict[Definition, Definition] = {}

    def function(self, function: Function) -> Function:
        changed = self.step(function)
        body = map_statements(changed.body, self.statement)
        return changed if body is changed.body else Function(changed.name, changed.params, body, changed.doc)

    def statement(self, statement: Statement) -> Statement:
        if isinstance(statement, Call) and isinstance(statement.callee, Definition):
            callee = self.definition(statement.callee)
            return Call(statement.targets, callee, statement.args, statement.kwargs, statement.span)
        return map_blocks(statement, lambda block: map_statements(block, self.statement))

    def definition(self, definition: Definition) -> Definition:
        if definition not in self.known:
            new = self.known[definition] = definition.unfilled()
            assert definition.function is not None
            new.function = self.function(definition.function)
        return self.known[definition]
