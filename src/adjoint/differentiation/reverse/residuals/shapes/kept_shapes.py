"""What loops keep only for its shape is kept without its elements.

A tape of arrays of which nothing but the shape is asked holds arrays of the same shapes and dtypes that take no memory.
That is done where it frees memory: where the array, or that of which it is a view, is made in the iteration, and no
other tape keeps it. Where the shape is the same in each iteration, not even these are kept: see
:mod:`~adjoint.differentiation.reverse.residuals.shapes.invariant_shapes`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator

import numpy as np

from adjoint import ir
from adjoint.analysis.joins import flows, reached
from adjoint.analysis.shapes.tapes import put_on_tape, taken_from_tape, tapes_of
from adjoint.differentiation.reverse.residuals.shapes.unread_results import asked_by
from adjoint.ir.rebuild import map_blocks, map_branch
from adjoint.ir.walk import blocks_of, leaves, read_counts, statements_in, targets_of
from adjoint.rules.registry import rule_for
from adjoint.runtime.array_functions import arrays

_MAY_BE_COPIES = (np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel)
"""Views where the layout of their operand allows that."""


def with_kept_shapes(function: ir.Function) -> ir.Function:
    """The function with arrays without elements on the tapes of which only shapes are asked."""
    tapes = tapes_of(function.body)
    if not tapes:
        return function
    fills = _Fills(function, tapes)
    found = fills.only_for_shapes()
    if not found:
        return function
    return ir.Function(function.name, function.params, _without_elements(function.body, found), function.doc)


class _Fills:
    """What is put on tapes, and what is asked of it when it is taken back."""

    def __init__(self, function: ir.Function, tapes: Collection[ir.Var]) -> None:
        self._made: dict[ir.Var, ir.Call | ir.Load] = {}
        self._carried: dict[ir.Var, list[ir.Atom]] = {}
        self._kept: dict[ir.Var, list[ir.Atom]] = {tape: [] for tape in tapes}
        self._read_back: set[ir.Var] = set()
        loops = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Loop)]
        inside = {target for loop in loops for each in statements_in(loop.body) for target in targets_of(each)}
        for loop in loops:
            carried = [leaf.values for leaf in leaves(loop.body) if isinstance(leaf, ir.Continue)]
            self._carried |= {param: [values[place] for values in carried] for place, param in enumerate(loop.params)}
        needed = read_elements(function.body)
        for statement in statements_in(function.body):
            put, taken = put_on_tape(statement), taken_from_tape(statement)
            if put is not None and put[0] in self._kept:
                self._kept[put[0]].append(put[1])
                if isinstance(statement, ir.Store):
                    self._read_back.add(put[0])
            elif taken is not None and taken[0] in self._kept:
                if taken[1] in needed:
                    self._read_back.add(taken[0])
            elif isinstance(statement, (ir.Call, ir.Load)) and len(targets := targets_of(statement)) == 1:
                self._made |= {target: statement for target in targets if target in inside}

    def only_for_shapes(self) -> set[ir.Var]:
        """The tapes that hold what would be free otherwise, for its shape."""
        held = {self._owner(kept) for tape in self._read_back for kept in self._kept[tape]}
        return {
            tape
            for tape, kept in self._kept.items()
            if tape not in self._read_back
            and kept
            and all(isinstance(each, ir.Var) and isinstance(each.type, ir.Array) for each in kept)
            and all(self._is_freed(each, held) for each in kept)
        }

    def _is_freed(self, kept: ir.Atom, held: Collection[ir.Atom]) -> bool:
        """Whether the memory of an array is free before the loop ends, unless this tape keeps it.

        What an iteration hands to the next one is that where each iteration makes it: all but the first one.
        """
        owner = self._owner(kept)
        if owner in held:
            return False
        if isinstance(owner, ir.Var) and owner in self._carried:
            made = [self._owner(each) for each in self._carried[owner]]
            return all(self._is_made_here(each) and each not in held for each in made)
        return self._is_made_here(owner)

    def _owner(self, atom: ir.Atom) -> ir.Atom:
        """The array whose memory an array is in."""
        made = self._made.get(atom) if isinstance(atom, ir.Var) else None
        if isinstance(made, ir.Load):
            return self._owner(made.base)
        if made is None or not isinstance(made.callee, Hashable):
            return atom
        if made.callee in _MAY_BE_COPIES:
            owner = self._owner(made.args[0])
            return owner if self._allocates(owner) else atom
        rule = rule_for(made.callee)
        place = None if rule is None else rule.view_of
        return self._owner(made.args[place]) if place is not None and place < len(made.args) else atom

    def _allocates(self, owner: ir.Atom) -> bool:
        """Whether an owner is surely not memory from elsewhere."""
        made = self._made.get(owner) if isinstance(owner, ir.Var) else None
        return self._is_made_here(owner) and isinstance(made, ir.Call) and made.callee not in _MAY_BE_COPIES

    def _is_made_here(self, owner: ir.Atom) -> bool:
        made = self._made.get(owner) if isinstance(owner, ir.Var) else None
        return isinstance(made, ir.Call) and rule_for(made.callee) is not None


def read_elements(block: ir.Block) -> set[ir.Var]:
    """The variables of which more than the shape is read, or of what they become where control flows."""
    read = read_counts(block)
    read.subtract(var for each in statements_in(block) for var in asked_by(each, ()))
    becoming: dict[ir.Var, list[ir.Var]] = defaultdict(list)
    for source, target, is_read in _flows(block):
        becoming[target].append(source)
        read[source] -= is_read
    return reached([var for var, times in read.items() if times > 0], becoming)


def _flows(block: ir.Block) -> Iterator[tuple[ir.Var, ir.Var, bool]]:
    """What becomes which variable, and whether it is read for that: what a loop has carried it gives at its end."""
    for statement in statements_in(block):
        given = set(zip(statement.params, statement.targets, strict=False)) if isinstance(statement, ir.Loop) else ()
        for source, target in flows(statement):
            if isinstance(source, ir.Var):
                yield source, target, (source, target) not in given


def _without_elements(block: ir.Block, tapes: Collection[ir.Var]) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        match statement:
            case ir.Call(callee=list.append, args=(ir.Var() as tape, ir.Var() as kept)) if tape in tapes:
                shape = ir.Var(kept.hint, kept.type)
                statements.append(ir.Call((shape,), arrays.shape_only, (kept,), (), statement.span))
                statements.append(ir.Call((), list.append, (tape, shape), (), statement.span))
            case _:
                inner = map_blocks(statement, lambda inner: _without_elements(inner, tapes))
                statements.append(inner if blocks_of(statement) else statement)
    end: ir.Terminator = block.terminator
    if isinstance(end, ir.Branch):
        end = map_branch(end, lambda side: _without_elements(side, tapes))
    return ir.Block(tuple(statements), end)


__all__ = ["read_elements", "with_kept_shapes"]
