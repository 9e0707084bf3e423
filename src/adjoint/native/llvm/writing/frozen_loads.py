"""Loads that LLVM must not repeat behind the stores that follow them.

Where a number is loaded and its place is stored to, as where a cotangent is moved, and a condition chooses between the
number and another one, the vectorizer makes a load and a store with a mask, and a selection by that mask. LLVM 22 makes
one load of the first and the last, at the place of the last, and finds there what was stored (issue 215453 of
llvm-project; versions before it, and mended ones after it, do not). Of a load that is frozen it is not done.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Set

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.ir.walk import defined_by, defined_in, key_atoms, statements_in


@functools.lru_cache(maxsize=32)  # each sweep asks
def frozen_loads(function: ir.Function, is_called: bool) -> Set[ir.Var]:
    """The numbers that loops with conditions read from memory that they write, at other places in each iteration.

    Parameters
    ----------
    function
        What is written.
    is_called
        Whether loops of other functions call it: LLVM may inline it there.
    """
    if is_called:
        return set(_rewritten(function.body, {*function.params, *defined_in(function.body)}))
    loops = [each for each in statements_in(function.body) if isinstance(each, ir.Loop)]
    return {found for loop in loops for found in _rewritten(loop.body, defined_by(loop))}


def _rewritten(block: ir.Block, changing: set[ir.Var]) -> Iterator[ir.Var]:
    """What is loaded at changing places of memory in which the same statements store."""
    repeated = statements_in(block)
    if not any(map(_decides, (block, *repeated))):
        return
    stored = set(_storages(atom for each in repeated for atom in _written(each)))
    for each in repeated:
        if (
            isinstance(each, ir.Load)
            and not stored.isdisjoint(_storages((each.base,)))
            and not changing.isdisjoint((each.base, *key_atoms(each.key)))
        ):
            yield each.target


def _decides(part: ir.Block | ir.Statement) -> bool:
    """Whether something in a block, or a statement, is done under a condition."""
    if isinstance(part, ir.Call):
        return isinstance(part.callee, (ir.Definition, ir.Function))
    inner = part.body if isinstance(part, ir.Loop) else part
    return isinstance(part, ir.If) or isinstance(getattr(inner, "terminator", None), ir.Branch)


def _written(statement: ir.Statement) -> Iterable[ir.Atom]:
    if isinstance(statement, ir.Store):
        return (statement.base,)
    if not isinstance(statement, ir.Call):
        return ()
    facts = effects_of(statement)
    return [arg for place, arg in enumerate(statement.args) if place in facts.writes or not facts.known]


def _storages(bases: Iterable[ir.Atom]) -> Iterator[ir.Storage]:
    for base in bases:
        storage = ir.storage_of(base.type) if isinstance(base, ir.Var) else None
        if storage is not None:
            yield storage
