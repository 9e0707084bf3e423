"""``zip`` of a generator and what has items by number: a loop over the generator, which counts.

The same for other iterators where their items cannot be computed before the loop.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from adjoint import ir
from adjoint.frontend.control.iteration import run_for
from adjoint.frontend.control.joins_of_exits import behind, settle
from adjoint.frontend.data import containers
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import ENDLESS, Cell, IteratorValue, Ref, TupleValue, Value
from adjoint.frontend.iterators.effect_watches import Footprint
from adjoint.frontend.iterators.items import Indexed, by_index, static_getters
from adjoint.frontend.iterators.iterator_objects import rows
from adjoint.frontend.iterators.iterators import generators_in, has_generator, is_endless, is_lazy, unnoticed
from adjoint.frontend.syntax.conditions import truth_of
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.sources.trees import nodes

LEFT = "left"
"""The action by which the loop is left whose items are put together."""

_LISTS = ("make a list of the others: list(...)",)


def loop_beside(
    lo: Lowerer,
    node: ast.AST,
    iterable: IteratorValue,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    orelse: Sequence[ast.stmt],
    assigned: Sequence[ast.AST],
) -> None:
    """The loop over ``zip(...)`` of which one part goes through a generator."""
    if sum(map(may_have_no_end, iterable.parts)) > 1:
        run_for(lo, node, rows(lo, iterable.parts, node), bind, body, orelse, assigned)
        return
    _Beside(lo, node, iterable.parts, bind, body).run(orelse, assigned)


class _Beside:
    def __init__(
        self,
        lo: Lowerer,
        node: ast.AST,
        parts: Sequence[Value],
        bind: Callable[[Value], None],
        body: Callable[[], None],
    ) -> None:
        self.lo, self.node = lo, node
        self.bind, self.body = bind, body
        going = [place for place, part in enumerate(parts) if has_generator(part)]
        going = going or [place for place, part in enumerate(parts) if is_lazy(part)]
        self.driver = next((place for place in going if may_have_no_end(parts[place])), going[0])
        computed = [place for place, part in enumerate(parts) if is_lazy(part) and place != self.driver]
        self.footprints = {place: Footprint(lo, parts[place]) for place in computed}
        self.asked_before = [Footprint(lo, part) for part in parts[: self.driver] if not is_lazy(part)]
        self.parts = [part if place == self.driver else self._computed(place, part) for place, part in enumerate(parts)]
        self.rows = {place: self._by_number(part) for place, part in enumerate(self.parts) if place != self.driver}
        self.lengths = {place: row.length() for place, row in self.rows.items()}
        self.counter = Cell("place")

    def _computed(self, place: int, part: Value) -> Value:
        """What is gone through beside the generator, its items computed beforehand."""
        if not is_lazy(part):
            return part
        with self.footprints[place].computed():
            return unnoticed(self.lo, part, self.node)

    def _by_number(self, part: Value) -> Indexed:
        lo, node = self.lo, self.node
        row = by_index(lo, part, node)
        if row is not None:
            return row
        getters = static_getters(lo, part, node)
        if getters is None:
            label = "it is not known how many items there are beside those of the generator"
            raise lo.problem("AD0305", node, label, helps=_LISTS)

        def at(index: Value) -> Value:
            if isinstance(index, ir.Const):
                got: Value = getters[index.value]()
                return got
            whole = part if isinstance(part, (Ref, TupleValue)) else TupleValue(tuple([get() for get in getters]))
            return containers.subscript(lo, whole, index, node)

        return Indexed(lambda: ir.Const(len(getters)), at)

    def run(self, orelse: Sequence[ast.stmt], assigned: Sequence[ast.AST]) -> None:
        lo, node = self.lo, self.node
        origin, base = lo.open, lo.store
        lo.store[self.counter] = ir.Const(0)
        with lo.region("function") as whole:
            self._leave_if_used_up(range(self.driver), "exhausted")
            if lo.block is not None:
                with ExitStack() as stack:
                    for footprint in (*self.footprints.values(), *self.asked_before):
                        stack.enter_context(footprint.watched(node))
                    run_for(lo, node, self.parts[self.driver], self._take, self._round, (), assigned)
            lo.leave("exhausted")
        for leaf in whole.exits:
            leaf.store.pop(self.counter, None)
            if leaf.action == LEFT:
                leaf.action = "break"
        settle(lo, behind(lo, whole.exits, orelse), origin, base, "done")

    def _take(self, item: Value) -> None:
        """Asks those that come later for an item, and hands out the row."""
        lo = self.lo
        self._leave_if_used_up(range(self.driver + 1, len(self.parts)), "break")
        if lo.block is None:
            return
        place = lo.store[self.counter]
        row = [item if i == self.driver else self.rows[i].item(place) for i in range(len(self.parts))]
        self.bind(TupleValue(tuple(row)))

    def _round(self) -> None:
        """What the loop does with a row, and a look whether those that come before the generator have another one."""
        lo = self.lo
        origin, base = lo.open, lo.store
        with lo.region("function") as region, self._after_asking():
            self.body()
            lo.leave("continue")
        for leaf in region.exits:
            if leaf.action == "break":
                leaf.action = LEFT
        settle(lo, region.exits, origin, base, "continue")
        if lo.block is not None:
            lo.store[self.counter] = apply_operator(lo, operator.add, [lo.store[self.counter], ir.Const(1)], self.node)
            self._leave_if_used_up(range(self.driver), "break")

    @contextmanager
    def _after_asking(self) -> Iterator[None]:
        """What is written here is seen by what the generator is asked after: each asks for an item before it runs."""
        watches = self.lo.run_data.watches
        outer = watches[:]
        asked = [footprint.statements for footprint in self.asked_before]
        watches[:] = [watch for watch in outer if not any(watch is statements for statements in asked)]
        try:
            yield
        finally:
            watches[:] = outer

    def _leave_if_used_up(self, places: Sequence[int], action: str) -> None:
        lo, node = self.lo, self.node

        def leave() -> Value:
            lo.leave(action)
            return ir.UNDEFINED

        for place in places:
            if lo.block is None or self.lengths[place] == ENDLESS:
                continue
            there: ir.Atom = materialize(lo, self.lengths[place], node)
            is_there = apply_operator(lo, operator.lt, [lo.store[self.counter], there], node)
            lo.branch(truth_of(lo, is_there, node), lambda: ir.UNDEFINED, leave, node)


def may_have_no_end(value: Value) -> bool:
    """Whether a generator goes on until something comes about."""
    if is_lazy(value) and is_endless(value):
        return True
    sources = [generator.frame.source.node for generator in generators_in(value)]
    return any(isinstance(part, ast.While) for source in sources for part in nodes(source))
