"""Small recursive functions with one level of themselves written out: so only every other level is a call.

A call hands over each array in pieces, which takes longer than what a small function does.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.differentiation.reverse.residuals.tapes import dtype_of
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import inline, map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import leaves, operands, statements_in
from adjoint.native.costs import LONGEST_INLINED, MOST_INLINED_CALLS
from adjoint.rules.typing import type_of_call


def unfolded(function: ir.Function) -> ir.Function:
    """The function with the calls of itself written out once, if it is small."""
    statements = statements_in(function.body)
    calls = sum(_calls_itself(statement, function) for statement in statements)
    if not 0 < calls <= MOST_INLINED_CALLS or len(statements) > LONGEST_INLINED or not _gives_numbers(function):
        return function

    def block(old: ir.Block) -> ir.Block:
        builder = Builder(type_of_call)
        renamed: dict[ir.Var, ir.Atom] = {}
        for statement in old.statements:
            current = substitute(statement, renamed)
            if isinstance(current, ir.Call) and _calls_itself(current, function) and _fits(current, function):
                renamed.update(zip(current.targets, inline(builder, function, current.args), strict=True))
            else:
                builder.emit(map_blocks(current, block))
        end = substitute(old.terminator, renamed)
        return builder.block(rebuild_terminator(end, lambda atom: atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _calls_itself(statement: ir.Statement, function: ir.Function) -> bool:
    callee = statement.callee if isinstance(statement, ir.Call) else None
    return isinstance(callee, ir.Definition) and callee.function is function


def _gives_numbers(function: ir.Function) -> bool:
    """Whether all results are numbers: what holds a result of the inner call in one of its own has no type."""
    results = [atom for end in leaves(function.body) for atom in operands(end)]
    return all(isinstance(type_of_atom(atom), ir.Scalar) for atom in results)


def _fits(call: ir.Call, function: ir.Function) -> bool:
    """Whether the arguments are of the types of the parameters, so that nothing is converted on the way."""
    given, wanted = (type_of_atom(arg) for arg in call.args), (param.type for param in function.params)
    return all(map(_is_alike, given, wanted))


def _is_alike(one: ir.Type | None, other: ir.Type) -> bool:
    if isinstance(one, ir.Scalar) and isinstance(other, ir.Scalar):
        return one.kind == other.kind and dtype_of(one) == dtype_of(other)
    return one == other
