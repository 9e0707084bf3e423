"""Adjoints of recursive functions that give the results as well, so that nobody calls the functions besides.

An adjoint that runs its function again finds the results on its way. Where the cotangents of an inner call do not
depend on its results, one call gives both; otherwise each level would run all levels below it once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adjoint.differentiation.reverse.residuals.tapes import as_arrays
from adjoint.ir.effects import effects_of, storages
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.nodes import Atom, Block, Call, Definition, Function, If, Return, Statement, Store, Var
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.types import OPAQUE, Storage
from adjoint.ir.walk import blocks_of, free_vars, operands, statements_in, targets_of, with_inner
from adjoint.native.loops.loop_reversal import forwards
from adjoint.native.loops.merging.repeated_loops import with_loops_joined
from adjoint.optimize.redundant_loads import with_stores_forwarded, written_by
from adjoint.optimize.simplify import simplify

_STEPS = (simplify, as_arrays, forwards, with_loops_joined, with_stores_forwarded, simplify)


def together(
    function: Function, primal: Definition, adjoint: Definition, known: Mapping[Definition, Definition]
) -> Definition | None:
    """The adjoint that gives the results as well, if no call of the function alone is left in it.

    Parameters
    ----------
    function
        Gives the results and then the cotangents. It calls ``primal`` and ``adjoint``.
    primal, adjoint
        The recursive function, and its adjoint that gives cotangents only.
    known
        Adjoints that give the results as well, and the functions of which they do.
    """
    for step in _STEPS:
        function = step(function)
    pairing = _Pairing(function, primal, adjoint, known)
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

    def __init__(
        self, function: Function, primal: Definition, adjoint: Definition, known: Mapping[Definition, Definition]
    ) -> None:
        assert adjoint.function is not None
        self.function, self.adjoint = function, adjoint
        self.both = Definition(adjoint.name, function)  # until it is filled in, its effects are known from this
        self.giving = {**known, self.both: primal}
        alone, whole = adjoint.function.body.terminator, function.body.terminator
        self.count = len(operands(whole)) - len(operands(alone))

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            current = map_blocks(statement, self.block)
            if isinstance(current, Call) and current.callee is self.adjoint:
                targets = (*results_of(self.function, self.count), *current.targets)
                current = Call(targets, self.both, current.args, (), current.span)
            if isinstance(current, Call) and current.callee in self.giving:
                _pair(current, self.giving[current.callee], statements)
            else:
                statements.append(current)
        return Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))


def _pair(call: Call, primal: Definition, before: list[Statement]) -> None:
    """Adds a call that gives both; what needs the results that were at hand before stands behind it then."""
    place = next((place for place in reversed(range(len(before))) if _is_twin(before[place], call, primal)), None)
    behind = None if place is None else _behind(before[place], before[place + 1 :], call)
    if place is None or behind is None:
        before.append(call)
        return
    results = targets_of(before[place])
    before[place:] = [statement for statement in before[place + 1 :] if statement not in behind]
    before.append(Call((*results, *call.targets[len(results) :]), call.callee, call.args, (), call.span))
    before += behind


def _is_twin(statement: Statement, call: Call, primal: Definition) -> bool:
    """Whether a statement calls the function with the arguments with which its adjoint is called."""
    return (
        isinstance(statement, Call)
        and statement.callee is primal
        and statement.args == call.args[: len(statement.args)]
    )


def _behind(first: Statement, between: Sequence[Statement], call: Call) -> list[Statement] | None:
    """What has to stand behind a call that takes the place of a first statement; None if it cannot take it."""
    late: set[Atom] = set(targets_of(first))
    read = _memory(operands(first))
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
    if not late.isdisjoint(call.args):
        return None
    added = _memory(inner.base for outer in found for inner in with_inner(outer) if isinstance(inner, Store))
    passed = [*(inner for outer in between for inner in with_inner(outer)), call]
    return found if all(_only_adds(statement, added) for statement in passed) else None


def _used(statement: Statement) -> set[Atom]:
    return {*operands(statement), *(var for block in blocks_of(statement) for var in free_vars(block))}


def _memory(atoms: Iterable[Atom]) -> set[Storage]:
    return {storage for atom in atoms for storage in storages(type_of_atom(atom))}


def _may_be_later(statement: Statement) -> bool:
    """Whether a statement computes numbers from numbers, or adds one to a place of an array."""
    match statement:
        case Store(base=base, mode=mode):
            return is_array(base) and mode in ("add", "sub") and not any(map(is_array, operands(statement)[1:]))
        case Call():
            return effects_of(statement).pure and not any(map(is_array, operands(statement)))
        case _:
            return isinstance(statement, If) and not any(map(is_array, statement.targets))


def _only_adds(statement: Statement, memory: set[Storage]) -> bool:
    """Whether all that a statement does to some memory is to add to it, in whatever order."""
    if isinstance(statement, Store):
        return statement.mode in ("add", "sub") or memory.isdisjoint(_memory((statement.base,)))
    adds = effects_of(statement).adds if isinstance(statement, Call) else ()
    return memory.isdisjoint(_memory(atom for place, atom in enumerate(operands(statement)) if place not in adds))


__all__ = ["results_of", "together"]
