"""How neighbouring loops along the same arrays may be one: in which direction, and what is done around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from adjoint import ir
from adjoint.ir.rebuild import clone
from adjoint.ir.walk import free_vars, operands, targets_of
from adjoint.native.loops.access import Distinct, Row, Touch, along, key_of, last_of, number, placed

ONE = ir.Const(1)


class Piece(NamedTuple):
    """A statement next to the loops, which is moved before the one that they become, or behind it."""

    statement: ir.Statement
    touches: list[Touch]

    def reads(self) -> set[ir.Atom]:
        inner = free_vars(self.statement.body) if isinstance(self.statement, ir.Loop) else ()
        return {*operands(self.statement), *inner}


class Delay(NamedTuple):
    """A sum that is made one iteration late: what is added in the next one, and what is left for the end."""

    carried: ir.Var
    total: ir.Var


Entry = Row | Piece


class Plan:
    """Loops as one.

    Attributes
    ----------
    start, stop
        The iterations that all of the loops have.
    backward
        Whether they run backwards.
    rows
        The loops.
    delays
        Which of their sums are made one iteration late.
    before, behind
        What is done before the one loop, and behind it.
    last
        The last of its iterations, if there is one.
    """

    def __init__(self, rows: Sequence[Row], *, backward: bool) -> None:
        self.start = max(row.start for row in rows)
        self.stop = rows[0].stop
        self.backward = backward
        self.rows: list[Row] = []
        self.delays: dict[ir.Store, Delay] = {}
        self.before: list[Piece] = []
        self.behind: list[Piece] = []
        self._few = ir.Var("few", ir.INT)
        self.end = rows[0].over.stop
        self._edge, self.last = last_of(ir.Const(self.start), self.end, backward=backward)

    @property
    def step(self) -> int:
        return -1 if self.backward else 1

    def bounds(self) -> list[ir.Statement]:
        """What computes the ends of what is done before and behind the loop."""
        return [ir.Call((self._few,), min, (ir.Const(self.start), self.end)), *self._edge]

    def at_last(self, touch: Touch) -> Touch:
        """What a touch comes to in the last iteration."""
        if self.backward:
            return along(touch, self.start, number(self.start + 1))
        assert touch.offset is not None
        return touch._replace(low=self.stop.moved(touch.offset - 1), high=self.stop.moved(touch.offset))

    def first_iterations(self, row: Row) -> Piece:
        """The iterations of a loop that come before those of all."""
        index = ir.Var(row.index.hint, ir.INT)
        body = clone(row.loop.body, {row.index: index})
        over = ir.Range(ir.Const(row.start), self._few, ONE)
        touches = [touch for _, touch in row.within(row.start, number(self.start))]
        return Piece(ir.Loop(over, index, (), (), body, (), None, row.loop.span), touches)

    def late_sum(self, store: ir.Store, touch: Touch) -> Piece:
        """What is left of a sum that is made one iteration late."""
        return Piece(self.stored_at_last(touch, self.delays[store].total, store), [self.at_last(touch)])

    def stored_at_last(self, touch: Touch, value: ir.Atom, like: ir.Store) -> ir.Loop:
        """A loop over the last iteration that stores a value at its place as another statement does."""
        assert touch.line is not None and touch.offset is not None
        index = ir.Var(self.rows[0].index.hint, ir.INT)
        body, place = placed(index, touch.offset)
        store = ir.Store(touch.root, key_of(touch.line, place), value, like.mode, like.span)
        return ir.Loop(self.last, index, (), (), ir.Block((*body, store), ir.Continue(())), ())


def aligned(entries: Sequence[Entry], distinct: Distinct) -> Plan | None:
    """How loops, and what stands between them, may become one loop and what stands around it."""
    for backward in (False, True):
        planning = _Planning(entries, distinct, backward=backward)
        if planning.succeeds():
            return planning.plan
    return None


class _Planning:
    def __init__(self, entries: Sequence[Entry], distinct: Distinct, *, backward: bool) -> None:
        self.entries = entries
        self.distinct = distinct
        self.plan = Plan([entry for entry in entries if isinstance(entry, Row)], backward=backward)
        self.touched: list[Touch] = []
        self.made_behind: set[ir.Atom] = set()

    def succeeds(self) -> bool:
        return all(self.row(entry) if isinstance(entry, Row) else self.piece(entry) for entry in self.entries)

    def row(self, row: Row) -> bool:
        """Plans a loop: its own first iterations, and what it does along with the others."""
        ordered = order_counts(row, self.distinct)
        if ordered is None or (ordered and self.plan.backward):
            return False
        extra = row.start < self.plan.start
        if extra and not self.plan.backward and not self.piece(self.plan.first_iterations(row), stays_ahead=ordered):
            return False
        late = self.along_with_others(row)
        if late is None:
            return False
        if extra and self.plan.backward and not self.piece(self.plan.first_iterations(row)):
            return False
        return all(map(self.piece, late))

    def piece(self, piece: Piece, *, stays_ahead: bool = False) -> bool:
        """Plans what is moved: before the loop if it may be, else behind it."""
        waits = (
            self.concerns(piece.touches, self.touched)
            or self.concerns_what_is_behind(piece.touches)
            or not self.made_behind.isdisjoint(piece.reads())
        )
        if waits:
            self.plan.behind.append(piece)
            self.made_behind.update(targets_of(piece.statement))
        else:
            self.plan.before.append(piece)
        return not (waits and stays_ahead)

    def concerns(self, some: Iterable[Touch], others: Sequence[Touch]) -> bool:
        return any(self.distinct.conflict(one, other) for one in some for other in others)

    def concerns_what_is_behind(self, touches: Sequence[Touch]) -> bool:
        return any(self.concerns(touches, piece.touches) for piece in self.plan.behind)

    def along_with_others(self, row: Row) -> list[Piece] | None:
        """Plans the iterations that all loops have; gives what is left of sums, or None if they may not be one."""
        plan, touched, late = self.plan, list[Touch](), list[Piece]()
        handed_on = not plan.rows
        for access, touch in row.within(plan.start, plan.stop):
            before = [other for other in self.touched if self.distinct.conflict(other, touch)]
            now = touch
            if not self.are_in_step(before, touch):
                moved = along(touch._replace(offset=(touch.offset or 0) - plan.step), plan.start, plan.stop)
                if (
                    not isinstance(access, ir.Store)
                    or not _is_only_sum(row, touch)
                    or not self.are_in_step(before, moved)
                ):
                    return None
                hint = touch.root.hint
                plan.delays[access] = Delay(ir.Var(hint, ir.FLOAT), ir.Var(hint, ir.FLOAT))
                self.made_behind.add(plan.delays[access].total)
                late.append(plan.late_sum(access, touch))
                now = moved
            handed_on |= any(other.writes and (now.adds or not now.writes) for other in before)
            touched.append(now)
        if not handed_on or self.concerns_what_is_behind(touched):
            return None
        if not self.made_behind.isdisjoint(free_vars(row.loop.body)):
            return None
        self.touched += touched
        plan.rows.append(row)
        return late

    def are_in_step(self, before: Sequence[Touch], touch: Touch) -> bool:
        """Whether one loop may touch an array in this way, which other loops had touched in some ways before."""
        return all(self.is_in_step(other, touch) for other in before)

    def is_in_step(self, first: Touch, second: Touch) -> bool:
        if first.root is not second.root or first.line is None or first.line != second.line:
            return False
        if first.offset is None or second.offset is None:
            return False
        lead = (first.offset - second.offset) * self.plan.step
        return lead in (0, 1) or (lead > 0 and not first.writes)


def order_counts(row: Row, distinct: Distinct) -> bool | None:
    """Whether the order of a loop's iterations counts; None where it is not known what they do to each other."""
    touches = row.touched()
    found = False
    for one in touches:
        if one.writes and one.offset is None:
            return None
        for other in touches:
            if one.writes and distinct.conflict(one, other):
                if one.root is not other.root or one.line is None or one.line != other.line or other.offset is None:
                    return None
                found |= one.offset != other.offset
    return found


def _is_only_sum(row: Row, touch: Touch) -> bool:
    return touch.adds and sum(other.root is touch.root for _, other in row.accesses()) == 1


__all__ = ["Delay", "Entry", "Piece", "Plan", "aligned"]
