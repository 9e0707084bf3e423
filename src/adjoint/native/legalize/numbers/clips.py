"""``np.clip`` of a number as a minimum of a maximum, which are instructions, and which loops go side by side with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.native.legalize.rewriting import Rewriting


def with_plain_clips(function: ir.Function) -> ir.Function:
    """The function without ``np.clip`` of numbers between numbers."""
    return _Plain().function(function)


class _Plain(Rewriting):
    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        match statement:
            case ir.Call(callee=np.clip, args=(x, low, high), kwargs=()) if all(map(_is_number, statement.args)):
                raised = ir.Var(statement.targets[0].hint, statement.targets[0].type)
                return (
                    ir.Call((raised,), np.maximum, (x, low), (), statement.span),
                    ir.Call(statement.targets, np.minimum, (raised, high), (), statement.span),
                )
        return (statement,)


def _is_number(atom: ir.Atom) -> bool:
    is_nothing = isinstance(atom, ir.Const) and atom.value is None
    return not is_nothing and isinstance(type_of_atom(atom), ir.Scalar)
