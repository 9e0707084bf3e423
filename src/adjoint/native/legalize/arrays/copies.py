"""Copies as a compiler knows them."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from adjoint.ir.nodes import Call, Function, Load, Statement, Store, Var
from adjoint.ir.types import Array, List, Scalar
from adjoint.native.legalize.rewriting import Rewriting


def with_plain_copies(function: Function) -> Function:
    """The function with ``xs.copy()`` for ``deepcopy(xs)`` where the items are numbers."""
    return _Copies().function(function)


class _Copies(Rewriting):
    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        if not isinstance(statement, Call) or statement.callee is not copy.deepcopy or len(statement.args) != 1:
            return (statement,)
        (held,) = statement.args
        match held.type if isinstance(held, Var) else None:
            case List(element=Scalar()):
                return (Call(statement.targets, list.copy, statement.args, (), statement.span),)
            case Array():
                return (Call(statement.targets, np.copy, statement.args, (), statement.span),)
            case _:
                return (statement,)
