"""The part of a branching that one value needs, to be executed again."""

from __future__ import annotations

from collections.abc import Set

from adjoint import ir
from adjoint.differentiation.reverse.forward_edits import filler
from adjoint.ir.rebuild import clone, map_blocks
from adjoint.ir.walk import blocks_of, operands, targets_of, vars_used


def sliced(statement: ir.If, var: ir.Var, new: ir.Var, asked: Set[ir.Var]) -> ir.If:
    """The part of a pure ``If`` that its target ``var`` needs, binding ``new``; what is ``asked`` is always defined."""
    place = statement.targets.index(var)
    then, orelse = (_slice_of(block, place, var, asked) for block in blocks_of(statement))
    return ir.If(statement.cond, then, orelse, (new,), statement.span)


def _slice_of(block: ir.Block, place: int, var: ir.Var, asked: Set[ir.Var]) -> ir.Block:
    assert isinstance(block.terminator, ir.Yield)
    needed = _needed(block, block.terminator.values[place])
    return clone(_defined(needed, (var,), asked))


def _needed(block: ir.Block, value: ir.Atom) -> ir.Block:
    """The part of a pure block that one value needs, yielding that value."""
    wanted = {value}
    kept: list[ir.Statement] = []
    for statement in reversed(block.statements):
        if wanted.intersection(targets_of(statement)):
            kept.append(statement)
            wanted.update(operands(statement))
            for inner in blocks_of(statement):
                wanted.update(vars_used(inner))
    return ir.Block(tuple(reversed(kept)), ir.Yield((value,)))


def _defined(block: ir.Block, targets: tuple[ir.Var, ...], asked: Set[ir.Var]) -> ir.Block:
    """The block with a value for each of ``targets`` that is read on paths, too, on which it has none."""

    def inner(statement: ir.Statement) -> ir.Statement:
        return map_blocks(statement, lambda old: _defined(old, targets_of(statement), asked))

    assert isinstance(block.terminator, ir.Yield)
    values = tuple(
        filler(target.type) if value is ir.UNDEFINED and target in asked else value
        for target, value in zip(targets, block.terminator.values, strict=True)
    )
    return ir.Block(tuple(map(inner, block.statements)), ir.Yield(values))
