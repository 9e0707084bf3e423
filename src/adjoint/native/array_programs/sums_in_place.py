"""Sums that a loop carries from one iteration to the next grow where they lie: no iteration makes an array of its own.

``w_bar = w_bar + h.T @ t_bar`` in a loop becomes ``w_bar += h.T @ t_bar``, where nothing else in the loop reads
``w_bar``. A reverse sweep adds up the cotangents of what a loop does not change so.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom, substitute
from adjoint.ir.walk import read_counts
from adjoint.records import dataclass

_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul, np.outer)


def with_sums_in_place(function: ir.Function) -> ir.Function:
    """The function with carried sums of arrays as memory to which loops add."""
    sums = _Sums(function)
    body = sums.block(function.body)
    if not sums.renamed:
        return function
    return ir.Function(function.name, function.params, substitute(body, sums.renamed), function.doc)


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum that a loop carries: where among what it carries, the memory it gets, and what adds to it."""

    place: int
    memory: ir.Var
    added: dict[ir.Statement, ir.Store]


class _Sums:
    def __init__(self, function: ir.Function) -> None:
        self.counts = read_counts(function.body)
        self.renamed: dict[ir.Var, ir.Atom] = {}

    def block(self, old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            found = self.sums_of(statement) if isinstance(statement, ir.Loop) else []
            if isinstance(statement, ir.Loop) and found:
                for each in found:
                    self.start(each, statement.inits[each.place], statements)
                statement = self.without_carried(statement, found)
            statements.append(map_blocks(statement, self.block))
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, self.block))

    def sums_of(self, loop: ir.Loop) -> list[_Sum]:
        end = loop.body.terminator
        if loop.over is None or not isinstance(end, ir.Continue):
            return []
        found = []
        for place, param in enumerate(loop.params):
            if _is_sum_of_floats(param, loop.inits[place]):
                assert isinstance(param.type, ir.Array)
                memory = ir.Var(
                    param.hint, ir.Array(param.type.dtype, param.type.dims, ir.Storage(written=True)), param.named
                )
                added = self.added(param, end.values[place], loop.body.statements, memory)
                if added:
                    found.append(_Sum(place, memory, added))
        return found

    def added(
        self, param: ir.Var, last: ir.Atom, statements: Sequence[ir.Statement], memory: ir.Var
    ) -> dict[ir.Statement, ir.Store] | None:
        """What adds to a parameter on the way to its next value; None where anything else is done with it."""
        current, found = param, dict[ir.Statement, ir.Store]()
        for statement in statements:
            if self.counts[current] != 1:
                return None
            value = _addend(statement, current)
            if value is not None and isinstance(statement, ir.Call):
                takes = statement.callee is operator.sub
                found[statement] = ir.Store(memory, None, value, "sub" if takes else "add", statement.span)
                (current,) = statement.targets
        return found if current is last and self.counts[current] == 1 else None

    def start(self, found: _Sum, init: ir.Atom, before: list[ir.Statement]) -> None:
        """Puts the first value of a sum into its memory."""
        made = next((each for each in reversed(before) if isinstance(each, ir.Call) and init in each.targets), None)
        if isinstance(init, ir.Var) and made is not None and self.counts[init] == 1 and _is_fresh(made):
            before[before.index(made)] = ir.Call((found.memory,), made.callee, made.args, made.kwargs, made.span)
        else:
            before.append(ir.Call((found.memory,), np.copy, (init,)))

    def without_carried(self, loop: ir.Loop, sums: Sequence[_Sum]) -> ir.Loop:
        """The loop, adding to memory instead of carrying sums."""
        places = {each.place for each in sums}
        in_place = {statement: store for each in sums for statement, store in each.added.items()}
        for each in sums:
            self.renamed[loop.targets[each.place]] = each.memory

        def others(values: Sequence[ir.Atom]) -> tuple[ir.Atom, ...]:
            return tuple(value for place, value in enumerate(values) if place not in places)

        end = loop.body.terminator
        assert isinstance(end, ir.Continue)
        statements = tuple(in_place.get(statement, statement) for statement in loop.body.statements)
        return ir.Loop(
            loop.over,
            loop.index,
            others(loop.params),  # type: ignore[arg-type]
            others(loop.inits),
            ir.Block(statements, ir.Continue(others(end.values))),
            others(loop.targets),  # type: ignore[arg-type]
            loop.exit,
            loop.span,
        )


def _is_sum_of_floats(param: ir.Var, init: ir.Atom) -> bool:
    """Whether a loop carries an array of floats, of the dtype that it starts with."""
    carried, first = param.type, getattr(init, "type", None)
    if (
        not isinstance(carried, ir.Array)
        or not isinstance(first, ir.Array)
        or carried.dims is None
        or first.dims is None
    ):
        return False
    alike = ir.same_dtype(carried.dtype, first.dtype) and len(carried.dims) == len(first.dims)
    return alike and ir.is_float_dtype(carried.dtype)


def _addend(statement: ir.Statement, current: ir.Var) -> ir.Atom | None:
    """What a statement adds to an array, or takes from it, if that leaves the array's shape and dtype as they are."""
    if not isinstance(statement, ir.Call) or statement.callee not in (operator.add, operator.sub) or statement.kwargs:
        return None
    one, other = statement.args
    if other is current and statement.callee is operator.add:
        one, other = other, one
    (target,) = statement.targets
    if one is not current or other is current or not isinstance(other, ir.Var):
        return None
    sum_, added, result = current.type, other.type, target.type
    if not isinstance(sum_, ir.Array) or not isinstance(added, ir.Array) or not isinstance(result, ir.Array):
        return None
    alike = ir.same_dtype(added.dtype, sum_.dtype) and ir.same_dtype(result.dtype, sum_.dtype)
    return other if alike and _keeps_shape(sum_, added) else None


def _keeps_shape(sum_: ir.Array, added: ir.Array) -> bool:
    """Whether a sum has the shape of its first array: where there is one, that has no axis that could be stretched."""
    if sum_.dims is None or added.dims is None or len(added.dims) > len(sum_.dims):
        return False
    aligned = (*("one",) * (len(sum_.dims) - len(added.dims)), *added.dims)
    return all(mine == "many" or theirs == "one" for mine, theirs in zip(sum_.dims, aligned, strict=True))


def _is_fresh(made: ir.Call) -> bool:
    """Whether a call makes an array that nobody else has."""
    return made.callee in (np.zeros_like, np.copy, *_ARITHMETIC) and not made.kwargs
