"""Several directions in one sweep: what depends on a direction is done once for each, everything else once for all.

Derivatives are linear in their tangents and cotangents, so that no path is chosen by one. Every variable that depends
on a direction becomes one for each lane, and so does the memory that holds such values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from adjoint.analysis.aliases import Aliases
from adjoint.analysis.joins import joins
from adjoint.ir.effects import Effects, effects_of, written_places
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Continue,
    Definition,
    Exit,
    Function,
    Guarded,
    If,
    Items,
    Load,
    Loop,
    Raise,
    Range,
    Return,
    Statement,
    Store,
    Terminator,
    Var,
)
from adjoint.ir.types import Array, Dict, Instance, List, Opaque, Storage, Tuple, relocated
from adjoint.ir.walk import (
    blocks_of,
    operands,
    rebuild,
    statements_in,
    targets_of,
    with_values,
)
from adjoint.records import replace

HandedOut = Callable[[Any], tuple[Atom, ...]]
"""What a block hands out in place of what a terminator did."""


def in_lanes(function: Function, seeds: Sequence[int], count: int) -> Function | None:
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
    Function or None
        Its parameters are those of ``function``, then the seeds of each further direction; its results those of
        ``function`` for each direction, one after another. None where one sweep cannot have several directions.
    """
    try:
        lanes = _Lanes(_Directed(function, [function.params[place] for place in seeds]), count)
    except _Inseparable:
        return None
    further = [lanes.of(function.params[place], lane) for lane in range(1, count) for place in seeds]
    return Function(function.name, (*function.params, *further), lanes.body(function.body), function.doc)


class _Inseparable(Exception):
    """A statement depends on a direction that can only be run once."""


class _Directed:
    """What of a function depends on a direction."""

    def __init__(self, function: Function, seeds: Sequence[Var]) -> None:
        self._aliases = Aliases(function)
        self._vars: set[Atom] = set()
        self._memory: set[Hashable] = set()
        self._mark(seeds)
        before = -1
        while before != self._size():
            before = self._size()
            self._block(function.body)
        if any(map(self.depends, set(function.params).difference(seeds))):
            raise _Inseparable

    def _size(self) -> int:
        return len(self._vars) + len(self._memory)

    def depends(self, atom: Atom) -> bool:
        """Whether a value, or what memory holds, is another one in another direction."""
        return atom in self._vars or (self._is_shared(atom) and self._aliases.of(atom) in self._memory)

    def is_repeated(self, statement: Statement) -> bool:
        """Whether a statement without blocks is run for each direction."""
        match statement:
            case Store(base=base):
                return self.depends(base)
            case Call(targets=targets):
                return self._any([*targets, *_written(statement, _facts(statement))])
            case _:
                return self._any(targets_of(statement))

    def _is_shared(self, atom: Atom) -> bool:
        """Whether others may see what is written to the memory of a value."""
        if not isinstance(atom, Var):
            return False
        if isinstance(atom.type, Array):
            return self._aliases.is_written(atom)
        return isinstance(atom.type, (List, Tuple, Dict, Instance, Opaque))

    def _mark(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, Var):
                self._vars.add(atom)
                if self._is_shared(atom):
                    self._memory.add(self._aliases.of(atom))

    def _any(self, atoms: Iterable[Atom]) -> bool:
        return any(map(self.depends, atoms))

    def _block(self, block: Block) -> None:
        for statement in block.statements:
            self._statement(statement)
        if isinstance(block.terminator, Branch):
            self._refuse([block.terminator.cond])
            self._block(block.terminator.then)
            self._block(block.terminator.orelse)

    def _statement(self, statement: Statement) -> None:
        for block in blocks_of(statement):
            self._block(block)
        match statement:
            case Call():
                self._call(statement)
            case Load(target=target):
                if self._any(operands(statement)):
                    self._mark([target])
            case Store(base=base):
                if self._any(operands(statement)):
                    self._mark([base])
            case If(cond=cond):
                self._refuse([cond])
            case Loop(over=Range(start=start, stop=stop, step=step)):
                self._refuse([start, stop, step])
            case Loop(over=Items(iterable=iterable)):
                self._refuse([iterable])
            case Guarded(context=context):
                self._refuse([] if context is None else [context])
        for value, var in joins(statement):
            if self.depends(value):
                self._mark([var])

    def _call(self, call: Call) -> None:
        facts = _facts(call)
        written = _written(call, facts)
        if self._any(_looked_at(call, facts)):
            self._mark([*call.targets, *written])
            self._require(facts.known)
        if self._any([*call.targets, *written]):
            self._require(facts.known and facts.confined and all(map(self.depends, written)))

    def _refuse(self, atoms: Iterable[Atom]) -> None:
        self._require(not self._any(atoms))

    def _require(self, condition: bool) -> None:
        if not condition:
            raise _Inseparable


def _facts(call: Call) -> Effects:
    """The effects of a call; those of a function of the IR are told by all that is in it."""
    if not isinstance(call.callee, Definition) or call.callee.function is None:
        return effects_of(call)
    return Effects(
        pure=False,
        writes=written_places(call.callee.function),
        known=_is_confined(call.callee.function, {call.callee}),
        fresh=True,
        hands_on=True,
    )


