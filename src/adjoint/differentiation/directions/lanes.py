"""Several directions in one sweep: what depends on a direction is done once for each, everything else once for all.

Derivatives are linear in their tangents and cotangents, so that no path is chosen by one. Every variable that depends
on a direction becomes one for each lane, and so does the memory that holds such values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.differentiation.directions.dependence import Directed
from adjoint.ir.rebuild import rebuild, with_values
from adjoint.records import replace

HandedOut = Callable[[Any], tuple[ir.Atom, ...]]
"""What a block hands out in place of what a terminator did."""


def in_lanes(function: ir.Function, seeds: Sequence[int], count: int) -> ir.Function:
    """A derivative in several directions at once.

    Parameters
    ----------
    function
        A derivative in one direction, without recursive functions that a direction is handed to.
    seeds
        The parameters that are the direction.
    count
        The number of directions.

    Returns
    -------
    Function
        Its parameters are those of ``function``, then the seeds of each further direction; its results those of
        ``function`` for each direction, one after another.

    Raises
    ------
    Inseparable
        If one sweep cannot have several directions.
    """
    lanes = _Lanes(Directed(function, [function.params[place] for place in seeds]), count)
    further = [lanes.of(function.params[place], lane) for lane in range(1, count) for place in seeds]
    return ir.Function(function.name, (*function.params, *further), lanes.body(function.body), function.doc)


class _Lanes:
    """Writes out what depends on a direction, once for each."""

    def __init__(self, directed: Directed, count: int) -> None:
        self._directed = directed
        self._count = count
        self._further: list[dict[ir.Var, ir.Var]] = [{} for _ in range(count)]
        self._homes: list[dict[ir.Storage, ir.Storage]] = [{} for _ in range(count)]

    def of(self, var: ir.Var, lane: int) -> ir.Var:
        """What stands for a variable in a lane."""
        if lane == 0 or not self._directed.depends(var):
            return var
        known = self._further[lane].get(var)
        if known is None:
            type_ = ir.relocated(var.type, lambda storage: self._home(storage, lane))
            known = self._further[lane][var] = ir.Var(var.hint, type_, var.named)
        return known

    def _home(self, storage: ir.Storage, lane: int) -> ir.Storage:
        """The memory of a lane that stands for memory of the first."""
        homes = self._homes[lane]
        if storage not in homes:
            homes[storage] = ir.Storage(written=storage.written)
        return homes[storage]

    def body(self, block: ir.Block) -> ir.Block:
        """The body of a function: it returns the results of each lane."""

        def of_all_lanes(end: ir.Return) -> tuple[ir.Atom, ...]:
            return tuple(self._in(lane, value) for lane in self._all for value in end.values)

        return self._block(block, of_all_lanes)

    @property
    def _all(self) -> range:
        return range(self._count)

    def _block(self, block: ir.Block, handed: HandedOut) -> ir.Block:
        """A block that hands out what ``handed`` makes of the values that it handed out."""
        statements = tuple(new for old in block.statements for new in self._statements(old))
        match block.terminator:
            case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
                end: ir.Terminator = ir.Branch(cond, self._block(then, handed), self._block(orelse, handed), span)
            case ir.Raise():
                end = block.terminator
            case leaf:
                end = with_values(leaf, handed(leaf))
        return ir.Block(statements, end)

    def _statements(self, statement: ir.Statement) -> list[ir.Statement]:
        match statement:
            case ir.Loop():
                return [self._loop(statement)]
            case ir.If(cond=cond, then=then, orelse=orelse, targets=targets, span=span):
                handed = self._handed_to(targets)
                then, orelse = self._block(then, handed), self._block(orelse, handed)
                return [ir.If(cond, then, orelse, self._bound(targets), span)]
            case ir.Guarded(targets=targets):
                handed = self._handed_to(targets)
                body = self._block(statement.body, handed)
                handlers = tuple(replace(each, body=self._block(each.body, handed)) for each in statement.handlers)
                final = statement.final and self._block(statement.final, handed)
                return [replace(statement, body=body, handlers=handlers, final=final, targets=self._bound(targets))]
        if not self._directed.is_repeated(statement):
            return [statement]
        return [self._repeated(statement, lane) for lane in self._all]

    def _handed_to(self, targets: Sequence[ir.Var]) -> HandedOut:
        return lambda leaf: self._paired(leaf.values, targets)

    def _loop(self, loop: ir.Loop) -> ir.Loop:
        into = {ir.Continue: loop.params, ir.Exit: loop.targets}
        body = self._block(loop.body, lambda leaf: self._paired(leaf.values, into[type(leaf)]))
        inits = self._paired(loop.inits, loop.params)
        params, targets = self._bound(loop.params), self._bound(loop.targets)
        return ir.Loop(loop.over, loop.index, params, inits, body, targets, loop.exit, loop.span)

    def _bound(self, targets: Sequence[ir.Var]) -> tuple[ir.Var, ...]:
        return tuple(self.of(var, lane) for var in targets for lane in self._lanes_of(var))

    def _lanes_of(self, var: ir.Var) -> range:
        return self._all if self._directed.depends(var) else range(1)

    def _paired(self, values: Sequence[ir.Atom], into: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
        """What is handed to variables, for each lane of each."""
        pairs = zip(values, into, strict=False)  # a loop that is left may leave the last of its results undefined
        return tuple(self._in(lane, value) for value, var in pairs for lane in self._lanes_of(var))

    def _in(self, lane: int, atom: ir.Atom) -> ir.Atom:
        return self.of(atom, lane) if isinstance(atom, ir.Var) else atom

    def _repeated(self, statement: ir.Statement, lane: int) -> ir.Statement:
        def bound(var: ir.Var) -> ir.Var:
            if lane and not self._directed.depends(var):
                return ir.Var(var.hint, var.type, var.named)  # the same as in the first lane
            return self.of(var, lane)

        return rebuild(statement, lambda atom: self._in(lane, atom), binder=bound)
