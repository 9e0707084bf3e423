"""Which turn of a loop has put the item on a tape that another loop reads.

* A loop that puts an item on a tape in each turn, and one that runs over the same range in the other direction and
  takes one in each, are at the same item where their indices are equal, for a tape is last in, first out. So it is with
  nests of such loops.
* Where a loop over ``range(n)`` puts an item on an empty tape in each turn, that at index ``i`` is of turn ``i``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from adjoint import ir
from adjoint.ir.walk import leaves, statements_in
from adjoint.runtime import display

_Loops = tuple[ir.Loop, ...]


@dataclass(frozen=True, slots=True)
class Turns:
    """The loops in whose turns a tape is filled, from outside, and the loops that may read it turn by turn.

    ``popped`` are, one for each of those, the loops in which items are taken from its end; without them items are read
    at the index of a loop that is among ``reading``.
    """

    put: _Loops
    popped: _Loops = ()
    reading: _Loops = ()

    def indices(self) -> set[ir.Var]:
        """The indices of the loops in which the tape is filled."""
        return {loop.index for loop in self.put if loop.index is not None}

    def pairs(self) -> Iterator[tuple[ir.Loop, ir.Loop]]:
        """The loops that read, each with the one that fills."""
        yield from zip(self.popped, self.put, strict=False)
        yield from ((loop, self.put[0]) for loop in self.reading)


@dataclass
class _Uses:
    """Where a tape is made, filled and read, in every turn of which loops; how often in all; by which indices."""

    made: _Loops = ()
    puts: list[_Loops] = field(default_factory=list)
    pops: list[_Loops] = field(default_factory=list)
    keys: list[ir.Key] = field(default_factory=list)


def turns_of(body: ir.Block, tapes: Mapping[ir.Var, object]) -> dict[ir.Var, Turns]:
    """The turns of the tapes whose items are known to be read in loops over the ranges of those that fill them."""
    loops = {each.index: each for each in statements_in(body) if isinstance(each, ir.Loop) and each.index is not None}
    if len(loops) < 2:
        return {}
    counts: Counter[ir.Var] = Counter()
    uses: dict[ir.Var, _Uses] = defaultdict(_Uses)
    for statement in statements_in(body):
        match statement:
            case ir.Call(callee=list.append | list.pop, args=(ir.Var() as tape, *_)):
                counts[tape] += 1
            case ir.Store(base=ir.Var() as tape):
                counts[tape] += 1
            case ir.Load(base=ir.Var() as tape, key=key) if tape in tapes:
                uses[tape].keys.append(key)
    for statement, around in _in_every_turn(body, ()):
        match statement:
            case ir.Call(targets=(tape,), callee=display.make_list) if tape in tapes:
                uses[tape].made = around
            case ir.Call(callee=list.append, args=(ir.Var() as tape, _)) if tape in tapes:
                uses[tape].puts.append(around)
            case ir.Call(callee=list.pop, args=(ir.Var() as tape,)) if tape in tapes:
                uses[tape].pops.append(around)
    found = {tape: _turns(use, loops) for tape, use in uses.items() if counts[tape] == len(use.puts) + len(use.pops)}
    return {tape: turns for tape, turns in found.items() if turns is not None}


def _turns(use: _Uses, loops: Mapping[ir.Var, ir.Loop]) -> Turns | None:
    if len(use.puts) != 1 or not all(map(_runs_whole, use.puts[0])):
        return None
    (put,) = use.puts
    if len(use.pops) == 1 and not use.keys:
        return _apart(put, use.pops[0])
    if use.pops or len(put) != len(use.made) + 1 or put[:-1] != use.made or not _counts_up(put[-1]):
        return None
    indices = {index for key in use.keys if isinstance(index := single_index(key), ir.Var)}
    inner = [each for each in statements_in(put[-1].body) if isinstance(each, ir.Loop)]
    indices -= {loop.index for loop in (*put, *inner) if loop.index is not None}
    return Turns(put[-1:], (), tuple(loops[index] for index in indices & loops.keys()))


def _apart(put: _Loops, popped: _Loops) -> Turns | None:
    """The loops in which only one of two places lies; None where they are of another number, or run as they like."""
    shared = 0
    while shared < min(len(put), len(popped)) and put[shared] is popped[shared]:
        shared += 1
    put, popped = put[shared:], popped[shared:]
    if not put or len(put) != len(popped) or not all(map(_runs_whole, popped)):
        return None
    return Turns(put, popped) if all(map(_are_opposite, put, popped)) else None


def _runs_whole(loop: ir.Loop) -> bool:
    return isinstance(loop.over, ir.Range) and not any(isinstance(leaf, ir.Exit) for leaf in leaves(loop.body))


def _counts_up(loop: ir.Loop) -> bool:
    over = loop.over
    return isinstance(over, ir.Range) and (over.start, over.step) == (ir.Const(0), ir.Const(1)) and not over.backward


def _are_opposite(one: ir.Loop, other: ir.Loop) -> bool:
    return (
        isinstance(one.over, ir.Range) and isinstance(other.over, ir.Range) and one.over.backward != other.over.backward
    )


def _in_every_turn(block: ir.Block, loops: _Loops) -> Iterator[tuple[ir.Statement, _Loops]]:
    """Statements that surely run in each turn of the loops around them, with these loops."""
    for statement in block.statements:
        yield statement, loops
        if isinstance(statement, ir.Loop):
            yield from _in_every_turn(statement.body, (*loops, statement))


def single_index(key: ir.Key | None) -> ir.Atom | None:
    """The index of an item; None where there are several, or a slice."""
    if not isinstance(key, ir.Subscript) or len(key.items) != 1 or isinstance(key.items[0], ir.Slice):
        return None
    return key.items[0]


__all__ = ["Turns", "single_index", "turns_of"]
