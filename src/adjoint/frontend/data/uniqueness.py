"""Uniqueness: a variable that alone owns its memory may be written in place, as if the name was bound anew."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import parts_of
from adjoint.frontend.interpreter.state.blocks import Open
from adjoint.frontend.interpreter.values import Cell, Value
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of, terminators_in

Path = tuple[Sequence[ir.Statement], ...]
"""The statements that ran before, block by block, outermost first."""

_NUMBERS = (bool, int, float, complex, np.generic)


def is_sole_owner(lo: Lowerer, value: ir.Var, cell: Cell) -> bool:
    """Whether a variable alone has what it holds: an operation made it, and so far it was only read."""
    return _holders(lo.store, value) == [cell] and _is_owned(lo, lo.open, value)


def starts_alone(lo: Lowerer, store: Mapping[Any, Value], block: Open, cell: Cell) -> bool:
    """Whether what a variable holds at the end of a block is a number, or an array that it alone has."""
    value = store.get(cell, ir.UNDEFINED)
    if not isinstance(value, ir.Var):
        return isinstance(value, (ir.Const, ir.Undefined)) and _is_number(value)
    return _is_number(value) or (_holders(store, value) == [cell] and _is_owned(lo, block, value))


def _holders(store: Mapping[Any, Value], value: ir.Var) -> list[Any]:
    return [key for key, held in store.items() if _has(held, value)]


def _is_owned(lo: Lowerer, block: Open, value: ir.Var) -> bool:
    path = _path_to(block)
    known = lo.run_data.alone
    if _is_made(path, value, known.keys()):
        return True
    if known.get(value) is not _root(block):
        return False
    is_read = all(_only_reads(part, value) for statements in path for each in statements for part in _with_inner(each))
    if is_read:
        lo.run_data.relied_on.add(value)
    return is_read


def _root(block: Open) -> Open:
    return block if block.parent is None else _root(block.parent)


def _has(held: Value, value: ir.Var) -> bool:
    return held is value or any(_has(part, value) for part in parts_of(held))


def _path_to(block: Open) -> Path:
    found: list[Sequence[ir.Statement]] = []
    opened: Open | None = block
    while opened is not None:
        found.append(opened.statements)
        opened = opened.parent
    return tuple(reversed(found))


def _is_made(path: Path, value: ir.Var, known: Collection[ir.Var]) -> bool:
    for statements in reversed(path):
        for statement in reversed(statements):
            if value in targets_of(statement):
                return _makes(statement, value, known)
            if not all(_only_reads(part, value) for part in _with_inner(statement)):
                return False
    return False


def _makes(statement: ir.Statement, value: ir.Var, known: Collection[ir.Var]) -> bool:
    match statement:
        case ir.Call():
            facts = effects_of(statement)
            return facts.known and facts.view_of is None and not facts.hands_on
        case ir.If(then=then, orelse=orelse, targets=targets):
            place = targets.index(value)
            return all(_gives_own((), block, place, known) for block in (then, orelse))
        case ir.Loop():
            return value in known
        case _:
            return False


def _gives_own(path: Path, block: ir.Block, place: int, known: Collection[ir.Var]) -> bool:
    path = (*path, block.statements)
    match block.terminator:
        case ir.Yield(values=values):
            atom = values[place]
            return _is_number(atom) or (
                isinstance(atom, ir.Var) and values.count(atom) == 1 and _is_made(path, atom, known)
            )
        case ir.Branch(then=then, orelse=orelse):
            return all(_gives_own(path, side, place, known) for side in (then, orelse))
        case terminator:
            return isinstance(terminator, ir.Raise)


def _is_number(atom: ir.Atom) -> bool:
    if isinstance(atom, ir.Const):
        return isinstance(atom.value, _NUMBERS)
    return isinstance(atom, ir.Undefined) or isinstance(atom.type, ir.Scalar)


def _with_inner(statement: ir.Statement) -> Iterator[ir.Statement | ir.Yield]:
    yield statement
    for block in blocks_of(statement):
        yield from statements_in(block)
        yield from (end for end in terminators_in(block) if isinstance(end, ir.Yield))


def _only_reads(part: ir.Statement | ir.Yield, value: ir.Var) -> bool:
    """Whether a statement leaves the value alone: it keeps no part of it, and does not write it."""
    if value not in operands(part):
        return True
    if isinstance(part, ir.If):
        return True  # its condition
    if not isinstance(part, ir.Call):
        return False
    facts = effects_of(part)
    return facts.known and not facts.writes and facts.view_of is None and not facts.hands_on
