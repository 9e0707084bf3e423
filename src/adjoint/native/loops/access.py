"""Which places of arrays statements touch: ranges along one axis, whose ends are known but for one term."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeGuard

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.terms import Extent
from adjoint.ir.join import is_array, is_whole_number
from adjoint.ir.walk import operands, targets_of
from adjoint.records import dataclass

_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, abs)


class Number(NamedTuple):
    """A whole number: a term (None: zero), and what is added to it."""

    term: Extent | None
    plus: int

    def at_most(self, other: Number) -> bool:
        """Whether this is surely not greater than another number."""
        return self.term == other.term and self.plus <= other.plus

    def moved(self, distance: int) -> Number:
        return Number(self.term, self.plus + distance)


def number(extent: Extent) -> Number:
    """The number that a term stands for."""
    return Number(None, extent) if isinstance(extent, int) else Number(extent, 0)


class Touch(NamedTuple):
    """How some places of an array are touched.

    ``line`` tells the axis along which they lie, and where on the other axes: two touches of one array that differ in
    it are not compared. ``low`` and ``high`` bound the places, of which the last is ``high`` less one; None where they
    may be any. In a loop ``offset`` is the distance of the place from the loop's index.
    """

    root: ir.Var
    writes: bool
    adds: bool = False
    line: tuple[object, ...] | None = None
    low: Number | None = None
    high: Number | None = None
    offset: int | None = None


class Distinct:
    """Tells variables of one class of memory whose memory is another one all the same.

    Parameters
    ----------
    block
        The statements of a block, some of which make new arrays.
    """

    def __init__(self, block: Iterable[ir.Statement]) -> None:
        self.made: dict[ir.Var, int] = {}
        self.fresh: dict[ir.Var, int] = {}
        for position, statement in enumerate(block):
            made = dict.fromkeys(targets_of(statement), position)
            self.made |= made
            if isinstance(statement, ir.Call) and effects_of(statement).fresh:
                self.fresh |= made

    def apart(self, one: ir.Var, other: ir.Var) -> bool:
        """Whether two arrays surely lie apart: of other classes, or one made when the other was there already."""
        assert isinstance(one.type, ir.Array) and isinstance(other.type, ir.Array)
        if one.type.storage.find() is not other.type.storage.find():
            return True
        return one is not other and (self._is_newer(one, other) or self._is_newer(other, one))

    def _is_newer(self, one: ir.Var, other: ir.Var) -> bool:
        return one in self.fresh and (other in self.fresh or self.made.get(other, -1) < self.fresh[one])

    def conflict(self, one: Touch, other: Touch) -> bool:
        """Whether two touches may concern one place, which either of them changes."""
        if not (one.writes or other.writes) or self.apart(one.root, other.root):
            return False
        return one.root is not other.root or may_meet(one, other)


def may_meet(one: Touch, other: Touch) -> bool:
    """Whether two touches of one array may concern one place."""
    if one.line is None or one.line != other.line:
        return True
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return True
    return not (one.high.at_most(other.low) or other.high.at_most(one.low))


@dataclass(frozen=True, eq=False, slots=True)
class Walk:
    """A loop that steps along arrays, and does nothing but arithmetic with numbers in them.

    Attributes
    ----------
    loop
        The loop.
    over
        Its range.
    offsets
        The whole numbers at a fixed distance from the loop's index, and that distance.
    """

    loop: ir.Loop
    over: ir.Range
    offsets: Mapping[ir.Var, int]

    @property
    def index(self) -> ir.Var:
        assert self.loop.index is not None
        return self.loop.index

    def accesses(self) -> list[tuple[ir.Load | ir.Store, Touch]]:
        """The accesses of an iteration to elements."""
        accesses = [s for s in self.loop.body.statements if isinstance(s, (ir.Load, ir.Store))]
        return [(access, _access(access, self.offsets)) for access in accesses]


@dataclass(frozen=True, eq=False, slots=True)
class Row(Walk):
    """Such a loop forwards, which carries nothing.

    Attributes
    ----------
    start, stop
        Where it starts, and where it ends.
    """

    start: int
    stop: Number

    def touched(self) -> list[Touch]:
        """What the loop touches in all."""
        return [touch for _, touch in self.within(self.start, self.stop)]

    def within(self, start: int, stop: Number) -> list[tuple[ir.Load | ir.Store, Touch]]:
        """The accesses of an iteration, and what they touch from one iteration on, up to another."""
        return [(access, along(touch, start, stop)) for access, touch in self.accesses()]


def along(touch: Touch, start: int, stop: Number) -> Touch:
    """What a touch at some distance from the index of a loop comes to in iterations from one on, up to another."""
    if touch.offset is None:
        return touch
    return touch._replace(low=Number(None, start + touch.offset), high=stop.moved(touch.offset))


def walk_of(statement: ir.Statement) -> Walk | None:
    """A statement as a loop that steps along arrays, if it is one."""
    if not isinstance(statement, ir.Loop) or statement.exit is not None or statement.index is None:
        return None
    over = statement.over
    if (
        not isinstance(over, ir.Range)
        or over.step != ir.Const(1)
        or not isinstance(statement.body.terminator, ir.Continue)
    ):
        return None
    offsets: dict[ir.Var, int] = {statement.index: 0}
    made: set[ir.Atom | ir.Slice] = set()
    for inner in statement.body.statements:
        if not _is_plain(inner, offsets, made):
            return None
        made.update(targets_of(inner))
    return Walk(statement, over, offsets)


def row_of(statement: ir.Statement, extents: Extents) -> Row | None:
    """A statement as a loop that steps along arrays from a known place on, and carries nothing, if it is one."""
    walk = walk_of(statement)
    if walk is None or walk.loop.params or walk.over.backward:
        return None
    start, stop = walk.over.start, walk.over.stop
    if not isinstance(start, ir.Const) or start.value < 0:
        return None
    return Row(walk.loop, walk.over, walk.offsets, start.value, number(extents.number(stop)))


def _is_plain(statement: ir.Statement, offsets: dict[ir.Var, int], made: Collection[ir.Atom | ir.Slice]) -> bool:
    """Whether a statement of a loop is arithmetic, or an access to one element; notes indices next to the loop's."""
    match statement:
        case ir.Call(targets=(ir.Var(type=ir.Scalar()) as target,), callee=callee, args=args, kwargs=()):
            distance = _distance(statement)
            if distance is not None and isinstance(args[0], ir.Var) and args[0] in offsets:
                offsets[target] = offsets[args[0]] + distance
            is_simple = callee in _ARITHMETIC or (callee is operator.pow and isinstance(args[1], ir.Const))
            return is_simple and not any(map(is_array, args))
        case ir.Load(target=ir.Var(type=ir.Scalar()), key=ir.Subscript(items=items)):
            pass
        case ir.Store(base=ir.Var(type=ir.Array(dtype=dtype)), mode=mode, value=value, key=ir.Subscript(items=items)):
            if dtype != np.float64 or mode not in ("set", "add", "sub") or is_array(value):
                return False
        case _:
            return False
    return _is_element(statement) and all(item in offsets or item not in made for item in items)


