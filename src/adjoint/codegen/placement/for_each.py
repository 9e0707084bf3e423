"""Loops over the positions of a sequence that only serve to draw its elements: ``for x in xs``."""

from __future__ import annotations

from collections.abc import Mapping

from adjoint import ir
from adjoint.codegen.placement.memory_order import WRITES, effect_of
from adjoint.codegen.placement.uses import Uses
from adjoint.ir.walk import blocks_of, statements_in
from adjoint.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Drawing:
    """``for element in sequence``; ``counted`` where the position is used too. ``loop`` lacks the drawing load."""

    loop: ir.Loop
    sequence: ir.Var
    element: ir.Var
    backward: bool
    counted: bool
    length: ir.Var


def drawing_of(loop: ir.Loop, calls: Mapping[ir.Var, ir.Call], uses: Uses) -> Drawing | None:
    """The drawing that a loop is, if it is one.

    The element must be drawn before the body does anything else, and the length of a list must not change.
    """
    match loop:
        case ir.Loop(
            over=ir.Range(start=ir.Const(value=0), stop=ir.Var() as length, step=ir.Const(value=1)) as over,
            index=ir.Var() as i,
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
    body = ir.Block(statements[:position] + statements[position + 1 :], loop.body.terminator)
    return Drawing(replace(loop, body=body), sequence, load.target, over.backward, counted, length)


def _measured(call: ir.Call | None) -> ir.Var | None:
    """The sequence whose length a call takes."""
    match call:
        case ir.Call(callee=callee, args=(ir.Var(type=ir.List() | ir.Array()) as sequence,), kwargs=()) if (
            callee is len
        ):
            return sequence
        case _:
            return None


def _first_draw(body: ir.Block, sequence: ir.Var, index: ir.Var) -> tuple[int, ir.Load] | None:
    for position, statement in enumerate(body.statements):
        match statement:
            case ir.Load(base=base, key=ir.Subscript(items=(item,), tupled=False)) if (
                base is sequence and item is index
            ):
                return position, statement
        if effect_of(statement) == WRITES or blocks_of(statement):
            return None
    return None


def _length_is_fixed(sequence: ir.Var, body: ir.Block) -> bool:
    """An array keeps its length; a list does where nothing but stores happens."""
    if isinstance(sequence.type, ir.Array):
        return True
    return all(_keeps_lengths(statement) for statement in statements_in(body))


def _keeps_lengths(statement: ir.Statement) -> bool:
    if isinstance(statement, ir.Store):
        key = statement.key
        return not isinstance(key, ir.Subscript) or all(isinstance(item, (ir.Var, ir.Const)) for item in key.items)
    return bool(blocks_of(statement)) or effect_of(statement) != WRITES
