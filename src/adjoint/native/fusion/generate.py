"""A tree of loops as statements."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.residuals.tapes import dtype_argument
from adjoint.ir.walk import targets_of
from adjoint.native.fusion.plan import Plan, operands_at, own_places, source_arrays
from adjoint.native.fusion.scalars import Scalars, element_type
from adjoint.native.fusion.schedule import LoopTree, Schedule
from adjoint.native.fusion.storage import Memory, memory_of
from adjoint.native.fusion.terms import (
    Axis,
    Check,
    Computed,
    Extent,
    Map,
    Node,
    Operand,
    Other,
    Place,
    Places,
    Reduce,
    Sliced,
    Write,
)
from adjoint.runtime import display
from adjoint.runtime.arithmetic import fused_loops, indices

_INDEX_NAMES = "ijkl"
_ACCUMULATORS: dict[str, Any] = {"f": np.float64, "i": np.int64, "b": np.bool_}
Key = tuple[Any, ...]


class Body:
    """A block that is being written: the body of a loop, or what stands around all of them."""

    def __init__(self, outer: Body | None = None, loop: LoopTree | None = None) -> None:
        self.outer = outer
        self.loop = loop
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.scalars = Scalars()
        self.known: dict[Key, tuple[ir.Atom, int]] = {}
        self.totals: dict[Reduce, ir.Atom] = {} if outer is None else dict(outer.totals)
        self.goes_round = True  # places of this loop that wrap may lie beyond the ends

    def at(self, depth: int) -> Body:
        body = self
        while body.depth > depth:
            assert body.outer is not None
            body = body.outer
        return body

    def find(self, key: Key) -> tuple[ir.Atom, int] | None:
        body: Body | None = self
        while body is not None:
            if key in body.known:
                return body.known[key]
            body = body.outer
        return None


class Generator:
    """Writes a segment.

    Attributes
    ----------
    statements
        What has been written.
    renamed
        What stands for variables of the program that are bound no more.
    """

    def __init__(self, plan: Plan, schedule: Schedule, checks: Sequence[Check]) -> None:
        self._plan = plan
        self._schedule = schedule
        self._checks = list(checks)
        self._memory: dict[Node, Memory] = memory_of(plan, schedule)
        self._made = {node.target: node for node in plan.nodes if isinstance(node, (Map, Reduce))}
        self._later = {
            target for node in plan.nodes if isinstance(node, Other) for target in targets_of(node.statement)
        }
        self._top = Body()
        self._arrays: dict[ir.Var, ir.Atom] = {}
        self._read: dict[Any, ir.Atom] = {}
        self.renamed: dict[ir.Var, ir.Atom] = {}

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
            extents = [self._extent(extent) for extent in check.extents]
            self.statements.append(ir.Call((), check.test, tuple(extents)))
        self._checks = left

    # Extents

    def _is_available(self, extent: Extent) -> bool:
        return self._later.isdisjoint(source_arrays(extent))

    def _extent(self, extent: Extent) -> ir.Atom:
        known = self._read.get(extent.source)
        if known is None:
            known = self._read[extent.source] = self._reading(extent.source)
        return known

    def _reading(self, source: Any) -> ir.Atom:
        scalars = self._top.scalars
        if isinstance(source, int):
            return ir.Const(source)
        if isinstance(source, Sliced):
            whole = self._extent(source.extent)
            upper = whole if source.upper == ir.Const(None) else self._resolved(source.upper)
            lower = self._resolved(source.lower)
            return scalars.call(fused_loops.sliced, whole, lower, upper, type=ir.INT, hint="n")
        if isinstance(source[0], ir.Var):
            array, axis = source
            rank = len(array.type.dims)
            shape = ir.Var("shape", ir.Tuple((ir.INT,) * rank))
            scalars.statements.append(ir.Load(shape, array, ir.Attribute("shape")))
            target = ir.Var("n", ir.INT)
            scalars.statements.append(ir.Load(target, shape, ir.Subscript((ir.Const(axis),))))
            return target
        parts = [self._extent(part) for part in source]
        return scalars.call(fused_loops.common_extent, *parts, type=ir.INT, hint="n")

    # Memory

    def _allocate(self, node: Node) -> None:
        memory = self._memory.get(node)
        if memory is None or not isinstance(node, (Map, Reduce)):
            return
        target = node.target
        if memory.dims is None:
            return
        shape = [ir.Const(1) if extent is None else self._extent(extent) for extent in memory.dims]
        written = self._plan.aliases.is_written(target)
        array = target
        if not (memory.whole and written):
            dims = tuple("one" if extent is None else "any" for extent in memory.dims)
            array = ir.Var(target.hint, ir.Array(node.dtype, dims, ir.Storage(written=True)), target.named)  # type: ignore[arg-type]
        if memory.whole and array is not target:
            self.renamed[target] = array
        size: ir.Atom = shape[0]
        if len(shape) != 1:
            size = self._top.scalars.call(
                display.make_tuple, *shape, type=ir.Tuple((ir.INT,) * len(shape)), hint="shape"
            )
        dtype = dtype_argument(node.dtype)
        maker = np.zeros if memory.accumulates and self._is_cleared_at_once(node) else np.empty
        self.statements.append(ir.Call((array,), maker, (size, *dtype)))
        self._arrays[target] = array

    # Items

    def _items(self, items: Sequence[LoopTree | Node], body: Body) -> None:
        for item in items:
            self._item(item, body)

    def _item(self, item: LoopTree | Node, body: Body) -> None:
        if isinstance(item, LoopTree):
            self._loop(item, body)
        elif isinstance(item, Map):
            self._finish(item, self._value(item, body), body)
        elif isinstance(item, Write):
            self._write(item, body)
        elif isinstance(item, Reduce):
            self._accumulate(item, body)

    def _value(self, node: Map, body: Body) -> ir.Atom:
        parts = tuple(self._element(operand, body)[0] for operand in node.operands)
        return body.scalars.cast(node.recipe(body.scalars, parts), node.dtype)

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
            body.scalars.statements.append(ir.Store(array, _subscript(index), value))

    def _write(self, node: Write, body: Body) -> None:
        value = body.scalars.cast(self._element(node.operands[0], body)[0], node.dtype)
        index = self._index(node.places, body)
        body.scalars.statements.append(ir.Store(self._resolved(node.base), _subscript(index), value, node.store.mode))

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
        index = _subscript(self._index(self._memory[node].selected(own_places(node)), body))
        array = self._arrays[node.target]
        value = body.scalars.cast(value, node.dtype)
        if node.combine is fused_loops.plus:
            body.scalars.statements.append(ir.Store(array, index, value, "add"))
            return
        old = ir.Var("old", element_type(node.dtype))
        body.scalars.statements.append(ir.Load(old, array, index))
        new = body.scalars.of_dtype(node.combine, old, value, dtype=node.dtype)
        body.scalars.statements.append(ir.Store(array, index, new))

    # Elements

    def _resolved(self, atom: ir.Atom) -> ir.Atom:
        return self.renamed.get(atom, atom) if isinstance(atom, ir.Var) else atom

    def _element(self, operand: Operand, body: Body) -> tuple[ir.Atom, int]:
        """An element, and how deep in the loops it is known."""
        atom = operand.atom
        if isinstance(atom, Extent):
            return self._extent(atom), 0
        if not isinstance(atom, ir.Var) or not isinstance(atom.type, ir.Array):
            return self._resolved(atom), 0
        key = self._key(atom, operand.places)
        found = body.find(key)
        if found is None:
            inlined = self._plan.inlined.get(atom)
            if inlined is None:
                found = self._loaded(atom, operand.places, body)
            else:
                found = self._computed(inlined, operand.places, body)
            if not self._plan.aliases.is_written(atom):
                body.at(found[1]).known[key] = found
        return found

    def _computed(self, node: Map, places: Places, body: Body) -> tuple[ir.Atom, int]:
        parts = [self._element(operand, body) for operand in operands_at(node, places)]
        depth = max((part[1] for part in parts), default=0)
        scalars = body.at(depth).scalars
        value = node.recipe(scalars, tuple(part[0] for part in parts))
        return scalars.cast(value, node.dtype), depth

    def _loaded(self, array: ir.Var, places: Places, body: Body) -> tuple[ir.Atom, int]:
        node = self._made.get(array)
        base: ir.Atom = self._resolved(array)
        depth = 0
        if node is not None:
            memory = self._memory[node]
            places = memory.selected(places)
            base = self._arrays[array]
            depth = self._depth_of(memory.ready, body)
        depth = max((depth, *(self._depth(place, body) for place in places)))
        home = body.at(depth)
        assert isinstance(array.type, ir.Array) and array.type.dtype is not None
        target = ir.Var(array.hint, element_type(array.type.dtype), array.named)
        home.scalars.statements.append(ir.Load(target, base, _subscript(self._index(places, home))))
        return target, depth

    # Places

    def _key(self, array: ir.Var, places: Places) -> Key:
        """By what an element is known. A dimension of extent 1 has one element, however its index is written."""
        node = self._made.get(array)
        if node is not None:
            places = tuple(place for place, axis in zip(places, node.axis_of, strict=True) if axis is not None)
        return array, *self._terms(places)

    def _terms(self, places: Places) -> Key:
        return tuple(
            (
                *(None if place.axis is None else self._schedule.loop_of[place.axis], place.offset, place.step),
                *(place.at, place.wrap, place.start),
            )
            for place in places
        )

    def _depth(self, place: Place, body: Body) -> int:
        return 0 if place.axis is None else self._depth_of(self._schedule.loop_of[place.axis], body)

    @staticmethod
    def _depth_of(loop: LoopTree | None, body: Body) -> int:
        while body.loop is not loop and body.outer is not None:
            body = body.outer
        return body.depth

    def _index(self, places: Places, body: Body) -> tuple[ir.Atom, ...]:
        return tuple(self._place(place, body) for place in places)

    def _place(self, place: Place, body: Body) -> ir.Atom:
        if place.at is not None:
            return self._resolved(place.at)
        if place.axis is None and place.wrap is None and place.start is None:
            return ir.Const(place.offset)
        home = body.at(self._depth(place, body))
        key = ("place", *self._terms((place,)))
        found = home.known.get(key)
        if found is None:
            index: ir.Atom = ir.Const(0)
            if place.axis is not None:
                assert home.loop is not None
                index = home.known["index", home.loop][0]
            if place.step is not None:
                step = self._step(place.step)
                index = home.scalars.call(operator.mul, index, step, type=ir.INT, hint="n")
            if place.start is not None:
                index = home.scalars.add_whole(index, self._resolved(place.start))
            if place.wrap is not None and (home.goes_round or not _is_wrapped(place)):
                around = ir.Const(place.offset), self._extent(place.wrap)
                index = home.scalars.call(fused_loops.wrapped, index, *around, type=ir.INT, hint="n")
            elif place.offset:
                index = home.scalars.add_whole(index, ir.Const(place.offset))
                if place.wrap is not None and place.offset < 0:
                    index = home.scalars.call(indices.natural, index, type=ir.INT, hint="n")
            found = home.known[key] = index, home.depth
        return found[0]

    def _step(self, extent: Extent) -> ir.Atom:
        key = ("step", extent)
        found = self._top.known.get(key)
        if found is None:
            atom = self._top.scalars.call(fused_loops.step_along, self._extent(extent), type=ir.INT, hint="step")
            found = self._top.known[key] = atom, 0
        return found[0]

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
        return [place for place in read if _is_wrapped(place) and self._schedule.loop_of[_axis(place)] is loop]

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
        inside.statements.append(ir.Store(self._arrays[node.target], _subscript(target), start))
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


def _is_wrapped(place: Place) -> bool:
    """Whether a place follows a loop, but for those iterations in which it goes round an extent."""
    return place.wrap is not None and place.axis is not None and place.step is None


def _axis(place: Place) -> Axis:
    assert place.axis is not None
    return place.axis


def _accumulator_type(node: Reduce) -> ir.Scalar:
    return element_type(np.dtype(_ACCUMULATORS[node.dtype.kind]))


def _start(node: Reduce) -> ir.Const:
    kinds: dict[str, Any] = {"f": float, "i": int, "b": bool}
    return ir.Const(kinds[node.dtype.kind](node.start))


def _is_float_sum(node: Reduce) -> bool:
    return node.dtype.kind == "f" and node.combine is fused_loops.plus


def _subscript(index: tuple[ir.Atom, ...]) -> ir.Subscript:
    return ir.Subscript(index, tupled=len(index) != 1)
