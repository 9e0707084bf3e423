"""Uniqueness: a variable that alone owns its memory may be written in place, as if the name was bound anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adjoint.frontend.interpreter.choices import parts_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.frontend.interpreter.values import Cell, Value
from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import Atom, Block, Branch, Call, Const, If, Raise, Statement, Undefined, Var, Yield
from adjoint.ir.types import Scalar
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of, terminators_in

Path = tuple[Sequence[Statement], ...]
"""The statements that ran before, block by block, outermost first."""

_NUMBERS = (bool, int, float, complex, np.generic)


def is_sole_owner(lo: Lowerer, value: Var, cell: Cell) -> bool:
    """Whether a variable alone has what it holds: an operation made it, and so far it was only read."""
    holders = [key for key, held in lo.store.items() if _has(held, value)]
    return holders == [cell] and _is_made(_path_to(lo.open), value)


def _has(held: Value, value: Var) -> bool:
    return held is value or any(_has(part, value) for part in parts_of(held))


def _path_to(block: Open) -> Path:
    found: list[Sequence[Statement]] = []
    opened: Open | None = block
    while opened is not None:
        found.append(opened.statements)
        opened = opened.parent
    return tuple(reversed(found))


def _is_made(path: Path, value: Var) -> bool:
    for statements in reversed(path):
        for statement in reversed(statements):
            if value in targets_of(statement):
                return _makes(statement, value)
            if not all(_only_reads(part, value) for part in _with_inner(statement)):
                return False
    return False


def _makes(statement: Statement, value: Var) -> bool:
    match statement:
        case Call():
            facts = effects_of(statement)
            return facts.known and facts.view_of is None and not facts.hands_on
        case If(then=then, orelse=orelse, targets=targets):
            place = targets.index(value)
            return all(_gives_own((), block, place) for block in (then, orelse))
        case _:
            return False


def _gives_own(path: Path, block: Block, place: int) -> bool:
    path = (*path, block.statements)
    match block.terminator:
        case Yield(values=values):
            atom = values[place]
            return _is_number(atom) or (isinstance(atom, Var) and values.count(atom) == 1 and _is_made(path, atom))
        case Branch(then=then, orelse=orelse):
            return all(_gives_own(path, side, place) for side in (then, orelse))
        case terminator:
            return isinstance(terminator, Raise)


def _is_number(atom: Atom) -> bool:
    if isinstance(atom, Const):
        return isinstance(atom.value, _NUMBERS)
    return isinstance(atom, Undefined) or isinstance(atom.type, Scalar)


def _with_inner(statement: Statement) -> Iterator[Statement | Yield]:
    yield statement
    for block in blocks_of(statement):
        yield from statements_in(block)
        yield from (end for end in terminators_in(block) if isinstance(end, Yield))


def _only_reads(part: Statement | Yield, value: Var) -> bool:
    """Whether a statement leaves the value alone: it keeps no part of it, and does not write it."""
    if value not in operands(part):
        return True
    if isinstance(part, If):
        return True  # its condition
    if not isinstance(part, Call):
        return False
    facts = effects_of(part)
    return facts.known and not facts.writes and facts.view_of is None and not facts.hands_on
