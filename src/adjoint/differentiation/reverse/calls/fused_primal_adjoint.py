"""Adjoints of recursive functions that give the results as well, so that nobody calls the functions besides.

An adjoint that runs its function again finds the results on its way. Where the cotangents of an inner call do not
depend on its results, one call gives both; otherwise each level would run all levels below it once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.reverse.residuals.tapes import as_arrays
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.walk import blocks_of, free_vars, operands, statements_in, targets_of, with_inner
from adjoint.native.loops.loop_reversal import forwards
from adjoint.native.loops.merging.repeated_loops import with_loops_joined
from adjoint.optimize.redundant_loads import with_stores_forwarded, written_by
from adjoint.optimize.simplify import simplify

_STEPS = (simplify, as_arrays, forwards, with_loops_joined, with_stores_forwarded, simplify)


def together(
    function: ir.Function, primal: ir.Definition, adjoint: ir.Definition, known: Mapping[ir.Definition, ir.Definition]
) -> ir.Definition | None:
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
    pairing.both.function = ir.Function(function.name, function.params, pairing.block(function.body), function.doc)
    called = [s.callee for s in statements_in(pairing.both.function.body) if isinstance(s, ir.Call)]
    return None if primal in called else pairing.both


def results_of(function: ir.Function, count: int) -> tuple[ir.Var, ...]:
    """Variables for the first results of a function."""
    end = function.body.terminator
    assert isinstance(end, ir.Return)
    return tuple(
        ir.Var(value.hint if isinstance(value, ir.Var) else "t", type_of_atom(value) or ir.OPAQUE)
        for value in end.values[:count]
    )


class _Pairing:
    """Makes one call of a call of the function and one of its adjoint with the same arguments."""

    def __init__(
        self,
        function: ir.Function,
        primal: ir.Definition,
        adjoint: ir.Definition,
        known: Mapping[ir.Definition, ir.Definition],
    ) -> None:
        assert adjoint.function is not None
        self.function, self.adjoint = function, adjoint
        self.both = ir.Definition(adjoint.name, function)  # until it is filled in, its effects are known from this
        self.giving = {**known, self.both: primal}
        alone, whole = adjoint.function.body.terminator, function.body.terminator
        self.count = len(operands(whole)) - len(operands(alone))

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            current = map_blocks(statement, self.block)
            if isinstance(current, ir.Call) and current.callee is self.adjoint:
                targets = (*results_of(self.function, self.count), *current.targets)
                current = ir.Call(targets, self.both, current.args, (), current.span)
            if isinstance(current, ir.Call) and current.callee in self.giving:
                _pair(current, self.giving[current.callee], statements)
            else:
                statements.append(current)
        return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))


def _pair(call: ir.Call, primal: ir.Definition, before: list[ir.Statement]) -> None:
    """Adds a call that gives both; what needs the results that were at hand before stands behind it then."""
    place = next((place for place in reversed(range(len(before))) if _is_twin(before[place], call, primal)), None)
    behind = None if place is None else _behind(before[place], before[place + 1 :], call)
    if place is None or behind is None:
        before.append(call)
        return
    results = targets_of(before[place])
    before[place:] = [statement for statement in before[place + 1 :] if statement not in behind]
    before.append(ir.Call((*results, *call.targets[len(results) :]), call.callee, call.args, (), call.span))
    before += behind


def _is_twin(statement: ir.Statement, call: ir.Call, primal: ir.Definition) -> bool:
    """Whether a statement calls the function with the arguments with which its adjoint is called."""
    return (
        isinstance(statement, ir.Call)
        and statement.callee is primal
        and statement.args == call.args[: len(statement.args)]
    )


def _behind(first: ir.Statement, between: Sequence[ir.Statement], call: ir.Call) -> list[ir.Statement] | None:
    """What has to stand behind a call that takes the place of a first statement; None if it cannot take it."""
    late: set[ir.Atom] = set(targets_of(first))
    read = _memory(operands(first))
    found: list[ir.Statement] = []
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
    added = _memory(inner.base for outer in found for inner in with_inner(outer) if isinstance(inner, ir.Store))
    passed = [*(inner for outer in between for inner in with_inner(outer)), call]
    return found if all(_only_adds(statement, added) for statement in passed) else None


def _used(statement: ir.Statement) -> set[ir.Atom]:
    return {*operands(statement), *(var for block in blocks_of(statement) for var in free_vars(block))}


def _memory(atoms: Iterable[ir.Atom]) -> set[ir.Storage]:
    return {storage for atom in atoms for storage in ir.storages(type_of_atom(atom))}


def _may_be_later(statement: ir.Statement) -> bool:
    """Whether a statement computes numbers from numbers, or adds one to a place of an array."""
    match statement:
        case ir.Store(base=base, mode=mode):
            return is_array(base) and mode in ("add", "sub") and not any(map(is_array, operands(statement)[1:]))
        case ir.Call():
            return effects_of(statement).pure and not any(map(is_array, operands(statement)))
        case _:
            return isinstance(statement, ir.If) and not any(map(is_array, statement.targets))


def _only_adds(statement: ir.Statement, memory: set[ir.Storage]) -> bool:
    """Whether all that a statement does to some memory is to add to it, in whatever order."""
    if isinstance(statement, ir.Store):
        return statement.mode in ("add", "sub") or memory.isdisjoint(_memory((statement.base,)))
    adds = effects_of(statement).adds if isinstance(statement, ir.Call) else ()
    return memory.isdisjoint(_memory(atom for place, atom in enumerate(operands(statement)) if place not in adds))


__all__ = ["results_of", "together"]
