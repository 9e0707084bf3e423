"""Reverse derivatives that forward mode meets: kept by name where they can be, else written out."""

from __future__ import annotations

from adjoint import ir
from adjoint.differentiation.forward.derived_tangents import can_be_kept, runs_again
from adjoint.differentiation.forward.function_values import applies
from adjoint.differentiation.pure import without_writes
from adjoint.differentiation.reachability import Dependence
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import inline, map_blocks, with_renamed
from adjoint.ir.walk import statements_in
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.rules.typing import type_of_call
from adjoint.target import Target


def _without_derived(
    function: ir.Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    keep: bool,
    target: Target,
    is_called: bool,
    unkept: list[ir.Call],
) -> tuple[ir.Function, Dependence]:
    """Writes out the reverse derivatives through which a tangent flows; gives the activity of what results.

    Those that run parts of their function again are added to ``unkept``: tangents flow through few of them.
    """
    if keep or _keeps_named(function):
        function = without_writes(function)
    found = Dependence(function, wrt, outputs, is_called=is_called)
    while any(_must_be_written_out(statement, found, keep) for statement in statements_in(function.body)):
        renamed: dict[ir.Var, ir.Atom] = {}
        unkept += [
            statement
            for statement in statements_in(function.body)
            if isinstance(statement, ir.Call)
            and _must_be_written_out(statement, found, keep)
            and runs_again(statement.callee.function)
        ]
        body = _written_out(function.body, found, renamed, keep, target)
        function = ir.Function(function.name, function.params, with_renamed(body, renamed), function.doc)
        found = Dependence(function, wrt, outputs, is_called=is_called)
    return function, found


def _keeps_named(function: ir.Function) -> bool:
    """Whether a function calls reverse derivatives that are kept by name, whoever asks."""
    calls = (statement for statement in statements_in(function.body) if isinstance(statement, ir.Call))
    derived = (call.callee.function for call in calls if isinstance(call.callee, ir.Derived))
    return any(applies(each) or runs_again(each) for each in derived)


def _must_be_written_out(statement: ir.Statement, found: Dependence, keep: bool) -> bool:
    if not isinstance(statement, ir.Call) or not isinstance(statement.callee, ir.Derived):
        return False
    is_active = any(map(found.active, (*statement.args, *statement.targets)))
    keep = keep or applies(statement.callee.function) or runs_again(statement.callee.function)
    return is_active and not (keep and can_be_kept(statement, found))


def _written_out(
    block: ir.Block, found: Dependence, renamed: dict[ir.Var, ir.Atom], keep: bool, target: Target
) -> ir.Block:
    builder = Builder(type_of_call)
    for statement in block.statements:
        if _must_be_written_out(statement, found, keep):
            assert isinstance(statement, ir.Call)
            results = inline(builder, _reversed(statement.callee, target), statement.args)
            renamed.update(zip(statement.targets, results, strict=False))
        else:
            builder.emit(map_blocks(statement, lambda inner: _written_out(inner, found, renamed, keep, target)))
    end = block.terminator
    if isinstance(end, ir.Branch):
        then, orelse = (_written_out(inner, found, renamed, keep, target) for inner in (end.then, end.orelse))
        end = ir.Branch(end.cond, then, orelse, end.span)
    return builder.block(end)


def _reversed(derived: ir.Derived, target: Target) -> ir.Function:
    """The text of a reverse derivative; calls that do nothing in the end would be differentiated, or refused."""
    from adjoint.differentiation.reverse.prepare import written_out  # lazy

    return remove_dead_code(written_out(derived, target))
