"""One loop for several along the same arrays: elements pass from one to the next in variables, not through memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.shape_arguments import asks_about_array
from adjoint.ir.rebuild import rebuild, same_block, substitute
from adjoint.ir.walk import blocks_of, mentions, operands, targets_of, terminators_in, with_inner
from adjoint.native.loops.access import Row, Touch, along, key_of, may_meet, placed, touches_of
from adjoint.native.loops.merging.alignment import ONE, Piece, Plan
from adjoint.native.loops.reductions import NEUTRAL, OPERATORS

Cell = tuple[ir.Var, tuple[object, ...], int]
"""An element of an array: the array, the line, and the distance from the loop's index."""


def carried(
    plan: Plan, others: Sequence[ir.Statement], own: Callable[[ir.Var], bool], extents: Extents
) -> list[ir.Statement]:
    """The statements that a plan comes to.

    Parameters
    ----------
    plan
        The plan.
    others
        The other statements of the block.
    own
        Tells the arrays that only statements of the block see.
    extents
        The extents of the function's arrays.
    """
    body = _Body(plan)
    for row in plan.rows:
        body.add(row)
    last = body.left_in_memory(_Readers(others, (*plan.before, *plan.behind), own, extents))
    before = [*plan.bounds(), *(piece.statement for piece in plan.before)]
    return [*before, *body.beginning(), body.loop(), *last, *(piece.statement for piece in plan.behind)]


