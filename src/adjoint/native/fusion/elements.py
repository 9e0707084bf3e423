"""Elements of arrays in the loops around them: each is computed or loaded once, in the outermost loop that can."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.walk import targets_of
from adjoint.native.fusion.nodes.terms import (
    Extent,
    Map,
    Node,
    Operand,
    Other,
    Place,
    Places,
    Reduce,
    Sliced,
)
from adjoint.native.fusion.plan import Plan, operands_at, source_arrays
from adjoint.native.fusion.scalars import Scalars, element_type
from adjoint.native.fusion.schedule import LoopTree, Schedule
from adjoint.native.fusion.storage import Memory, memory_of
from adjoint.runtime.arithmetic import fused_loops, indices

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


class Elements:
    """What stands for extents, and for elements of arrays at places.

    Attributes
    ----------
    renamed
        What stands for variables of the program that are bound no more.
    """

    def __init__(self, plan: Plan, schedule: Schedule) -> None:
        self._plan = plan
        self._schedule = schedule
        self._memory: dict[Node, Memory] = memory_of(plan, schedule)
        self._made = {node.target: node for node in plan.nodes if isinstance(node, (Map, Reduce))}
        self._later = {
            target for node in plan.nodes if isinstance(node, Other) for target in targets_of(node.statement)
        }
        self._top = Body()
        self._arrays: dict[ir.Var, ir.Atom] = {}
        self._read: dict[Any, ir.Atom] = {}
        self.renamed: dict[ir.Var, ir.Atom] = {}

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
            scalars.statements.append(ir.Call((shape,), np.shape, (array,)))
            target = ir.Var("n", ir.INT)
            scalars.statements.append(ir.Load(target, shape, ir.Subscript((ir.Const(axis),))))
            return target
        parts = [self._extent(part) for part in source]
        return scalars.call(fused_loops.common_extent, *parts, type=ir.INT, hint="n")

    # Elements

    def _value(self, node: Map, body: Body) -> ir.Atom:
        parts = tuple(self._element(operand, body)[0] for operand in node.operands)
        return body.scalars.cast(node.recipe(body.scalars, parts), node.dtype)

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
        home.scalars.statements.append(ir.Load(target, base, subscript(self._index(places, home))))
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
            if place.wrap is not None and (home.goes_round or not is_wrapped(place)):
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


def is_wrapped(place: Place) -> bool:
    """Whether a place follows a loop, but for those iterations in which it goes round an extent."""
    return place.wrap is not None and place.axis is not None and place.step is None


def subscript(index: tuple[ir.Atom, ...]) -> ir.Subscript:
    return ir.Subscript(index, tupled=len(index) != 1)