def _distance(call: ir.Call) -> int | None:
    """What a call adds to its first argument, if that is a known whole number."""
    match call.callee, call.args:
        case operator.add, (_, ir.Const(value=int() as distance)):
            return distance
        case operator.sub, (_, ir.Const(value=int() as distance)):
            return -distance
        case _:
            return None


def _is_element(access: ir.Statement) -> TypeGuard[ir.Load | ir.Store]:
    """Whether a statement reads or writes one element of an array."""
    if not isinstance(access, (ir.Load, ir.Store)):
        return False
    base, key = access.base, access.key
    if not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array) or not isinstance(key, ir.Subscript):
        return False
    dims = base.type.dims
    return dims is not None and len(dims) == len(key.items) and all(map(_is_place, key.items))


def _is_place(item: ir.Atom | ir.Slice) -> bool:
    return not isinstance(item, ir.Slice) and is_whole_number(item)


def _access(access: ir.Load | ir.Store, offsets: Mapping[ir.Var, int]) -> Touch:
    """What one access to an element touches."""
    base, key = access.base, access.key
    assert isinstance(base, ir.Var) and isinstance(key, ir.Subscript)
    writes = isinstance(access, ir.Store)
    touch = Touch(base, writes, writes and getattr(access, "mode", "") in ("add", "sub"))
    moving = [axis for axis, item in enumerate(key.items) if item in offsets]
    if len(moving) > 1:
        return touch
    if moving:
        (axis,) = moving
        rest = (axis, *key.items[:axis], *key.items[axis + 1 :])
        return touch._replace(line=rest, offset=offsets[key.items[axis]])  # type: ignore[index]
    last = key.items[-1]
    if isinstance(last, ir.Const) and last.value >= 0:
        rest = (len(key.items) - 1, *key.items[:-1])
        return touch._replace(line=rest, low=Number(None, last.value), high=Number(None, last.value + 1))
    return touch


