"""What loops keep only for its shape is kept without its elements.

A tape of arrays of which nothing but the shape is asked holds arrays of the same shapes and dtypes that take no memory.
That is done where it frees memory: where the array, or that of which it is a view, is made in the iteration, and no
other tape keeps it. Where the shape is the same in each iteration, not even these are kept: see
:mod:`~adjoint.differentiation.reverse.residuals.shapes.invariant_shapes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.extents import tapes_of
from adjoint.differentiation.reverse.residuals.shapes.unread_results import asked_by
from adjoint.ir.rebuild import map_blocks, map_branch
from adjoint.ir.walk import blocks_of, read_counts, statements_in, targets_of
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
        self._kept: dict[ir.Var, list[ir.Atom]] = {tape: [] for tape in tapes}
        self._read_back: set[ir.Var] = set()
        loops = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Loop)]
        inside = {target for loop in loops for each in statements_in(loop.body) for target in targets_of(each)}
        read = read_counts(function.body)
        asked = Counter(var for each in statements_in(function.body) for var in asked_by(each, ()))
        for statement in statements_in(function.body):
            match statement:
                case ir.Call(callee=list.append, args=(ir.Var() as tape, kept)) if tape in self._kept:
                    self._kept[tape].append(kept)
                case ir.Call(targets=(target,), callee=list.pop, args=(ir.Var() as tape,)) if tape in self._kept:
                    self._note(tape, asked[target] == read[target])
                case ir.Load(target=target, base=ir.Var() as tape) if tape in self._kept:
                    self._note(tape, asked[target] == read[target])
                case ir.Store(base=ir.Var() as tape) if tape in self._kept:
                    self._note(tape, False)
                case ir.Call(targets=(target,)) | ir.Load(target=target) if target in inside:
                    self._made[target] = statement

    def _note(self, tape: ir.Var, is_asked_for_its_shape: bool) -> None:
        if not is_asked_for_its_shape:
            self._read_back.add(tape)

    def only_for_shapes(self) -> set[ir.Var]:
        """The tapes that hold what would be free otherwise, for its shape."""
        held = {self._owner(kept) for tape in self._read_back for kept in self._kept[tape]}
        return {
            tape
            for tape, kept in self._kept.items()
            if tape not in self._read_back
            and kept
            and all(isinstance(each, ir.Var) and isinstance(each.type, ir.Array) for each in kept)
            and all(self._is_made_here(owner) and owner not in held for owner in map(self._owner, kept))
        }

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


__all__ = ["with_kept_shapes"]
