"""Adjoints of recursive functions that give the results as well, so that nobody calls the functions besides.

An adjoint that runs its function again finds the results on its way. Where the cotangents of an inner call do not
depend on its results, one call gives both; otherwise each level would run all levels below it once more.
"""

from __future__ import annotations

from adjoint.ir.effects import effects_of, storages
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.nodes import Atom, Block, Call, Definition, Function, If, Return, Statement, Var
from adjoint.ir.types import OPAQUE
from adjoint.ir.walk import (
    blocks_of,
    free_vars,
    map_blocks,
    operands,
    rebuild_terminator,
    statements_in,
    targets_of,
    with_inner,
)
from adjoint.transform.forwarding import with_known_places, written_by
from adjoint.transform.loops.joining import with_loops_joined
from adjoint.transform.loops.order import forwards
from adjoint.transform.simplify import simplify
from adjoint.transform.tapes import as_arrays

_STEPS = (simplify, as_arrays, forwards, with_loops_joined, with_known_places, simplify)


def together(function: Function, primal: Definition, adjoint: Definition) -> Definition | None:
    """The adjoint that gives the results as well, if no call of the function alone is left in it.

    Parameters
    ----------
    function
        Gives the results and then the cotangents. It calls ``primal`` and ``adjoint``.
    primal, adjoint
        The recursive function, and its adjoint that gives cotangents only.
    """
    for step in _STEPS:
        function = step(function)
    pairing = _Pairing(function, primal, adjoint)
    pairing.both.function = Function(function.name, function.params, pairing.block(function.body), function.doc)
    called = [s.callee for s in statements_in(pairing.both.function.body) if isinstance(s, Call)]
    return None if primal in called else pairing.both


def results_of(function: Function, count: int) -> tuple[Var, ...]:
    """Variables for the first results of a function."""
    end = function.body.terminator
    assert isinstance(end, Return)
    return tuple(
        Var(value.hint if isinstance(value, Var) else "t", type_of_atom(value) or OPAQUE)
        for value in end.values[:count]
    )


class _Pairing:
    """Makes one call of a call of the function and one of its adjoint with the same arguments."""

    def __init__(self, function: Function, primal: Definition, adjoint: Definition) -> None:
        assert primal.function is not None and adjoint.function is not None
        self.function, self.primal, self.adjoint = function, primal, adjoint
        self.both = Definition(adjoint.name)
        self.arity = len(primal.function.params)
        alone, whole = adjoint.function.body.terminator, function.body.terminator
        self.count = len(operands(whole)) - len(operands(alone))

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            current = map_blocks(statement, self.block)
            if isinstance(current, Call) and current.callee is self.adjoint:
                self.pair(current, statements)
            else:
                statements.append(current)
        return Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))

    def pair(self, call: Call, before: list[Statement]) -> None:
        """Adds the call that gives both; what needs the results that were at hand before stands behind it then."""
        place = next((place for place in reversed(range(len(before))) if self.is_twin(before[place], call)), None)
        behind = None if place is None else _behind(before[place], before[place + 1 :], call)
        results = results_of(self.function, self.count)
        if place is not None and behind is not None:
            results = targets_of(before[place])
            before[place:] = [s for s in before[place + 1 :] if s not in behind]
        before.append(Call((*results, *call.targets), self.both, call.args, (), call.span))
        before += behind or ()

    def is_twin(self, statement: Statement, call: Call) -> bool:
        """Whether a statement calls the function with the arguments with which its adjoint is called."""
        return (
            isinstance(statement, Call)
            and statement.callee is self.primal
            and statement.args == call.args[: self.arity]
        )


def _behind(first: Statement, between: list[Statement], call: Call) -> list[Statement] | None:
    """What has to stand behind a call that takes the place of a first statement; None if it cannot take it."""
    late: set[Atom] = set(targets_of(first))
    read = {storage for atom in operands(first) for storage in storages(type_of_atom(atom))}
    found: list[Statement] = []
    for statement in between:
        written = [written_by(inner) for inner in with_inner(statement)]
        if any(part is None or not read.isdisjoint(part) for part in written):
            return None
        if not late.isdisjoint(_used(statement)):
            if not all(map(_may_be_later, with_inner(statement))):
                return None
            found.append(statement)
            late.update(targets_of(statement))
    return None if not late.isdisjoint(call.args) else found


def _used(statement: Statement) -> set[Atom]:
    return {*operands(statement), *(var for block in blocks_of(statement) for var in free_vars(block))}


def _may_be_later(statement: Statement) -> bool:
    """Whether a statement only computes numbers from numbers."""
    if not isinstance(statement, (Call, If)) or any(map(is_array, operands(statement))):
        return False
    return isinstance(statement, If) or effects_of(statement).pure


__all__ = ["results_of", "together"]