def _is_confined(function: Function, seen: set[Definition]) -> bool:
    """Whether nothing in a function does more than to compute, to write to memory, and to raise exceptions."""
    for statement in statements_in(function.body):
        if not isinstance(statement, Call):
            continue
        callee = statement.callee
        if not isinstance(callee, Definition):
            facts = effects_of(statement)
            if not (facts.known and facts.confined):
                return False
        elif callee not in seen:
            seen.add(callee)
            if callee.function is None or not _is_confined(callee.function, seen):
                return False
    return True


def _written(call: Call, facts: Effects) -> list[Atom]:
    """The arguments to the memory of which a call writes."""
    return [call.args[place] for place in facts.writes if place < len(call.args)]


def _looked_at(call: Call, facts: Effects) -> list[Atom]:
    """The operands on whose values a call depends: not those of which it only asks the shape."""
    atoms = list(operands(call))
    if call.callee in (len, np.shape, np.ndim, np.size):
        return []
    if facts.reads is None:
        return atoms
    return [atom for atom in atoms if not (isinstance(atom, Var) and isinstance(atom.type, (Array, List, Tuple, Dict)))]


class _Lanes:
    """Writes out what depends on a direction, once for each."""

    def __init__(self, directed: _Directed, count: int) -> None:
        self._directed = directed
        self._count = count
        self._further: list[dict[Var, Var]] = [{} for _ in range(count)]
        self._homes: list[dict[Storage, Storage]] = [{} for _ in range(count)]

    def of(self, var: Var, lane: int) -> Var:
        """What stands for a variable in a lane."""
        if lane == 0 or not self._directed.depends(var):
            return var
        known = self._further[lane].get(var)
        if known is None:
            type_ = relocated(var.type, lambda storage: self._home(storage, lane))
            known = self._further[lane][var] = Var(var.hint, type_, var.named)
        return known

    def _home(self, storage: Storage, lane: int) -> Storage:
        """The memory of a lane that stands for memory of the first."""
        homes = self._homes[lane]
        if storage not in homes:
            homes[storage] = Storage(written=storage.written)
        return homes[storage]

    def body(self, block: Block) -> Block:
        """The body of a function: it returns the results of each lane."""

        def of_all_lanes(end: Return) -> tuple[Atom, ...]:
            return tuple(self._in(lane, value) for lane in self._all for value in end.values)

        return self._block(block, of_all_lanes)

    @property
    def _all(self) -> range:
        return range(self._count)

    def _block(self, block: Block, handed: HandedOut) -> Block:
        """A block that hands out what ``handed`` makes of the values that it handed out."""
        statements = tuple(new for old in block.statements for new in self._statements(old))
        match block.terminator:
            case Branch(cond=cond, then=then, orelse=orelse, span=span):
                end: Terminator = Branch(cond, self._block(then, handed), self._block(orelse, handed), span)
            case Raise():
                end = block.terminator
            case leaf:
                end = with_values(leaf, handed(leaf))
        return Block(statements, end)

    def _statements(self, statement: Statement) -> list[Statement]:
        match statement:
            case Loop():
                return [self._loop(statement)]
            case If(cond=cond, then=then, orelse=orelse, targets=targets, span=span):
                handed = self._handed_to(targets)
                then, orelse = self._block(then, handed), self._block(orelse, handed)
                return [If(cond, then, orelse, self._bound(targets), span)]
            case Guarded(targets=targets):
                handed = self._handed_to(targets)
                body = self._block(statement.body, handed)
                handlers = tuple(replace(each, body=self._block(each.body, handed)) for each in statement.handlers)
                final = statement.final and self._block(statement.final, handed)
                return [replace(statement, body=body, handlers=handlers, final=final, targets=self._bound(targets))]
        if not self._directed.is_repeated(statement):
            return [statement]
        return [self._repeated(statement, lane) for lane in self._all]

    def _handed_to(self, targets: Sequence[Var]) -> HandedOut:
        return lambda leaf: self._paired(leaf.values, targets)

    def _loop(self, loop: Loop) -> Loop:
        into = {Continue: loop.params, Exit: loop.targets}
        body = self._block(loop.body, lambda leaf: self._paired(leaf.values, into[type(leaf)]))
        inits = self._paired(loop.inits, loop.params)
        params, targets = self._bound(loop.params), self._bound(loop.targets)
        return Loop(loop.over, loop.index, params, inits, body, targets, loop.exit, loop.span)

    def _bound(self, targets: Sequence[Var]) -> tuple[Var, ...]:
        return tuple(self.of(var, lane) for var in targets for lane in self._lanes_of(var))

    def _lanes_of(self, var: Var) -> range:
        return self._all if self._directed.depends(var) else range(1)

    def _paired(self, values: Sequence[Atom], into: Sequence[Var]) -> tuple[Atom, ...]:
        """What is handed to variables, for each lane of each."""
        pairs = zip(values, into, strict=False)  # a loop that is left may leave the last of its results undefined
        return tuple(self._in(lane, value) for value, var in pairs for lane in self._lanes_of(var))

    def _in(self, lane: int, atom: Atom) -> Atom:
        return self.of(atom, lane) if isinstance(atom, Var) else atom

    def _repeated(self, statement: Statement, lane: int) -> Statement:
        def bound(var: Var) -> Var:
            if lane and not self._directed.depends(var):
                return Var(var.hint, var.type, var.named)  # the same as in the first lane
            return self.of(var, lane)

        return rebuild(statement, lambda atom: self._in(lane, atom), binder=bound)
