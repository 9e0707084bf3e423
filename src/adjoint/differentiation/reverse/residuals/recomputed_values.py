"""The part of a branching that one value needs, to be executed again."""

from __future__ import annotations

from collections.abc import Set

from adjoint.differentiation.reverse.forward_edits import filler
from adjoint.ir.nodes import UNDEFINED, Atom, Block, If, Statement, Var, Yield
from adjoint.ir.rebuild import clone, map_blocks
from adjoint.ir.walk import blocks_of, operands, targets_of, vars_used


def sliced(statement: If, var: Var, new: Var, asked: Set[Var]) -> If:
    """The part of a pure ``If`` that its target ``var`` needs, binding ``new``; what is ``asked`` is always defined."""
    place = statement.targets.index(var)
    then, orelse = (_slice_of(block, place, var, asked) for block in blocks_of(statement))
    return If(statement.cond, then, orelse, (new,), statement.span)


def _slice_of(block: Block, place: int, var: Var, asked: Set[Var]) -> Block:
    assert isinstance(block.terminator, Yield)
    needed = _needed(block, block.terminator.values[place])
    return clone(_defined(needed, (var,), asked))


def _needed(block: Block, value: Atom) -> Block:
    """The part of a pure block that one value needs, yielding that value."""
    wanted = {value}
    kept: list[Statement] = []
    for statement in reversed(block.statements):
        if wanted.intersection(targets_of(statement)):
            kept.append(statement)
            wanted.update(operands(statement))
            for inner in blocks_of(statement):
                wanted.update(vars_used(inner))
    return Block(tuple(reversed(kept)), Yield((value,)))


def _defined(block: Block, targets: tuple[Var, ...], asked: Set[Var]) -> Block:
    """The block with a value for each of ``targets`` that is read on paths, too, on which it has none."""

    def inner(statement: Statement) -> Statement:
        return map_blocks(statement, lambda old: _defined(old, targets_of(statement), asked))

    assert isinstance(block.terminator, Yield)
    values = tuple(
        filler(target.type) if value is UNDEFINED and target in asked else value
        for target, value in zip(targets, block.terminator.values, strict=True)
    )
    return Block(tuple(map(inner, block.statements)), Yield(values))
