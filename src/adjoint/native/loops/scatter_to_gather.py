"""What a loop adds to neighbouring places is added to one of them at a time, when all of it is known.

``a[i - 1] += x; a[i] += y; a[i + 1] += z`` reads and writes each place in three iterations, and no vector code can do
that. The same sums, in the same order, are ``a[i - 1] += z2 + y1 + x`` with what the two iterations before had for this
place; what is left of the last iterations is added behind the loop. Adjoints of stencils are such loops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from adjoint import ir
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.native.costs import MOST_CARRIED
from adjoint.native.loops.access import Touch, Walk, key_of, last_of, placed, walk_of
from adjoint.native.loops.merging.scalar_replacement import computed_first
from adjoint.native.loops.reductions import NEUTRAL, OPERATORS
from adjoint.records import dataclass


def with_neighbours_summed(function: ir.Function) -> ir.Function:
    """The function with sums to neighbouring places made at one of them."""
    return ir.Function(function.name, function.params, _block(function.body), function.doc)


def _block(block: ir.Block) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        current = map_blocks(statement, _block)
        walk = walk_of(current)
        lines = {} if walk is None else _lines(walk)
        statements += [current] if walk is None or not lines else _Summing(walk, lines).statements()
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, same_atom, _block))


Line = tuple[ir.Var, tuple[object, ...]]


@dataclass(frozen=True, eq=False, slots=True)
class _Sum:
    """A sum to a place; how many iterations later it is made, and the numbers carried for that, the newest first."""

    store: ir.Store
    offset: int
    delay: int
    carried: tuple[ir.Var, ...]
    left: tuple[ir.Var, ...]


def _lines(walk: Walk) -> dict[Line, list[_Sum]]:
    """The sums of a loop to several places of a line, of arrays with which it does nothing else."""
    accesses = walk.accesses()
    found: defaultdict[Line, list[tuple[ir.Store, int]]] = defaultdict(list)
    for access, touch in accesses:
        if not isinstance(access, ir.Store) or touch.line is None or touch.offset is None:
            continue
        if all(_leave_alone(touch, other) for _, other in accesses):
            found[touch.root, touch.line].append((access, touch.offset))
    several = {line: sums for line, sums in found.items() if len({offset for _, offset in sums}) > 1}
    lines = {line: _delayed(sums, walk.over.backward) for line, sums in several.items()}
    carried = sum(sum_.delay for sums in lines.values() for sum_ in sums)
    return lines if carried <= MOST_CARRIED else {}


def _leave_alone(sum_: Touch, other: Touch) -> bool:
    """Whether another access does not concern memory to which is added, or is a sum to the same array."""
    if sum_.root is other.root:
        return sum_.adds and other.adds
    return sum_.root.type.storage.find() is not other.root.type.storage.find()  # type: ignore[attr-defined]


def _delayed(sums: Sequence[tuple[ir.Store, int]], backward: bool) -> list[_Sum]:
    """The sums to a line in the order in which a place sees them."""
    last = (max if backward else min)(offset for _, offset in sums)
    found = []
    for store, offset in sums:
        delay, hint = abs(offset - last), getattr(store.base, "hint", "t")
        carried, left = (tuple(ir.Var(hint, ir.FLOAT) for _ in range(delay)) for _ in "ab")
        found.append(_Sum(store, offset, delay, carried, left))
    return sorted(found, key=lambda sum_: -sum_.delay)


class _Summing:
    """A loop, and what is left for behind it."""

    def __init__(self, walk: Walk, lines: dict[Line, list[_Sum]]) -> None:
        self.walk = walk
        self.lines = lines
        self.sums = [sum_ for sums in lines.values() for sum_ in sums]
        self.over = walk.over

    def statements(self) -> list[ir.Statement]:
        return [self.loop(), *self.behind()]

    def loop(self) -> ir.Loop:
        """The loop, which adds to a place of each line when it comes to it for the last time."""
        loop, end = self.walk.loop, self.walk.loop.body.terminator
        assert isinstance(end, ir.Continue)
        stores = {id(sum_.store) for sum_ in self.sums}
        body = [statement for statement in loop.body.statements if id(statement) not in stores]
        for (root, line), sums in self.lines.items():
            values = [(sum_.carried[-1] if sum_.delay else sum_.store.value, sum_.store.mode) for sum_ in sums]
            body += _added(root, line, self.walk.index, sums[-1].offset, values)
        inits = tuple(NEUTRAL[sum_.store.mode] for sum_ in self.sums for _ in sum_.carried)
        values_ = tuple(value for sum_ in self.sums for value in (sum_.store.value, *sum_.carried)[: sum_.delay])
        return ir.Loop(
            self.over,
            loop.index,
            (*loop.params, *(var for sum_ in self.sums for var in sum_.carried)),
            (*loop.inits, *inits),
            computed_first(body, (*end.values, *values_)),
            (*loop.targets, *(var for sum_ in self.sums for var in sum_.left)),
            None,
            loop.span,
        )

    def behind(self) -> list[ir.Statement]:
        """What adds what the last iterations left, if there was one."""
        index = ir.Var(self.walk.index.hint, ir.INT)
        bounds, last = last_of(self.over.start, self.over.stop, backward=self.over.backward)
        body: list[ir.Statement] = []
        for (root, line), sums in self.lines.items():
            for later in range(1, sums[0].delay + 1):
                left = [(sum_.left[sum_.delay - later], sum_.store.mode) for sum_ in sums if sum_.delay >= later]
                offset = sums[-1].offset + (-later if self.over.backward else later)
                body += _added(root, line, index, offset, left)
        return [*bounds, ir.Loop(last, index, (), (), ir.Block(tuple(body), ir.Continue(())), ())]


def _added(
    root: ir.Var, line: tuple[object, ...], index: ir.Var, offset: int, values: Sequence[tuple[ir.Atom, str]]
) -> list[ir.Statement]:
    """Adds numbers to a place, one after the other."""
    found, place = placed(index, offset)
    key, total = key_of(line, place), ir.Var(root.hint, ir.FLOAT)
    found.append(ir.Load(total, root, key))
    for value, mode in values:
        following = ir.Var(root.hint, ir.FLOAT)
        found.append(ir.Call((following,), OPERATORS[mode], (total, value)))
        total = following
    found.append(ir.Store(root, key, total))
    return found


__all__ = ["with_neighbours_summed"]
