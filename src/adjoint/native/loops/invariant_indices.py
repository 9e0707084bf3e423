"""Indices that are the same in all iterations of a loop are computed before it: then one can see that they are."""

from __future__ import annotations

import operator

from adjoint import ir
from adjoint.ir.rebuild import map_blocks, map_body, rebuild_terminator, same_atom
from adjoint.ir.walk import defined_by

_NEVER_FAIL = (operator.add, operator.sub, operator.mul, operator.neg)


def with_indices_before_loops(function: ir.Function) -> ir.Function:
    """The function with what loops compute of whole numbers from outside computed before them."""
    return ir.Function(function.name, function.params, _block(function.body), function.doc)


def _block(block: ir.Block) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        current = map_blocks(statement, _block)
        statements += _split(current) if isinstance(current, ir.Loop) else [current]
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, same_atom, _block))


def _split(loop: ir.Loop) -> list[ir.Statement]:
    """What is computed before a loop, and the loop."""
    inside = defined_by(loop)
    before: list[ir.Statement] = []
    for statement in loop.body.statements:
        if _is_index(statement) and inside.isdisjoint(statement.args):  # type: ignore[union-attr]
            before.append(statement)
            inside.difference_update(statement.targets)  # type: ignore[union-attr]
    if not before:
        return [loop]
    kept = tuple(statement for statement in loop.body.statements if statement not in before)
    return [*before, map_body(loop, ir.Block(kept, loop.body.terminator))]


def _is_index(statement: ir.Statement) -> bool:
    match statement:
        case ir.Call(targets=(ir.Var(type=type_),), callee=callee, kwargs=()):
            return type_ == ir.INT and callee in _NEVER_FAIL
        case _:
            return False


__all__ = ["with_indices_before_loops"]
