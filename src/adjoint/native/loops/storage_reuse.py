"""Results that are computed element by element take over the memory of an array that is read for the last time.

``x[i, j] = f(y[i, j])`` writes into ``y`` where nobody reads ``y`` afterwards: what compilers of array programs call
buffer reuse, or donation.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.shape_arguments import asks_about_array, shape_argument
from adjoint.analysis.shapes.terms import Extent
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom, substitute
from adjoint.ir.walk import blocks_of, operands, statements_in, terminators_in
from adjoint.native.loops.uses import Node, own_arrays
from adjoint.records import dataclass, field
from adjoint.runtime.arithmetic import fused_loops

_BY_ROWS: tuple[Any, ...] = (np.empty, np.zeros, np.matmul, operator.matmul)
"""Functions whose results are new arrays that lie by rows."""


def with_storage_reused(function: ir.Function) -> ir.Function:
    """The function with fewer arrays: some take over the memory of others."""
    if not any(map(_makes_room, statements_in(function.body))):
        return function
    reuse = _Reuse(function)
    body = reuse.block(function.body)
    if not reuse.homes:
        return function
    named = reuse.named()
    return ir.Function(function.name, function.params, _written(substitute(body, named), named), function.doc)


class _Scope:
    """A block: what its statements touch, at any depth, and what lies in memory that it may hand on."""

    def __init__(self, block: ir.Block) -> None:
        self.touched = [set(_touched(each)) for each in (*block.statements, block.terminator)]
        self.given: dict[ir.Var, list[ir.Var]] = {}
        self._last = {array: place for place, touched in enumerate(self.touched) for array in touched}

    def is_read_later(self, arrays: Iterable[ir.Var], place: int) -> bool:
        return any(self._last.get(array, -1) > place for array in arrays)


@dataclass(frozen=True, slots=True)
class _Accesses:
    """How the iterations of a loop touch arrays.

    Attributes
    ----------
    first, last
        The first and the last node of the body that touches an array.
    elsewhere
        The arrays that are touched at other places than those that the counters of the loops say.
    """

    first: dict[ir.Var, int] = field(default_factory=dict)
    last: dict[ir.Var, int] = field(default_factory=dict)
    elsewhere: set[ir.Var] = field(default_factory=set)


class _Reuse:
    """Finds arrays that take over the memory of others.

    Attributes
    ----------
    homes
        For each array that needs no memory of its own the one whose memory it takes over.
    """

    def __init__(self, function: ir.Function) -> None:
        self.homes: dict[ir.Var, ir.Var] = {}
        self._own = own_arrays(function, new=_BY_ROWS)
        self._extents = Extents(function)
        self._equal: dict[Extent, Extent] = {}
        self._accesses: dict[int, _Accesses] = {}

    def named(self) -> dict[ir.Var, ir.Atom]:
        """One variable for all arrays that lie in the same memory, of the type of the last: others are never shown."""
        last = {home: array for array, home in self.homes.items()}
        one = {home: ir.Var(array.hint, array.type, array.named) for home, array in last.items()}
        return {**one, **{array: one[home] for array, home in self.homes.items()}}

    def block(self, block: ir.Block) -> ir.Block:
        outer = dict(self._equal)
        looks = any(map(_makes_room, block.statements)) and any(isinstance(each, ir.Loop) for each in block.statements)
        scope = _Scope(block) if looks else None
        statements, waiting = [], set[ir.Var]()
        for place, statement in enumerate(block.statements):
            if scope is not None:
                first = waiting & scope.touched[place]
                waiting -= first
                for array in sorted(first, key=repr) if isinstance(statement, ir.Loop) else ():
                    self._take_over(array, statement, place, scope)  # type: ignore[arg-type]
                if _makes_room(statement):
                    waiting.add(_target(statement))
                self._give(statement, scope)
            statements.append(map_blocks(statement, self.block))
            self._learn(statement)
        end = rebuild_terminator(block.terminator, same_atom, self.block)
        self._equal = outer
        return ir.Block(tuple(each for each in statements if not self._is_gone(each)), end)

    def _is_gone(self, statement: ir.Statement) -> bool:
        return _makes_room(statement) and _target(statement) in self.homes

    def _give(self, statement: ir.Statement, scope: _Scope) -> None:
        match statement:
            case ir.Call(targets=(target,), callee=callee) if target in self._own and callee in _BY_ROWS:
                scope.given[target] = [target]

    def _learn(self, statement: ir.Statement) -> None:
        """Takes down which extents are equal from here on."""
        match statement:
            case ir.Call(callee=fused_loops.same_extent, args=(one, other)):
                mine, theirs = (self._known(self._extents.number(number)) for number in (one, other))
                if mine is not None and theirs is not None and mine != theirs:
                    self._equal[mine] = theirs

    def _known(self, extent: Extent | None) -> Extent | None:
        while extent is not None and extent in self._equal:
            extent = self._equal[extent]
        return extent

    def _are_alike(self, one: ir.Var, other: ir.Var) -> bool:
        mine, theirs = self._extents.of(one), self._extents.of(other)
        assert isinstance(one.type, ir.Array) and isinstance(other.type, ir.Array)
        if mine is None or theirs is None or not ir.same_dtype(one.type.dtype, other.type.dtype):
            return False
        return [*map(self._known, mine)] == [*map(self._known, theirs)]

    def _take_over(self, array: ir.Var, loop: ir.Loop, place: int, scope: _Scope) -> None:
        if array in self.homes.values():  # in this loop, where it is read for the last time, too
            return
        for home, members in reversed(scope.given.items()):
            if array in members or not scope.touched[place].intersection(members):
                continue
            if not self._are_alike(array, home) or scope.is_read_later(members, place):
                continue
            if not self._is_read_first(loop, array, members, ()):
                continue
            self.homes[array] = home
            scope.given.pop(array, None)
            if array in self._own:
                members.append(array)
            else:
                del scope.given[home]
            return

    def _is_read_first(
        self, loop: ir.Loop, written: ir.Var, read: Sequence[ir.Var], around: tuple[ir.Var, ...]
    ) -> bool:
        """Whether nobody reads an element of some arrays once that of a new one is written in its place.

        ``around`` are the counters of the loops around, which are the first indices of all that is touched.
        """
        if not isinstance(loop.over, ir.Range) or loop.index is None:
            return False
        found = self._accesses_of(loop, (*around, loop.index))
        reads = [place for array in read if (place := found.last.get(array)) is not None]
        if not found.elsewhere.isdisjoint((written, *read)):
            return False
        if not reads or written not in found.first or max(reads) < found.first[written]:
            return True
        both_in = loop.body.statements[max(reads)] if max(reads) < len(loop.body.statements) else None
        if max(reads) != found.first[written] or not isinstance(both_in, ir.Loop):
            return False
        return self._is_read_first(both_in, written, read, (*around, loop.index))

    def _accesses_of(self, loop: ir.Loop, counters: tuple[ir.Var, ...]) -> _Accesses:
        found = self._accesses.get(id(loop))
        if found is None:
            found = self._accesses[id(loop)] = _Accesses()
            for place, node in enumerate((*loop.body.statements, loop.body.terminator)):
                for array in _touched(node):
                    found.first.setdefault(array, place)
                    found.last[array] = place
            for node in (*statements_in(loop.body), *terminators_in(loop.body)):
                found.elsewhere.update(array for array in _own_operands(node) if not _is_at(node, array, counters))
        return found


def _is_at(node: Node, array: ir.Var, counters: tuple[ir.Var, ...]) -> bool:
    """Whether a node loads or stores one element of an array, whose first indices are counters of loops."""
    match node:
        case ir.Load(target=ir.Var(type=ir.Scalar()), key=ir.Subscript(items=items)):
            pass
        case ir.Store(key=ir.Subscript(items=items), value=value) if value is not array:
            if not all(isinstance(item, ir.Var) and item.type == ir.INT for item in items):
                return False
        case _:
            return False
    assert isinstance(array.type, ir.Array)
    dims = array.type.dims
    return node.base is array and dims is not None and len(items) == len(dims) and items[: len(counters)] == counters


def _makes_room(statement: ir.Statement) -> bool:
    match statement:
        case ir.Call(targets=(ir.Var(type=ir.Array()),), callee=callee, kwargs=()):
            return callee is np.empty
        case _:
            return False


def _target(statement: ir.Statement) -> ir.Var:
    assert isinstance(statement, ir.Call)
    return statement.targets[0]


def _touched(node: Node) -> Iterator[ir.Var]:
    """The arrays that a node, or one in it, touches more of than their extents."""
    yield from _own_operands(node)
    for block in blocks_of(node):
        for inner in (*block.statements, block.terminator):
            yield from _touched(inner)


def _own_operands(node: Node) -> Iterator[ir.Var]:
    if asks_about_array(node):
        return
    place = shape_argument(node.callee) if isinstance(node, ir.Call) else None
    if isinstance(node, ir.Call) and place is not None and not node.kwargs:
        atoms: Sequence[object] = [arg for at, arg in enumerate(node.args) if at != place]
    else:
        atoms = operands(node)
    yield from (atom for atom in atoms if isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array))


def _written(block: ir.Block, named: dict[ir.Var, ir.Atom]) -> ir.Block:
    """The block that binds the variables that stand for others."""

    def bound(statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.Call(targets=(target,)) if target in named:
                home = named[target]
                assert isinstance(home, ir.Var)
                return ir.Call((home,), statement.callee, statement.args, statement.kwargs, statement.span)
            case _:
                return map_blocks(statement, lambda inner: _written(inner, named))

    end = rebuild_terminator(block.terminator, same_atom, lambda inner: _written(inner, named))
    return ir.Block(tuple(map(bound, block.statements)), end)
