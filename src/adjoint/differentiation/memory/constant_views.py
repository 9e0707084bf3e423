"""Results that may share memory with what varies, and of which nobody can tell: nothing may be written there.

They count as constants, or it is not known whether what they may be views of is an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory, memory_of_params, own_memory
from adjoint.diagnostics import diagnostic
from adjoint.differentiation.reverse.memory.gathers import copies
from adjoint.differentiation.reverse.memory.overwritten_values import written_by
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in
from adjoint.rules.kinds import Constant
from adjoint.rules.registry import rule_for

LABEL = "what this gives counts as a constant, and shares memory that is written later"

UNSURE = "it is not known whether this is a view, and it is written"

Place = tuple[int, tuple[int, ...]]
"""The number of a statement in the text, and the loops around it."""


def constant_views(function: ir.Function, active: Callable[[ir.Atom], bool]) -> list[Any]:
    """The calls whose results count as constants although a later write would make them vary."""
    writes = _Writes(function)
    return [
        diagnostic("AD0303", statement.span, LABEL)
        for statement, place in writes.placed
        if (storage := _shared(statement, active)) is not None and writes.are_behind(place, storage)
    ]


class _Writes:
    """Which statements of a function write which memory, and where they stand."""

    def __init__(self, function: ir.Function) -> None:
        self.placed = list(_placed(function.body, (), [0]))
        self.written = [
            (place, storage.find()) for statement, place in self.placed for storage in written_by(statement)
        ]

    def are_behind(self, place: Place, storage: ir.Storage) -> bool:
        """Whether this memory is written behind a place, or in a loop around it."""
        number, loops = place
        return any(
            when > number or not set(loops).isdisjoint(around)
            for (when, around), root in self.written
            if root is storage
        )


def _placed(block: ir.Block, loops: tuple[int, ...], count: list[int]) -> Iterator[tuple[ir.Statement, Place]]:
    for statement in block.statements:
        count[0] += 1
        yield statement, (count[0], loops)
        inner = (*loops, id(statement)) if isinstance(statement, ir.Loop) else loops
        for nested in blocks_of(statement):
            yield from _placed(nested, inner, count)
    for nested in blocks_of(block.terminator):
        yield from _placed(nested, loops, count)


def _shared(statement: ir.Statement, active: Callable[[ir.Atom], bool]) -> ir.Storage | None:
    """The memory of an array through which a derivative flows, of which a call gives a view as a constant."""
    if not isinstance(statement, ir.Call):
        return None
    rule = rule_for(statement.callee)
    if not isinstance(rule, Constant) or rule.view_of is None or rule.view_of >= len(statement.args):
        return None
    base = statement.args[rule.view_of]
    if not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array) or not active(base):
        return None
    return base.type.storage.find()


def unsure_views(function: ir.Function, active: Callable[[ir.Atom], bool]) -> list[Any]:
    """The calls and loads of which it is not known whether their results, which are written, are views."""
    return [
        diagnostic("AD0303", statement.span, UNSURE)
        for statement in statements_in(function.body)
        if (
            isinstance(statement, ir.Call)
            and any(active(target) for target in statement.targets)
            and is_unsure(statement, function)
        )
        or (is_unsure_part(statement) and active(statement.base))
    ]


def is_unsure_part(statement: ir.Statement) -> TypeGuard[ir.Load]:
    """Whether an array that is written is read at an index that may pick out a view, or may copy."""
    if not isinstance(statement, ir.Load):
        return False
    base, target = type_of_atom(statement.base), statement.target.type
    if not isinstance(base, ir.Array) or not isinstance(target, ir.Array) or not target.storage.written:
        return False
    return base.storage.find() is not target.storage.find() and copies(statement.key) is None


def is_unsure(call: ir.Call, function: ir.Function) -> bool:
    """Whether a call gives an array that is written later, and may be a view of what may be an array or a number."""
    rule = rule_for(call.callee)
    if rule is None or rule.view_of is None or rule.view_of >= len(call.args):
        return False
    if not isinstance(type_of_atom(call.args[rule.view_of]), ir.Number):
        return False
    memory = {storage for target in call.targets if (storage := own_memory(target.type)) is not None}
    return bool(memory) and (
        not memory.isdisjoint(_known_outside(function)) or _are_written_after(memory, call, function)
    )


def _known_outside(function: ir.Function) -> set[ir.Storage]:
    """The memory that a function is given or hands out, which may be written there."""
    handed_out = (atom for leaf in leaves(function.body) for atom in operands(leaf))
    return {*memory_of_params(function), *(found for atom in handed_out for found in all_memory(type_of_atom(atom)))}


def _are_written_after(memory: set[ir.Storage], call: ir.Call, function: ir.Function) -> bool:
    writes = _Writes(function)
    places = [place for statement, place in writes.placed if statement is call]
    return any(writes.are_behind(place, storage) for place in places for storage in memory)
