"""Lists on paths on which they are never read: to a compiler they are empty, not None."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.backend.rewriting import Rewriting
from adjoint.backend.samples import sample_of
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Exit,
    Function,
    If,
    Loop,
    Statement,
    Undefined,
    Var,
    Yield,
)
from adjoint.ir.types import List
from adjoint.ir.walk import with_values
from adjoint.runtime.tables import no_items


def with_empty_lists(function: Function) -> Function:
    """The function with empty lists for those that are never read."""
    return _Filling().function(function)


class _Filling(Rewriting):
    def compound(self, statement: Statement) -> Statement:
        match statement:
            case If(cond=cond, then=then, orelse=orelse, targets=targets, span=span):
                return If(cond, _filled(then, targets, Yield), _filled(orelse, targets, Yield), targets, span)
            case Loop(body=body, targets=targets):
                return Loop(
                    statement.over,
                    statement.index,
                    statement.params,
                    statement.inits,
                    _filled(body, targets, Exit),
                    targets,
                    statement.exit,
                    statement.span,
                )
            case _:
                return statement


def _filled(block: Block, targets: Sequence[Var], kind: type[Yield] | type[Exit]) -> Block:
    end = block.terminator
    if isinstance(end, Branch):
        then, orelse = _filled(end.then, targets, kind), _filled(end.orelse, targets, kind)
        return Block(block.statements, Branch(end.cond, then, orelse, end.span))
    if not isinstance(end, kind):
        return block
    statements: list[Statement] = []
    values: list[Atom] = []
    for target, value in zip(targets, end.values, strict=False):
        if isinstance(target.type, List) and (isinstance(value, Undefined) or value == Const(None)):
            element = None if target.type.element is None else sample_of(target.type.element)
            if element is not None:
                sample, made = element
                value = Var(target.hint, target.type)
                statements += [*made, Call((value,), no_items, (sample,))]
        values.append(value)
    values += end.values[len(values) :]
    return Block((*block.statements, *statements), with_values(end, tuple(values)))
