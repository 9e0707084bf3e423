"""Recursion without end, which is an exception in Python and the end of the process in machine code.

Functions that may call themselves are told how deep they are.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable

from adjoint import ir
from adjoint.differentiation.definitions import called_by
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import checks


def with_depth_checked(function: ir.Function) -> ir.Function:
    """The function with a :class:`RecursionError` where functions call themselves deeper than Python's would."""
    called = called_by(function)
    recursive = {one for one in called if one.function is not None and one in called_by(one.function)}
    return _Counting(recursive).function(function) if recursive else function


class _Counting(Rewriting):
    """Gives recursive functions a parameter more: how many of them wait for each other."""

    def __init__(self, recursive: set[ir.Definition]) -> None:
        super().__init__()
        self.recursive = recursive
        self.counted: set[ir.Definition] = set()
        self.depth: ir.Var | None = None

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if not isinstance(statement, ir.Call) or statement.callee not in self.counted:
            return (statement,)
        before: list[ir.Statement] = []
        depth: ir.Atom = ir.Const(1)
        if self.depth is not None:
            depth = ir.Var("depth", ir.INT)
            before.append(ir.Call((depth,), operator.add, (self.depth, ir.Const(1))))
        args = (*statement.args, depth)
        return (*before, ir.Call(statement.targets, statement.callee, args, statement.kwargs, statement.span))

    def _definition(self, definition: ir.Definition) -> ir.Definition:
        if definition in self._made or definition.function is None:
            return super()._definition(definition)
        made = self._made[definition] = ir.Definition(definition.name)
        outer = self.depth
        if definition in self.recursive:
            self.counted.add(made)
            self.depth = ir.Var("depth", ir.INT)
            function = self.function(definition.function)
            check = ir.Call((), checks.check_depth, (self.depth, ir.Const(sys.getrecursionlimit())))
            body = ir.Block((check, *function.body.statements), function.body.terminator)
            made.function = ir.Function(function.name, (*function.params, self.depth), body, function.doc)
        else:
            self.depth = None
            made.function = self.function(definition.function)
        self.depth = outer
        return made
