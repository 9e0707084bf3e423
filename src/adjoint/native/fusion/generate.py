"""A tree of loops as statements."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.residuals.tapes import dtype_argument
from adjoint.ir.walk import targets_of
from adjoint.native.fusion.elements import Body, Elements, is_wrapped, subscript
from adjoint.native.fusion.nodes.terms import (
    Axis,
    Check,
    Computed,
    Dims,
    Hollow,
    Map,
    Node,
    Other,
    Place,
    Reduce,
    Write,
)
from adjoint.native.fusion.plan import Plan, own_places
from adjoint.native.fusion.scalars import Scalars, element_type
from adjoint.native.fusion.schedule import LoopTree, Schedule
from adjoint.runtime import display
from adjoint.runtime.arithmetic import fused_loops, indices
from adjoint.runtime.array_functions import arrays

_INDEX_NAMES = "ijkl"
_ACCUMULATORS: dict[str, Any] = {"f": np.float64, "i": np.int64, "b": np.bool_, "c": np.complex128}


class Generator(Elements):
    """Writes a segment.

    Attributes
    ----------
    statements
        What has been written.
    """

    def __init__(self, plan: Plan, schedule: Schedule, checks: Sequence[Check]) -> None:
        super().__init__(plan, schedule)
        self._checks = list(checks)
        self._checked: set[tuple[object, ...]] = set()

    @property
    def statements(self) -> list[ir.Statement]:
        return self._top.scalars.statements

    def run(self) -> None:
        for item in self._schedule.items:
            if isinstance(item, Other):
                self.statements.append(item.statement)
                self._later.difference_update(targets_of(item.statement))
                continue
            nodes = item.nodes if isinstance(item, LoopTree) else [item]
            self._check(max(part.order for node in nodes for part in self._plan.parts(node)))
            for node in nodes:
                self._allocate(node)
            self._item(item, self._top)

    def _check(self, order: int) -> None:
        """Compares the extents on which what follows relies."""
        left = []
        for check in self._checks:
            if check.order > order or not all(map(self._is_available, check.extents)):
                left.append(check)
                continue
            extents = tuple([self._extent(extent) for extent in check.extents])
            if (check.test, *extents) not in self._checked:
                self._checked.add((check.test, *extents))
                self.statements.append(ir.Call((), check.test, extents))
        self._checks = left

    # Memory

    def _allocate(self, node: Node) -> None:
        memory = self._memory.get(node)
        if memory is None or not isinstance(node, (Map, Reduce)):
            return
        target = node.target
        if memory.dims is None:
            return
        written = self._plan.aliases.is_written(target)
        array = target
        if not (memory.whole and written):
            dims = tuple("one" if extent is None else "any" for extent in memory.dims)
            array = ir.Var(target.hint, ir.Array(node.dtype, dims, ir.Storage(written=True)), target.named)  # type: ignore[arg-type]
        if memory.whole and array is not target:
            self.renamed[target] = array
        size = self._shape(memory.dims)
        dtype = dtype_argument(node.dtype)
        maker = np.zeros if memory.accumulates and self._is_cleared_at_once(node) else np.empty
        self.statements.append(ir.Call((array,), maker, (size, *dtype)))
        self._arrays[target] = array

    def _shape(self, dims: Dims) -> ir.Atom:
        """Extents as the argument of a function that makes an array."""
        parts = [ir.Const(1) if extent is None else self._extent(extent) for extent in dims]
        if len(parts) == 1:
            return parts[0]
        return self._top.scalars.call(display.make_tuple, *parts, type=ir.Tuple((ir.INT,) * len(parts)), hint="shape")

    # Items

    def _items(self, items: Sequence[LoopTree | Node], body: Body) -> None:
        for item in items:
            self._item(item, body)

    def _item(self, item: LoopTree | Node, body: Body) -> None:
        if isinstance(item, LoopTree):
            self._loop(item, body)
        elif isinstance(item, Map):
            self._finish(item, self._value(item, body), body)
        elif isinstance(item, Hollow):
            shape = self._shape(item.dims)
            self.statements.append(
                ir.Call((item.target,), arrays.without_elements, (shape, *dtype_argument(item.dtype)))
            )
        elif isinstance(item, Write):
            self._write(item, body)
        elif isinstance(item, Reduce):
            self._accumulate(item, body)

    def _finish(self, node: Computed, value: ir.Atom, body: Body) -> None:
        """An element is known: for those who read it here, and in memory for those who read it elsewhere."""
        places = own_places(node)
        if not self._plan.aliases.is_written(node.target):
            body.known[self._key(node.target, places)] = value, body.depth
        if not isinstance(node.target.type, ir.Array):
            self.renamed[node.target] = value
            return
        array = self._arrays.get(node.target)
        if array is not None and not self._memory[node].accumulates:
            index = self._index(self._memory[node].selected(places), body)
            body.scalars.statements.append(ir.Store(array, subscript(index), value))

    def _write(self, node: Write, body: Body) -> None:
        value = body.scalars.cast(self._element(node.operands[0], body)[0], node.dtype)
        index = self._index(node.places, body)
        body.scalars.statements.append(ir.Store(self._resolved(node.base), subscript(index), value, node.store.mode))

    def _accumulate(self, node: Reduce, body: Body) -> None:
        value = self._element(node.operands[0], body)[0]
        memory = self._memory[node]
        if not node.reduced:
            self._finish(node, body.scalars.cast(value, node.dtype), body)
        elif memory.accumulates:
            self._accumulate_in_memory(node, value, body)
        else:
            type_ = _accumulator_type(node)
            assert type_.dtype is not None
            value = body.scalars.cast(value, type_.dtype)
            body.totals[node] = body.scalars.call(node.combine, body.totals[node], value, type=type_, hint="total")

    def _accumulate_in_memory(self, node: Reduce, value: ir.Atom, body: Body) -> None:
        index = subscript(self._index(self._memory[node].selected(own_places(node)), body))
        array = self._arrays[node.target]
        value = body.scalars.cast(value, node.dtype)
        if node.combine is fused_loops.plus:
            body.scalars.statements.append(ir.Store(array, index, value, "add"))
            return
        old = ir.Var("old", element_type(node.dtype))
        body.scalars.statements.append(ir.Load(old, array, index))
        new = body.scalars.of_dtype(node.combine, old, value, dtype=node.dtype)
        body.scalars.statements.append(ir.Store(array, index, new))

    # Loops

    def _loop(self, loop: LoopTree, body: Body) -> None:
        extent = self._extent(loop.extent)
        starting = [node for node in loop.nodes if isinstance(node, Reduce) and self._starts(node) is loop]
        for node in starting:
            if self._memory[node].accumulates and not self._is_cleared_at_once(node):
                self._clear(node, body)
        totals = [node for node in loop.nodes if isinstance(node, Reduce) and self._is_total_in(node, loop)]
        for node in totals:
            if node in starting:
                body.totals[node] = _start(node)
        start, stop = self._middle(loop, extent)
        if self._wraps(loop):
            self._edges(loop, start, stop, totals, body)
        if body is self._top and any(_is_float_sum(node) for node in totals):
            self._blocks(loop, start, stop, totals, body)
        else:
            self._nest(loop, start, stop, totals, body)
        for node in starting:
            if not self._memory[node].accumulates:
                self._finish(node, body.scalars.cast(body.totals.pop(node), node.dtype), body)

    def _starts(self, node: Reduce) -> LoopTree | None:
        """The outermost loop over which a node reduces."""
        return self._schedule.loop_of[node.reduced[0]] if node.reduced else None

    def _is_total_in(self, node: Reduce, loop: LoopTree) -> bool:
        """Whether a loop carries the total of a node."""
        first = self._starts(node)
        if first is None or self._memory[node].accumulates:
            return False
        path = self._schedule.path[node]
        return path.index(loop) >= path.index(first)

    def _wraps(self, loop: LoopTree) -> list[Place]:
        """The places along a loop without inner loops that go round an extent."""
        if any(isinstance(item, LoopTree) for item in loop.items):
            return []
        read = (place for node in loop.nodes for leaf in self._plan.all_leaves(node) for place in leaf.places)
        return [place for place in read if is_wrapped(place) and self._schedule.loop_of[_axis(place)] is loop]

    def _middle(self, loop: LoopTree, extent: ir.Atom) -> tuple[ir.Atom, ir.Atom]:
        """From where to where no place of a loop lies beyond an end."""
        start, stop = 0, extent
        scalars = self._top.scalars
        for place in dict.fromkeys(self._wraps(loop)):
            assert place.wrap is not None
            start = max(start, -place.offset)
            if place.offset > 0:
                end = scalars.call(
                    operator.sub, self._extent(place.wrap), ir.Const(place.offset), type=ir.INT, hint="n"
                )
                stop = scalars.call(min, stop, end, type=ir.INT, hint="stop")
        if not start:
            return ir.Const(0), stop if stop is extent else scalars.call(
                max, stop, ir.Const(0), type=ir.INT, hint="stop"
            )
        first = scalars.call(min, ir.Const(start), extent, type=ir.INT, hint="start")
        return first, scalars.call(max, stop, first, type=ir.INT, hint="stop")

    def _edges(self, loop: LoopTree, start: ir.Atom, stop: ir.Atom, totals: Sequence[Reduce], body: Body) -> None:
        """A loop over what lies before ``start`` and from ``stop`` on."""
        extent = self._extent(loop.extent)
        scalars = self._top.scalars
        middle = scalars.call(operator.sub, stop, start, type=ir.INT, hint="n")
        count = scalars.call(operator.sub, extent, middle, type=ir.INT, hint="n")
        self._nest(loop, ir.Const(0), count, totals, body, (start, middle))

    def _nest(
        self,
        loop: LoopTree,
        lower: ir.Atom,
        upper: ir.Atom,
        totals: Sequence[Reduce],
        body: Body,
        left_out: tuple[ir.Atom, ir.Atom] | None = None,
    ) -> None:
        """A loop; sums begin anew in it and are added to what they were.

        ``left_out`` is from where on how many iterations are done elsewhere; where nothing is said, those that are done
        elsewhere go round an extent.
        """
        inner = Body(body, loop)
        counter = ir.Var(_INDEX_NAMES[body.depth % len(_INDEX_NAMES)], ir.INT)
        index = counter
        if left_out is not None:
            index = inner.scalars.call(fused_loops.around, counter, *left_out, type=ir.INT, hint=counter.hint)
        inner.goes_round = left_out is not None or not self._wraps(loop)
        inner.known["index", loop] = index, inner.depth
        params = tuple(ir.Var("total", _accumulator_type(node)) for node in totals)
        inits = tuple(_start(node) if node.combine is fused_loops.plus else body.totals[node] for node in totals)
        inner.totals.update(zip(totals, params, strict=True))
        self._items(loop.items, inner)
        leaf = ir.Continue(tuple(inner.totals[node] for node in totals))
        self._emit(
            ir.Range(lower, upper, ir.Const(1)),
            counter,
            params,
            inits,
            ir.Block(tuple(inner.scalars.statements), leaf),
            totals,
            body,
        )

    def _blocks(self, loop: LoopTree, first: ir.Atom, extent: ir.Atom, totals: Sequence[Reduce], body: Body) -> None:
        """A loop over blocks of a loop, so that no sum grows long."""
        outer = Body(body)
        index = ir.Var("start", ir.INT)
        params = tuple(ir.Var("total", _accumulator_type(node)) for node in totals)
        outer.totals.update(zip(totals, params, strict=True))
        inits = tuple(body.totals[node] for node in totals)
        size = body.scalars.call(fused_loops.block_size, extent, type=ir.INT, hint="size")
        end = outer.scalars.call(fused_loops.block_end, index, size, extent, type=ir.INT, hint="end")
        start = outer.scalars.call(indices.natural, index, type=ir.INT, hint="start")
        self._nest(loop, start, end, totals, outer)
        leaf = ir.Continue(tuple(outer.totals[node] for node in totals))
        over = ir.Range(first, extent, size)
        targets = tuple(ir.Var("total", _accumulator_type(node)) for node in totals)
        inside = ir.Block(tuple(outer.scalars.statements), leaf)
        body.scalars.statements.append(ir.Loop(over, index, params, inits, inside, targets))
        body.totals.update(zip(totals, targets, strict=True))

    def _emit(
        self,
        over: ir.Range,
        index: ir.Var,
        params: tuple[ir.Var, ...],
        inits: tuple[ir.Atom, ...],
        inside: ir.Block,
        totals: Sequence[Reduce],
        body: Body,
    ) -> None:
        targets = tuple(ir.Var("total", _accumulator_type(node)) for node in totals)
        body.scalars.statements.append(ir.Loop(over, index, params, inits, inside, targets))
        for node, target in zip(totals, targets, strict=True):
            before = body.totals[node]
            if node.combine is fused_loops.plus and before != _start(node):
                body.totals[node] = body.scalars.call(
                    fused_loops.plus, before, target, type=_accumulator_type(node), hint="total"
                )
            else:
                body.totals[node] = target

    def _is_cleared_at_once(self, node: Computed) -> bool:
        """Whether a node accumulates from zero, and only once."""
        path = self._schedule.path[node]
        return isinstance(node, Reduce) and not _start(node).value and bool(path) and path[0] is self._starts(node)

    def _clear(self, node: Reduce, body: Body) -> None:
        """Sets what a node accumulates in memory to where it starts."""
        memory = self._memory[node]
        places = memory.selected(own_places(node))
        free = [place for place in places if place.axis is not None and not self._is_open(place, body)]
        counters = {place.axis: ir.Var(_INDEX_NAMES[(body.depth + k) % 4], ir.INT) for k, place in enumerate(free)}
        inside = Scalars()
        target = tuple(counters[place.axis] if place.axis in counters else self._place(place, body) for place in places)
        start = inside.cast(_start(node), node.dtype)
        inside.statements.append(ir.Store(self._arrays[node.target], subscript(target), start))
        statements = inside.statements
        for axis, index in reversed(counters.items()):
            assert axis is not None
            over = ir.Range(ir.Const(0), self._extent(axis.extent), ir.Const(1))
            statements = [ir.Loop(over, index, (), (), ir.Block(tuple(statements), ir.Continue()), ())]
        body.scalars.statements.extend(statements)

    def _is_open(self, place: Place, body: Body) -> bool:
        """Whether the loop along a place's axis is around a body."""
        assert place.axis is not None
        loop = self._schedule.loop_of[place.axis]
        around: Body | None = body
        while around is not None:
            if around.loop is loop:
                return True
            around = around.outer
        return False


def _axis(place: Place) -> Axis:
    assert place.axis is not None
    return place.axis


def _accumulator_type(node: Reduce) -> ir.Scalar:
    return element_type(np.dtype(_ACCUMULATORS[node.dtype.kind]))


def _start(node: Reduce) -> ir.Const:
    kinds: dict[str, Any] = {"f": float, "i": int, "b": bool, "c": complex}
    return ir.Const(kinds[node.dtype.kind](node.start))


def _is_float_sum(node: Reduce) -> bool:
    return node.dtype.kind in "fc" and node.combine is fused_loops.plus
