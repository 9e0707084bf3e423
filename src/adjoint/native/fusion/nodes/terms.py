"""What array statements do to elements: nodes over axes, and the places at which they read and write."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.records import dataclass

if TYPE_CHECKING:
    from adjoint.native.fusion.scalars import Scalars


class Extent:
    """The extent of an axis. Those that are known to be equal are united, from some place in the program on."""

    __slots__ = ("_parent", "_since", "may_be_one", "source")

    def __init__(self, source: Source, may_be_one: bool = False) -> None:
        self.source = source
        self.may_be_one = may_be_one
        self._parent: Extent | None = None
        self._since = 0

    def find(self, order: float = math.inf) -> Extent:
        """What stands for all that are known to be equal at a place in the program."""
        node = self
        while node._parent is not None and node._since <= order:
            node = node._parent
        return node

    def unite(self, other: Extent, order: int) -> None:
        mine, theirs = self.find(), other.find()
        if mine is not theirs:
            theirs._parent, theirs._since = mine, order
            mine.may_be_one &= theirs.may_be_one


@dataclass(frozen=True, slots=True)
class Sliced:
    """What ``lower:upper`` selects of an extent; ``lower`` is not negative, ``upper`` may be None."""

    extent: Extent
    lower: ir.Atom
    upper: ir.Atom


Source = int | tuple[ir.Var, int] | tuple[Extent, Extent] | Sliced
"""A number, an array and its axis, two extents that are broadcast together, or a part of one."""

Dims = tuple[Extent | None, ...]
"""The extents of an array; None where an extent is 1."""


@dataclass(eq=False, slots=True)
class Axis:
    """A loop that a node wants."""

    extent: Extent


@dataclass(frozen=True, slots=True)
class Place:
    """``axis * step + offset``: where along a dimension an element lies. ``step`` is 0 if that extent is 1.

    ``start`` is where the program begins to count, from 0 on. ``at`` is an index that the program computes, in place of
    all that. Places beyond either end of ``wrap`` are counted from the other one.
    """

    axis: Axis | None = None
    offset: int = 0
    step: Extent | None = None
    at: ir.Atom | None = None
    wrap: Extent | None = None
    start: ir.Var | None = None

    @property
    def computed(self) -> tuple[ir.Var, ...]:
        """What the program computes for it."""
        return tuple(atom for atom in (self.at, self.start) if isinstance(atom, ir.Var))


START = Place()
Places = tuple[Place, ...]


class CannotCompose(Exception):
    """A place that is no place in terms of other axes."""


def composed(inner: Place, outer: Mapping[Axis, Place]) -> Place:
    """A place with other places for its axes."""
    if inner.axis is None or inner.axis not in outer:
        return inner
    via = outer[inner.axis]
    if inner.wrap is not None or via.wrap is not None:
        return _wrapped(inner, via)
    if inner.start is not None or via.start is not None:
        return _started(inner, via)
    if inner.step is None:
        if via.at is not None and inner.offset:
            raise CannotCompose
        return Place(via.axis, via.offset + inner.offset, via.step, via.at)
    if via.at is None and via.axis is None and via.offset == 0:
        return Place(None, inner.offset)
    if via.at is not None or via.offset or via.step is not None:
        raise CannotCompose
    return Place(via.axis, inner.offset, inner.step)


def _wrapped(inner: Place, via: Place) -> Place:
    """A place for whose axis another one stands, where one of the two goes round."""
    if inner == Place(inner.axis):
        return via
    goes_round_once = via.wrap is None or (inner.wrap is not None and via.wrap.find() is inner.wrap.find())
    if via.at is not None or via.start is not None or inner.wrap is None or not goes_round_once:
        raise CannotCompose
    if inner.step is not None and (via.offset or via.step is not None or via.wrap is not None):
        raise CannotCompose
    return Place(via.axis, via.offset + inner.offset, inner.step or via.step, None, inner.wrap)


def _started(inner: Place, via: Place) -> Place:
    """A place for whose axis another one stands, where the program says from where on one of the two counts."""
    if inner == Place(inner.axis):
        return via
    if via.at is not None or inner.step is not None or (inner.start is not None and via.start is not None):
        raise CannotCompose
    return Place(via.axis, via.offset + inner.offset, via.step, start=inner.start or via.start)


@dataclass(frozen=True, slots=True)
class Operand:
    """An element of an array, a number, or an extent."""

    atom: ir.Atom | Extent
    places: Places = ()


Recipe = Callable[["Scalars", tuple[ir.Atom, ...]], ir.Atom]
"""Computes an element from elements."""


@dataclass(eq=False, slots=True, kw_only=True)
class Node:
    """Something to do for every element. ``order`` is its place in the program."""

    order: int
    axes: tuple[Axis, ...]
    operands: tuple[Operand, ...]


@dataclass(eq=False, slots=True, kw_only=True)
class Map(Node):
    """Each element of ``target`` from one of each operand; ``axis_of`` tells the axis of each of its dimensions."""

    target: ir.Var
    dtype: np.dtype
    axis_of: tuple[Axis | None, ...]
    recipe: Recipe
    cost: int


@dataclass(eq=False, slots=True, kw_only=True)
class Reduce(Node):
    """The elements of its operand, combined along the axes that ``axis_of`` does not mention."""

    target: ir.Var
    dtype: np.dtype
    axis_of: tuple[Axis | None, ...]
    combine: Callable[..., object]
    start: float

    @property
    def reduced(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis not in self.axis_of)


@dataclass(eq=False, slots=True, kw_only=True)
class Write(Node):
    """Stores its operand."""

    store: ir.Store
    base: ir.Var
    places: Places
    dtype: np.dtype


@dataclass(eq=False, slots=True, kw_only=True)
class Hollow(Node):
    """An array of these extents whose elements nobody reads."""

    target: ir.Var
    dtype: np.dtype
    dims: Dims


@dataclass(eq=False, slots=True, kw_only=True)
class Other(Node):
    """A statement that stays as it is."""

    statement: ir.Statement


Computed = Map | Reduce


@dataclass(frozen=True, slots=True)
class Check:
    """What must hold of extents when the program runs; ``test`` raises where it does not."""

    test: Callable[..., None]
    extents: tuple[Extent, ...]
    order: int
