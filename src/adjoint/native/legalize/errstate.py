"""``with np.errstate(...)`` in machine code, which never warns: the block alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

import numpy as np

from adjoint.ir.nodes import Atom, Block, Branch, Call, Const, Function, Guarded, If, Load, Statement, Store, Var, Yield
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, statements_in
from adjoint.native.compile.not_native import NotNative
from adjoint.native.legalize.rewriting import Rewriting

_SILENT = ("ignore", "warn")


def without_silencing(function: Function) -> Function:
    """The function without blocks under ``np.errstate`` that asks for nothing but warnings or none."""
    return _Silence().function(function)


class _Silence(Rewriting):
    def function(self, function: Function) -> Function:
        outer: Mapping[Atom, Call] = getattr(self, "contexts", {})
        calls = [part for part in statements_in(function.body) if isinstance(part, Call)]
        self.contexts: Mapping[Atom, Call] = {
            call.targets[0]: call for call in calls if call.callee is np.errstate and call.targets
        }
        rewritten = super().function(function)
        if self.contexts:
            used = {atom for part in statements_in(rewritten.body) for atom in operands(part)}
            rewritten = _Removal(self.contexts.keys() - used).function(rewritten)
        self.contexts = outer
        return rewritten

    def block(self, block: Block) -> Block:
        block = super().block(block)
        statements: list[Statement] = []
        given: dict[Var, Atom] = {}
        for part in block.statements:
            statement = substitute(part, given)
            if not isinstance(statement, Guarded) or not self.is_silent(statement):
                statements.append(statement)
                continue
            match statement.body.terminator:
                case Yield(values=values):
                    statements += statement.body.statements
                    given.update(zip(statement.targets, values, strict=True))
                case Branch(cond=cond, then=then, orelse=orelse, span=span):
                    statements += statement.body.statements
                    statements.append(If(cond, then, orelse, statement.targets, span))
                case _:
                    statements.append(statement)
        return Block(tuple(statements), substitute(block.terminator, given))

    def is_silent(self, statement: Guarded) -> bool:
        """Whether a block is under ``np.errstate`` of modes in which nothing happens; raises at those that do more."""
        call = None if statement.context is None else self.contexts.get(statement.context)
        if call is None or statement.name is not None:
            return False
        for name, mode in call.kwargs:
            if not isinstance(mode, Const) or mode.value not in _SILENT:
                shown = f"{name}={mode.value!r}" if isinstance(mode, Const) else name
                reason = f"machine code does nothing where numbers divide by zero or overflow: np.errstate({shown})"
                raise NotNative(f"{reason} has no form in it", (), statement.span)
        return not call.args


class _Removal(Rewriting):
    """Removes the calls that bind some variables."""

    def __init__(self, targets: Set[Atom]) -> None:
        super().__init__()
        self.targets = targets

    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        return () if isinstance(statement, Call) and not self.targets.isdisjoint(statement.targets) else (statement,)
