"""Clipping of numbers as what it is: a minimum of a maximum, which Numba has instructions for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Call, Const, Function, Load, Statement, Store, Var
from adjoint.ir.types import Scalar
from adjoint.native.legalize.rewriting import Rewriting


def with_plain_clips(function: Function) -> Function:
    """The function with ``np.minimum`` and ``np.maximum`` for ``np.clip`` of a number."""
    return _Clipping().function(function)


class _Clipping(Rewriting):
    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        match statement:
            case Call(callee=np.clip, args=(x, low, high), kwargs=()) if all(map(_is_number, statement.args)):
                raised = Var(statement.targets[0].hint, statement.targets[0].type)
                return (
                    Call((raised,), np.maximum, (x, low), (), statement.span),
                    Call(statement.targets, np.minimum, (raised, high), (), statement.span),
                )
            case _:
                return (statement,)


def _is_number(atom: Atom) -> bool:
    is_nothing = isinstance(atom, Const) and atom.value is None
    return not is_nothing and isinstance(type_of_atom(atom), Scalar)
