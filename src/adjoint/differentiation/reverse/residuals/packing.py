"""Tuples of what a function keeps, made on each of its paths: what is kept on others is nothing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjoint import ir
from adjoint.runtime import display
from adjoint.target import Target

Packs = Mapping[str, Sequence[ir.Atom]]
"""What tuples hold, by what they are called."""


def packed(
    statements: Sequence[ir.Statement], packs: Packs, used: set[ir.Atom], target: Target
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Var, ...]]:
    """Statements that end with making tuples, and the tuples.

    Parameters
    ----------
    statements
        A block's; its last may be a branch that hands out what the tuples are to hold.
    packs
        The tuples.
    used
        What else is read behind the statements.
    target
        What they are made for.
    """
    last = statements[-1] if statements else None
    if target.machine or not isinstance(last, ir.If) or not _is_sunk(last, packs, used):
        made = {ir.Var(hint, ir.OPAQUE): items for hint, items in packs.items()}
        calls = [ir.Call((pack,), display.make_tuple, tuple(items)) for pack, items in made.items()]
        return (*statements, *calls), tuple(made)
    places = [place for place, target in enumerate(last.targets) if target in used]
    then, orelse = (_side(block, last, places, packs, target) for block in (last.then, last.orelse))
    tuples = tuple(ir.Var(hint, ir.OPAQUE) for hint in packs)
    targets = (*(last.targets[place] for place in places), *tuples)
    return (*statements[:-1], ir.If(last.cond, then, orelse, targets, last.span)), tuples


def _is_sunk(branch: ir.If, packs: Packs, used: set[ir.Atom]) -> bool:
    """Whether what a branch hands out is for the tuples, and both sides come to its end."""
    if not all(isinstance(block.terminator, ir.Yield) for block in (branch.then, branch.orelse)):
        return False
    kept = {item for items in packs.values() for item in items}
    return any(target in kept and target not in used for target in branch.targets)


def _side(block: ir.Block, branch: ir.If, places: Sequence[int], packs: Packs, target: Target) -> ir.Block:
    end = block.terminator
    assert isinstance(end, ir.Yield)
    here: dict[ir.Atom, ir.Atom] = dict(zip(branch.targets, end.values, strict=True))
    inner = {hint: [_something(here.get(item, item)) for item in items] for hint, items in packs.items()}
    handed_out = tuple(end.values[place] for place in places)
    statements, tuples = packed(block.statements, inner, set(handed_out), target)
    return ir.Block(statements, ir.Yield((*handed_out, *tuples)))


def _something(atom: ir.Atom) -> ir.Atom:
    return ir.Const(None) if atom is ir.UNDEFINED else atom