def touches_of(statement: ir.Statement, extents: Extents) -> list[Touch] | None:
    """What a statement touches; None where that is not known, or it does more."""
    match statement:
        case ir.Load(base=base, key=ir.Attribute()) if is_array(base):
            return []
        case ir.Load(target=target, base=base) if is_array(base):
            if isinstance(target.type, ir.Scalar) and _is_element(statement):
                return [_access(statement, {})]
            return [] if isinstance(target.type, ir.Array) else None
        case ir.Load():
            return []
        case ir.Store(value=value) if _is_element(statement) and not is_array(value):
            return [_access(statement, {})]
        case ir.Call():
            return _touches_of_call(statement)
        case ir.Loop():
            row = row_of(statement, extents)
            return None if row is None else row.touched()
        case _:
            return None


def _touches_of_call(call: ir.Call) -> list[Touch] | None:
    found = effects_of(call)
    if not found.known or not found.pure or (found.hands_on and any(map(is_array, operands(call)))):
        return None
    args = operands(call)
    read = args if found.reads is None else [args[place] for place in found.reads if place < len(args)]
    return [Touch(arg, writes=False) for arg in read if isinstance(arg, ir.Var) and isinstance(arg.type, ir.Array)]


def placed(whole: ir.Atom, offset: int) -> tuple[list[ir.Statement], ir.Atom]:
    """The whole number at a distance from another, and what computes it."""
    if isinstance(whole, ir.Const):
        return [], ir.Const(whole.value + offset)
    if not offset:
        return [], whole
    place = ir.Var("place", ir.INT)
    return [ir.Call((place,), operator.add if offset > 0 else operator.sub, (whole, ir.Const(abs(offset))))], place


def key_of(line: tuple[object, ...], place: ir.Atom) -> ir.Subscript:
    """The index of an element at a place of a line."""
    axis, *items = line
    assert isinstance(axis, int)
    items.insert(axis, place)
    return ir.Subscript(tuple(items), len(items) > 1)  # type: ignore[arg-type]


def last_of(start: ir.Atom, stop: ir.Atom, *, backward: bool) -> tuple[list[ir.Statement], ir.Range]:
    """The last iteration of a loop, if it has one, and what computes the bounds."""
    edge = ir.Var("edge", ir.INT)
    made, beside = placed(start, 1) if backward else placed(stop, -1)
    made.append(ir.Call((edge,), min if backward else max, (beside, stop if backward else start)))
    return made, ir.Range(start, edge, ir.Const(1)) if backward else ir.Range(edge, stop, ir.Const(1))


__all__ = [
    "Distinct",
    "Number",
    "Row",
    "Touch",
    "Walk",
    "along",
    "key_of",
    "last_of",
    "may_meet",
    "number",
    "placed",
    "row_of",
    "touches_of",
    "walk_of",
]