class _Body:
    """The body of the one loop, as it is put together."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.index = ir.Var(plan.rows[0].index.hint, ir.INT)
        self.statements: list[ir.Statement] = []
        self.places: dict[int, ir.Atom] = {0: self.index}
        self.current: dict[Cell, ir.Atom] = {}
        self.stored: dict[Cell, ir.Store] = {}
        self.params: list[_Param] = []
        self.written = {self.cell(touch) for row in plan.rows for _, touch in self.accesses(row) if touch.writes}

    def accesses(self, row: Row) -> list[tuple[ir.Load | ir.Store, Touch]]:
        """The accesses of a loop, those that come an iteration late where they come."""
        found = []
        for access, touch in row.accesses():
            if isinstance(access, ir.Store) and access in self.plan.delays:
                touch = touch._replace(offset=(touch.offset or 0) - self.plan.step)
            found.append((access, touch))
        return found

    def cell(self, touch: Touch) -> Cell:
        assert touch.line is not None and touch.offset is not None
        return touch.root, touch.line, touch.offset

    def add(self, row: Row) -> None:
        """Adds what an iteration of a loop does."""
        touches = {id(access): touch for access, touch in self.accesses(row)}
        renamed: dict[ir.Var, ir.Atom] = {row.index: self.index}
        for statement in row.loop.body.statements:
            touch = touches.get(id(statement))
            match statement:
                case ir.Call(targets=(target,)) if target in row.offsets:
                    renamed[target] = self.place(row.offsets[target])
                case ir.Load(target=target) if touch is not None and touch.offset is not None:
                    renamed[target] = self.read(self.cell(touch), target)
                case ir.Store(value=value) if touch is not None:
                    known = renamed.get(value, value) if isinstance(value, ir.Var) else value
                    self.write(self.cell(touch), statement, known)
                case _:
                    self.statements.append(substitute(statement, renamed))

    def place(self, offset: int) -> ir.Atom:
        if offset not in self.places:
            made, self.places[offset] = placed(self.index, offset)
            self.statements += made
        return self.places[offset]

    def read(self, cell: Cell, like: ir.Var) -> ir.Atom:
        """The number that lies in an element, in memory or in a variable."""
        if cell not in self.current:
            root, line, offset = cell
            if (root, line, offset + self.plan.step) in self.written:
                self.params.append(_Param(ir.Var(like.hint, like.type), cell, (root, line, offset + self.plan.step)))
                self.current[cell] = self.params[-1].var
            else:
                found = ir.Var(like.hint, like.type, like.named)
                self.statements.append(ir.Load(found, root, key_of(line, self.place(offset))))
                self.current[cell] = found
        return self.current[cell]

    def write(self, cell: Cell, store: ir.Store, value: ir.Atom) -> None:
        delay = self.plan.delays.get(store)
        if delay is not None:
            self.params.append(_Param(delay.carried, NEUTRAL[store.mode], value, delay.total))
            value = delay.carried
        if store.mode in OPERATORS:
            assert isinstance(store.base, ir.Var)
            sum_ = ir.Var(store.base.hint, ir.FLOAT)
            old = self.read(cell, sum_)
            self.statements.append(ir.Call((sum_,), OPERATORS[store.mode], (old, value), (), store.span))
            value = sum_
        self.current[cell] = value
        self.stored[cell] = store

    def beginning(self) -> list[ir.Statement]:
        """What reads the elements that the first iteration finds in variables."""
        read = [param for param in self.params if isinstance(param.init, tuple)]
        if not read:
            return []
        runs, then, values = ir.Var("runs", ir.BOOL), list[ir.Statement](), list[ir.Atom]()
        for param in read:
            root, line, offset = param.init  # type: ignore[misc]
            first = (self.plan.end, offset - 1) if self.plan.backward else (ir.Const(self.plan.start), offset)
            made, place = placed(*first)
            then += made
            value = ir.Var(param.var.hint, param.var.type)
            then.append(ir.Load(value, root, key_of(line, place)))
            values.append(value)
        for param in read:
            param.init = ir.Var(param.var.hint, param.var.type)
        zeros = tuple(ir.Const(0.0) for _ in read)
        return [
            ir.Call((runs,), operator.lt, (ir.Const(self.plan.start), self.plan.end)),
            ir.If(
                runs,
                ir.Block(tuple(then), ir.Yield(tuple(values))),
                ir.Block((), ir.Yield(zeros)),
                tuple(p.init for p in read),  # type: ignore[misc]
            ),
        ]

    def left_in_memory(self, readers: _Readers) -> list[ir.Statement]:
        """What stores elements that are read later, of those that the loop need not store itself."""
        found: list[ir.Statement] = []
        for cell in list(self.stored):
            root, line, offset = cell
            loaded = any(isinstance(s, ir.Load) and s.base is root for s in self.statements)
            if loaded or any(other[0] is root and other != cell for other in self.stored):
                continue
            touch = Touch(root, writes=True, line=line, offset=offset)
            all_ = along(touch, self.plan.start, self.plan.stop)
            kept = readers.kept(all_, self.plan.at_last(touch))
            if kept is None:
                continue
            del self.stored[cell]
            if kept:
                found.append(self.plan.stored_at_last(touch, self.total(cell), ir.Store(root, None, ir.Const(0.0))))
        return found

    def total(self, cell: Cell) -> ir.Var:
        """What is in an element after the last iteration that stores there."""
        for param in self.params:
            if param.value == cell:
                return param.total
        self.params.append(_Param(ir.Var(cell[0].hint, ir.FLOAT), ir.Const(0.0), cell))
        return self.params[-1].total

    def loop(self) -> ir.Loop:
        plan, stores = self.plan, list[ir.Statement]()
        for cell, store in self.stored.items():
            root, line, offset = cell
            stores.append(ir.Store(root, key_of(line, self.place(offset)), self.current[cell], "set", store.span))
        values = tuple(self.current[p.value] if isinstance(p.value, tuple) else p.value for p in self.params)
        return ir.Loop(
            ir.Range(ir.Const(plan.start), plan.end, ONE, plan.backward, all(row.over.free for row in plan.rows)),
            self.index,
            tuple(param.var for param in self.params),
            tuple(param.init for param in self.params),  # type: ignore[misc]
            computed_first((*self.statements, *stores), values),
            tuple(param.total for param in self.params),
            None,
            plan.rows[0].loop.span,
        )


def computed_first(statements: Sequence[ir.Statement], values: Sequence[ir.Atom]) -> ir.Block:
    """A block that hands on values, which are computed where they stand: before anything is stored.

    Vector code needs that: nothing may be stored of a number of the last iteration before its successor is known.
    """
    made = {target for statement in statements for target in targets_of(statement)}
    named: dict[ir.Atom, ir.Var] = {
        var: ir.Var(var.hint, var.type, named=True) for var in values if isinstance(var, ir.Var) and var in made
    }

    def atom(old: ir.Atom) -> ir.Atom:
        return named.get(old, old)

    def binder(old: ir.Var) -> ir.Var:
        return named.get(old, old)

    renamed = tuple(rebuild(statement, atom, same_block, binder) for statement in statements)
    return ir.Block(renamed, ir.Continue(tuple(map(atom, values))))


class _Param:
    """A number that the loop carries: the first one is of a place in memory, or known; so is the one that follows."""

    def __init__(self, var: ir.Var, init: Cell | ir.Atom, value: Cell | ir.Atom, total: ir.Var | None = None) -> None:
        self.var = var
        self.init = init
        self.value = value
        self.total = total or ir.Var(var.hint, var.type)


class _Readers:
    """What the statements around a loop read of the arrays that only they and the loop see."""

    def __init__(
        self, others: Sequence[ir.Statement], pieces: Sequence[Piece], own: Callable[[ir.Var], bool], extents: Extents
    ) -> None:
        self.others = others
        self.pieces = pieces
        self.own = own
        self.extents = extents

    def kept(self, all_: Touch, last: Touch) -> bool | None:
        """Whether the last element that a loop stores is read; None where others may be."""
        array = all_.root
        if not self.own(array):
            return None
        read = [touch for piece in self.pieces for touch in piece.touches]
        for statement in self.others:
            if mentions(statement, array) and not _only_sets(statement, array):
                touches = touches_of(statement, self.extents)
                if touches is None:
                    return None
                read += touches
        met = [touch for touch in read if touch.root is array and not _sets(touch) and may_meet(touch, all_)]
        return bool(met) if all(_lies_in(touch, last) for touch in met) else None


def _sets(touch: Touch) -> bool:
    return touch.writes and not touch.adds


def _only_sets(statement: ir.Statement, array: ir.Var) -> bool:
    """Whether a statement, and those in it, do nothing with an array but store elements."""
    for inner in with_inner(statement):
        sets = isinstance(inner, ir.Store) and inner.base is array and inner.mode == "set" and inner.value is not array
        if array in operands(inner) and not sets and not asks_about_array(inner):
            return False
    return all(array not in operands(end) for block in blocks_of(statement) for end in terminators_in(block))


def _lies_in(inner: Touch, outer: Touch) -> bool:
    if inner.line != outer.line or inner.low is None or inner.high is None:
        return False
    assert outer.low is not None and outer.high is not None
    return outer.low.at_most(inner.low) and inner.high.at_most(outer.high)


__all__ = ["carried", "computed_first"]
