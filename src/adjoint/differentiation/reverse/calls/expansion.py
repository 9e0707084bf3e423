"""Reverse derivatives that are called by name, written out."""

from __future__ import annotations

from adjoint import ir
from adjoint.differentiation.reverse.build import shared_reverse
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import inline, map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.rules.typing import type_of_call
from adjoint.target import PYTHON, Target


def expand(function: ir.Function, notes: Notes | None = None, target: Target = PYTHON) -> ir.Function:
    """Writes out the reverse derivatives that a function calls by name, in what it calls too."""
    return _Expansion(notes, target).function(function)


class _Expansion:
    """One walk over a function and the recursive functions that it calls, each written out once."""

    def __init__(self, notes: Notes | None, target: Target) -> None:
        self.notes = notes
        self.target = target
        self.definitions: dict[ir.Definition, ir.Definition] = {}
        self.read: set[ir.Atom] = set()
        """What some statement reads in functions in which function values are called."""
        self.outside_is_written = False
        """Whether one of these functions writes memory that it is given."""

    def function(self, function: ir.Function) -> ir.Function:
        if any(
            isinstance(item, ir.Call) and isinstance(item.callee, ir.Applied) for item in statements_in(function.body)
        ):
            nodes = (*statements_in(function.body), *terminators_in(function.body))
            self.read.update(atom for node in nodes for atom in operands(node))
        given = (storage for param in function.params for storage in ir.storages(param.type))
        self.outside_is_written |= any(storage.written for storage in given)
        body = self.block(function.body)
        return function if body is function.body else ir.Function(function.name, function.params, body, function.doc)

    def block(self, block: ir.Block) -> ir.Block:
        if not any(_is_named(statement) for statement in statements_in(block)):
            return block
        builder = Builder(type_of_call)
        renamed: dict[ir.Var, ir.Atom] = {}
        for statement in block.statements:
            current: ir.Statement = substitute(statement, renamed)
            if isinstance(current, ir.Call) and isinstance(current.callee, ir.Derived):
                values = inline(builder, self.written_out(current.callee), current.args)
                renamed.update(zip(current.targets, values, strict=True))
            elif isinstance(current, ir.Call) and isinstance(current.callee, ir.Declared):
                from adjoint.differentiation.reverse.calls.custom_derivatives import write_values  # lazy

                write_values(builder, current, renamed)
            elif isinstance(current, ir.Call) and isinstance(current.callee, ir.Applied):
                from adjoint.differentiation.reverse.calls.function_values import write_call  # lazy

                write_call(builder, current, self.read, self.outside_is_written)
            elif isinstance(current, ir.Call) and isinstance(current.callee, ir.Definition):
                callee = self.definition(current.callee)
                builder.emit(ir.Call(current.targets, callee, current.args, current.kwargs, current.span))
            else:
                builder.emit(map_blocks(current, self.block))
        end: ir.Terminator = substitute(block.terminator, renamed)
        if isinstance(end, ir.Branch):
            end = rebuild_terminator(end, lambda atom: atom, self.block)
        return builder.block(end)

    def written_out(self, derived: ir.Derived) -> ir.Function:
        return self.function(shared_reverse(derived.function, derived.wrt, derived.outputs, self.notes, self.target))

    def definition(self, definition: ir.Definition) -> ir.Definition:
        if definition not in self.definitions:
            new = self.definitions[definition] = definition.unfilled()
            self.definitions[new] = new
            assert definition.function is not None
            new.function = self.function(definition.function)
        return self.definitions[definition]


def _is_named(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and isinstance(
        statement.callee, (ir.Declared, ir.Applied, ir.Derived, ir.Definition)
    )
