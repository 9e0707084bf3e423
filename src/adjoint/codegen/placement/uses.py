"""Which values may be printed where they are used, and how a function's variables are numbered.

A value may stand inside its single use when that use is in its own block. The repeated condition of ``a and b``
(an ``if`` on ``a`` of which one side yields ``a`` itself) counts as one use. A value that has a name of its own may
stand there, too, if it is taken back out of what a loop kept: ``y_kept[i]`` says as much as ``y``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from adjoint import ir
from adjoint.analysis.joins import flows, reached
from adjoint.ir.walk import binders_of, blocks_of, operands, targets_of


class Insides:
    """What stands in the blocks of statements; each block is looked through once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ir.Block, frozenset[str], bool]] = {}  # the block keeps its identity valid

    def may_raise(self, statement: ir.Statement) -> bool:
        """Whether a ``raise`` stands in a statement."""
        return any(self._of(block)[2] for block in blocks_of(statement))

    def hints_bound_in(self, statement: ir.Statement) -> frozenset[str]:
        """The hints of all variables that a statement binds, in its blocks too."""
        own = {var.hint for var in (*targets_of(statement), *binders_of(statement))}
        return frozenset(own).union(*[self._of(block)[1] for block in blocks_of(statement)])

    def _of(self, block: ir.Block) -> tuple[ir.Block, frozenset[str], bool]:
        known = self._known.get(id(block))
        if known is None:
            hints: set[str] = set()
            raises = isinstance(block.terminator, ir.Raise)
            for statement in block.statements:
                if blocks_of(statement):
                    hints |= self.hints_bound_in(statement)
                    raises = raises or self.may_raise(statement)
                else:
                    hints.update([var.hint for var in targets_of(statement)])
            for inner in blocks_of(block.terminator):
                hints |= self._of(inner)[1]
                raises = raises or self._of(inner)[2]
            known = self._known[id(block)] = (block, frozenset(hints), raises)
        return known


def echoes(statement: ir.If) -> bool:
    """Whether one branch does nothing but yield the condition: the shape of ``and`` and ``or``."""
    if not isinstance(statement.cond, ir.Var) or len(statement.targets) != 1 or statement.targets[0].named:
        return False
    echo = ir.Block((), ir.Yield((statement.cond,)))
    return (statement.then == echo) != (statement.orelse == echo)


class Uses:
    """Counts and places of the uses of each variable of a function."""

    def __init__(self, function: ir.Function) -> None:
        self.numbers: dict[ir.Var, int] = {}
        self.places: dict[ir.Var, list[int]] = {}
        self.homes: dict[ir.Var, int] = {}
        self.outlets: dict[ir.Var, ir.Var] = {}
        self.taken_back: set[ir.Var] = set()
        self._joined: list[tuple[ir.Atom, ir.Var]] = []
        for param in function.params:
            self._define(param, -1)
        self._block(function.body)

    def _define(self, var: ir.Var, place: int) -> None:
        if var not in self.numbers:
            self.numbers[var] = len(self.numbers)
        self.homes[var] = place

    def _block(self, block: ir.Block) -> None:
        place = id(block)
        for statement in block.statements:
            self._operands(statement, place)
            if blocks_of(statement):
                self._inside(statement)
            elif isinstance(statement, ir.Load) and _takes_back(statement):
                self.taken_back.add(statement.target)
            for var in targets_of(statement):
                self._define(var, place)
        self._operands(block.terminator, place)
        for inner in blocks_of(block.terminator):
            self._block(inner)

    def _inside(self, statement: ir.Statement) -> None:
        self._joined += flows(statement)
        for var in binders_of(statement):
            self._define(var, -1)
        if isinstance(statement, ir.Loop) and statement.over is not None:
            self.outlets.update(zip(statement.params, statement.targets, strict=False))
        for inner in _blocks_read(statement):
            self._block(inner)

    def _operands(self, node: ir.Statement | ir.Terminator, place: int) -> None:
        places = self.places
        for atom in operands(node):
            if type(atom) is ir.Var:
                found = places.get(atom)
                if found is None:
                    places[atom] = [place]
                else:
                    found.append(place)

    def count(self, var: ir.Var) -> int:
        return len(self.places.get(var, ()))

    def wanted(self, var: ir.Var) -> bool:
        """Whether anybody reads a variable, or what a loop's parameter becomes when the loop ends."""
        outlet = self.outlets.get(var)
        return var in self.places or (outlet is not None and self.wanted(outlet))

    @functools.cached_property
    def unbound(self) -> set[ir.Var]:
        """Variables that some way leads to on which they are not bound: there nobody reads them."""
        onward: dict[ir.Var, list[ir.Var]] = {}
        for value, var in self._joined:
            if isinstance(value, ir.Var):
                onward.setdefault(value, []).append(var)
        return reached((var for value, var in self._joined if isinstance(value, ir.Undefined)), onward)

    def inlinable(self, var: ir.Var) -> bool:
        """Whether a value may be printed inside its use, as far as its uses tell."""
        return (not var.named or var in self.taken_back) and self.places.get(var) == [self.homes[var]]


def _takes_back(load: ir.Load) -> bool:
    """Whether an item is taken out of a list that no program has a name for, by a number."""
    base, key = load.base, load.key
    if not isinstance(base, ir.Var) or base.named or not isinstance(base.type, ir.List):
        return False
    return isinstance(key, ir.Subscript) and not key.tupled and isinstance(key.items[0], ir.Var)


def _blocks_read(statement: ir.Statement) -> Iterator[ir.Block]:
    """The blocks of a statement, without a branch that only echoes the condition."""
    echo = isinstance(statement, ir.If) and echoes(statement)
    for block in blocks_of(statement):
        if not (echo and not block.statements and block.terminator == ir.Yield((statement.cond,))):  # type: ignore[union-attr]
            yield block
