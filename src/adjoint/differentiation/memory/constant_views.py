"""Results that may share memory with what varies, and of which nobody can tell: nothing may be written there.

They count as constants, or it is not known whether what they may be views of is an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from adjoint import ir
from adjoint.diagnostics import diagnostic
from adjoint.differentiation.reverse.memory.gathers import copies
from adjoint.differentiation.reverse.memory.overwritten_values import written_by
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import blocks_of, statements_in
from adjoint.rules.kinds import Constant
from adjoint.rules.registry import rule_for

LABEL = "what this gives counts as a constant, and shares memory that is written later"

UNSURE = "it is not known whether this is a view, and it is written"

Place = tuple[int, tuple[int, ...]]
"""The number of a statement in the text, and the loops around it."""


def constant_views(function: ir.Function, active: Callable[[ir.Atom], bool]) -> list[Any]:
    """The calls whose results count as constants although a later write would make them vary."""
    placed = list(_placed(function.body, (), [0]))
    written = [(place, storage.find()) for statement, place in placed for storage in _written(statement)]
    found = []
    for statement, (number, loops) in placed:
        storage = _shared(statement, active)
        if storage is None:
            continue
        later = (when > number or set(loops) & set(around) for (when, around), root in written if root is storage)
        if any(later):
            found.append(diagnostic("AD0303", statement.span, LABEL))
    return found


def _placed(block: ir.Block, loops: tuple[int, ...], count: list[int]) -> Iterator[tuple[ir.Statement, Place]]:
    for statement in block.statements:
        count[0] += 1
        yield statement, (count[0], loops)
        inner = (*loops, id(statement)) if isinstance(statement, ir.Loop) else loops
        for nested in blocks_of(statement):
            yield from _placed(nested, inner, count)
    for nested in blocks_of(block.terminator):
        yield from _placed(nested, loops, count)


def _written(statement: ir.Statement) -> Iterator[ir.Storage]:
    return written_by(statement)


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
            and is_unsure(statement)
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


def is_unsure(call: ir.Call) -> bool:
    """Whether a call gives an array that is written, and may be a view of what may be an array or a number."""
    rule = rule_for(call.callee)
    if rule is None or rule.view_of is None or rule.view_of >= len(call.args):
        return False
    written = any(ir.is_written_array(target.type) for target in call.targets)
    return written and isinstance(type_of_atom(call.args[rule.view_of]), ir.Number)
