"""Recursion without end, which is an exception in Python and the end of the process in machine code.

Functions that may call themselves are told how deep they are.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable

from adjoint.differentiation.definitions import called_by
from adjoint.ir.nodes import Atom, Block, Call, Const, Definition, Function, Load, Statement, Store, Var
from adjoint.ir.types import INT, Scalar
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import checks


def with_depth_checked(function: Function) -> Function:
    """The function with a :class:`RecursionError` where functions call themselves deeper than Python's would."""
    called = called_by(function)
    recursive = {one for one in called if one.function is not None and one in called_by(one.function)}
    return _Counting(recursive).function(function) if recursive else function


class _Counting(Rewriting):
    """Gives recursive functions a parameter more: how many of them wait for each other."""

    def __init__(self, recursive: set[Definition]) -> None:
        super().__init__()
        self.recursive = recursive
        self.counted: set[Definition] = set()
        self.depth: Var | None = None

    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        if not isinstance(statement, Call) or statement.callee not in self.counted:
            return (statement,)
        before: list[Statement] = []
        depth: Atom = Const(1)
        if self.depth is not None:
            depth = Var("depth", INT)
            before.append(Call((depth,), operator.add, (self.depth, Const(1))))
        args = tuple([_of_any_value(arg, before) for arg in (*statement.args, depth)])
        return (*before, Call(statement.targets, statement.callee, args, statement.kwargs, statement.span))

    def _definition(self, definition: Definition) -> Definition:
        if definition in self._made or definition.function is None:
            return super()._definition(definition)
        made = self._made[definition] = Definition(definition.name)
        outer = self.depth
        if definition in self.recursive:
            self.counted.add(made)
            self.depth = Var("depth", INT)
            function = self.function(definition.function)
            check = Call((), checks.check_depth, (self.depth, Const(sys.getrecursionlimit())))
            body = Block((check, *function.body.statements), function.body.terminator)
            made.function = Function(function.name, (*function.params, self.depth), body, function.doc)
        else:
            self.depth = None
            made.function = self.function(definition.function)
        self.depth = outer
        return made


def _of_any_value(atom: Atom, before: list[Statement]) -> Atom:
    """An argument without its value in its type: Numba 0.68 keeps a recursive function for one value incompletely."""
    if not isinstance(atom, Const) or type(atom.value) not in (int, bool):
        return atom
    kind = type(atom.value)
    number = Var("number", Scalar("bool" if kind is bool else "int"))
    before.append(Call((number,), kind, (atom,)))
    return number
