"""``with np.errstate(...)`` in machine code, which never warns: the block alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

import numpy as np

from adjoint import ir
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import statements_in, vars_used
from adjoint.native.legalize.rewriting import Rewriting

_SILENT = ("ignore", "warn")


def without_silencing(function: ir.Function) -> ir.Function:
    """The function without blocks under ``np.errstate`` that asks for nothing but warnings or none."""
    return _Silence().function(function)


class _Silence(Rewriting):
    def function(self, function: ir.Function) -> ir.Function:
        outer: Mapping[ir.Atom, ir.Call] = getattr(self, "contexts", {})
        calls = [part for part in statements_in(function.body) if isinstance(part, ir.Call)]
        self.contexts: Mapping[ir.Atom, ir.Call] = {
            call.targets[0]: call for call in calls if call.callee is np.errstate and call.targets
        }
        rewritten = super().function(function)
        if self.contexts:
            rewritten = _Removal(self.contexts.keys() - vars_used(rewritten.body)).function(rewritten)
        self.contexts = outer
        return rewritten

    def block(self, block: ir.Block) -> ir.Block:
        block = super().block(block)
        statements: list[ir.Statement] = []
        given: dict[ir.Var, ir.Atom] = {}
        for part in block.statements:
            statement = substitute(part, given)
            if not isinstance(statement, ir.Guarded) or not self.is_silent(statement):
                statements.append(statement)
                continue
            match statement.body.terminator:
                case ir.Yield(values=values):
                    statements += statement.body.statements
                    given.update(zip(statement.targets, values, strict=True))
                case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
                    statements += statement.body.statements
                    statements.append(ir.If(cond, then, orelse, statement.targets, span))
                case _:
                    statements.append(statement)
        return ir.Block(tuple(statements), substitute(block.terminator, given))

    def is_silent(self, statement: ir.Guarded) -> bool:
        """Whether a block is under ``np.errstate`` of modes in which nothing happens."""
        call = None if statement.context is None else self.contexts.get(statement.context)
        if call is None or statement.name is not None:
            return False
        return not call.args and all(isinstance(mode, ir.Const) and mode.value in _SILENT for _, mode in call.kwargs)


class _Removal(Rewriting):
    """Removes the calls that bind some variables."""

    def __init__(self, targets: Set[ir.Atom]) -> None:
        super().__init__()
        self.targets = targets

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        return () if isinstance(statement, ir.Call) and not self.targets.isdisjoint(statement.targets) else (statement,)
