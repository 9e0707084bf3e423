"""Loops over the positions of a sequence that only serve to draw its elements: ``for x in xs``."""

from __future__ import annotations

from collections.abc import Mapping

from adjoint.codegen.placement.memory_order import WRITES, effect_of
from adjoint.codegen.placement.uses import Uses
from adjoint.ir.nodes import Block, Call, Const, Load, Loop, Range, Statement, Store, Subscript, Var
from adjoint.ir.types import Array, List
from adjoint.ir.walk import blocks_of, statements_in
from adjoint.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Drawing:
    """``for element in sequence``; ``counted`` where the position is used too. ``loop`` lacks the drawing load."""

    loop: Loop
    sequence: Var
    element: Var
    backward: bool
    counted: bool
    length: Var


def drawing_of(loop: Loop, calls: Mapping[Var, Call], uses: Uses) -> Drawing | None:
    """The drawing that a loop is, if it is one.

    The element must be drawn before the body does anything else, and the length of a list must not change.
    """
    match loop:
        case Loop(
            over=Range(start=Const(value=0), stop=Var() as length, step=Const(value=1)) as over, index=Var() as i
        ):
            pass
        case _:
            return None
    sequence = _measured(calls.get(length))
    if sequence is None or not uses.inlinable(length) or not _length_is_fixed(sequence, loop.body):
        return None
    found = _first_draw(loop.body, sequence, i)
    if found is None:
        return None
    position, load = found
    counted = uses.count(i) > 1
    if (counted and over.backward) or not (load.target.named or uses.count(load.target) > 1):
        return None
    statements = loop.body.statements
    body = Block(statements[:position] + statements[position + 1 :], loop.body.terminator)
    return Drawing(replace(loop, body=body), sequence, load.target, over.backward, counted, length)


def _measured(call: Call | None) -> Var | None:
    """The sequence whose length a call takes."""
    match call:
        case Call(callee=callee, args=(Var(type=List() | Array()) as sequence,), kwargs=()) if callee is len:
            return sequence
        case _:
            return None


def _first_draw(body: Block, sequence: Var, index: Var) -> tuple[int, Load] | None:
    for position, statement in enumerate(body.statements):
        match statement:
            case Load(base=base, key=Subscript(items=(item,), tupled=False)) if base is sequence and item is index:
                return position, statement
        if effect_of(statement) == WRITES or blocks_of(statement):
            return None
    return None


def _length_is_fixed(sequence: Var, body: Block) -> bool:
    """An array keeps its length; a list does where nothing but stores happens."""
    if isinstance(sequence.type, Array):
        return True
    return all(_keeps_lengths(statement) for statement in statements_in(body))


def _keeps_lengths(statement: Statement) -> bool:
    if isinstance(statement, Store):
        key = statement.key
        return not isinstance(key, Subscript) or all(isinstance(item, (Var, Const)) for item in key.items)
    return bool(blocks_of(statement)) or effect_of(statement) != WRITES
