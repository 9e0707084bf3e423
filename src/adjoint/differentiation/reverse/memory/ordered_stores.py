"""Parts of memory that are never written again once they are read: the reverse sweep finds them where they are.

In ``x[i] = b[i] - l[i, :i] @ x[:i]`` the part that is read has its last values. A read and a store are compared axis by
axis, as ranges whose ends are sums of loop indices: for each loop around both, its later iterations are in front of the
read one, and the loops inside are anywhere in their ranges. The ranges are apart if the distance between them, with
one index after the other replaced by the bound that makes it smallest, is never negative.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.linear_indices import Linear
from adjoint.analysis.shapes.nonnegative import naturals_of
from adjoint.differentiation.reverse.bindings import Regions
from adjoint.ir.join import is_whole_number
from adjoint.ir.walk import blocks_of, operands

MAX_STEPS = 8
_WHOLE = ir.Subscript(())

Loops = tuple[ir.Loop, ...]


class _Index(NamedTuple):
    """The index of a loop, in the iteration of the read or of the store."""

    loop: ir.Loop
    stored: bool
    depth: int


Box = list[tuple[Linear | None, Linear | None]]
"""For each axis the first place, and the one behind the last; None where there is no bound."""


class Ordered:
    """Which reads of a function see parts of memory that are never written again.

    Parameters
    ----------
    function
        The function, in normal form.
    regions
        Where its variables are bound.
    lifetime
        The loops, by identity, inside which memory of a storage class is made anew.
    """

    def __init__(self, function: ir.Function, regions: Regions, lifetime: Callable[[ir.Storage], set[int]]) -> None:
        self.function = function
        self.regions = regions
        self.lifetime = lifetime
        self.loops: dict[int, Loops] = {}
        self.order: dict[int, int] = {}
        self.stores: dict[ir.Storage, list[ir.Store]] = {}
        self.unordered: set[ir.Storage] = set()
        self.scan(function.body, ())

    @cached_property
    def naturals(self) -> set[ir.Var]:
        return naturals_of(self.function)

    def scan(self, block: ir.Block, loops: Loops) -> None:
        for statement in block.statements:
            self.loops[id(statement)] = loops
            self.order[id(statement)] = len(self.order)
            if isinstance(statement, ir.Store):
                for storage in _storage_of(statement.base):
                    self.stores.setdefault(storage, []).append(statement)
            elif isinstance(statement, ir.Call):
                self.note_writes(statement)
            inner = (*loops, statement) if isinstance(statement, ir.Loop) else loops
            for nested in blocks_of(statement):
                self.scan(nested, inner)
        for nested in blocks_of(block.terminator):
            self.scan(nested, loops)

    def note_writes(self, call: ir.Call) -> None:
        found = effects_of(call)
        values = operands(call)
        for place, value in enumerate(values):
            if not found.known or place in found.writes:
                self.unordered.update(_storage_of(value))

    def holds(self, statement: ir.Statement, atom: ir.Atom) -> bool:
        """Whether what a statement reads of ``atom``, an element or a part, is never written again."""
        if isinstance(statement, ir.Load) and statement.base is atom:
            return self.is_last(statement, statement)
        maker = self.maker(atom)
        while isinstance(maker, ir.Call) and (place := effects_of(maker).view_of) is not None:
            maker = self.maker(operands(maker)[place])
        return isinstance(maker, ir.Load) and _is_part(maker) and self.is_last(maker, statement)

    def maker(self, atom: ir.Atom | ir.Slice | None) -> ir.Statement | None:
        """The statement that binds a variable."""
        binding = self.regions.bindings.get(atom) if isinstance(atom, ir.Var) else None
        return None if binding is None else binding.statement

    def is_last(self, load: ir.Load, reader: ir.Statement) -> bool:
        (storage,) = _storage_of(load.base) or (None,)
        stores = self.stores.get(storage, []) if storage is not None else []
        around = self.loops.get(id(reader))
        if storage is None or storage in self.unordered or not stores or around is None:
            return False
        fixed = self.lifetime(storage)
        filled = next((loop for loop in around if id(loop) not in fixed), None)
        for base, read in self.parts(load.base, load.key, load, around):
            if filled is None or not self.is_inside(base, filled):  # one array, in whatever iteration
                parts = [self.part_written(store, base) for store in stores]
                found = [(store, key) for store, key in zip(stores, parts, strict=True) if key is not None]
                if len(found) == len(stores):
                    comparison = _Comparison(self, base, read, reader, filled)
                    return all(comparison.is_apart(store, key) for store, key in found)
        return False

    def part_written(self, store: ir.Store, base: ir.Var) -> ir.Key | None:
        """The part of an array that a store writes at most, perhaps through views; None where that is not known."""
        around = self.loops[id(store)]
        return next((key for found, key in self.parts(store.base, store.key, store, around) if found is base), None)

    def parts(
        self, base: ir.Atom, key: ir.Key | None, at: ir.Statement, around: Loops
    ) -> Iterator[tuple[ir.Var, ir.Key]]:
        """What a statement touches, as a part of its array, of that of which the array is a view, and so on."""
        for _ in range(MAX_STEPS):
            made_in = self.loops.get(id(at))
            if not isinstance(base, ir.Var) or made_in is None or around[: len(made_in)] != made_in:
                return
            yield base, _WHOLE if key is None else key
            maker = self.maker(base)
            if not isinstance(maker, ir.Load):
                return
            base, key, at = maker.base, maker.key, maker

    def is_inside(self, var: ir.Var, loop: ir.Loop) -> bool:
        """Whether a loop binds a variable, anew in each iteration."""
        binding = self.regions.bindings.get(var)
        region = None if binding is None else binding.region
        while region is not None and region.owner is not loop:
            region = region.parent
        return binding is None or region is not None


class _Comparison:
    """Compares what is read of an array with stores into it.

    ``filled`` is the outermost loop that may run again for one array: what is bound outside of it has one value.
    """

    def __init__(self, whole: Ordered, base: ir.Var, key: ir.Key, reader: ir.Statement, filled: ir.Loop | None) -> None:
        self.whole = whole
        self.base = base
        self.key = key
        self.around = whole.loops[id(reader)]
        self.order = whole.order[id(reader)]
        self.filled = filled
        self.outer = len(self.around) if filled is None else self.around.index(filled)
        self.same = 0  # so many loops around both are in one iteration, and the next one is later
        self.is_later = False
        self.store_loops: Loops = ()

    def is_apart(self, store: ir.Store, key: ir.Key) -> bool:
        """Whether whatever the store writes after the read lies elsewhere."""
        self.store_loops = self.whole.loops[id(store)]
        pairs = zip(self.around, self.store_loops, strict=False)
        common = next((depth for depth, (one, other) in enumerate(pairs) if one is not other), None)
        if common is None:
            common = min(len(self.around), len(self.store_loops))
        if self.whole.order[id(store)] >= self.order and not self.are_apart(common, common, key):
            return False
        return all(self.are_apart(depth, common, key) for depth in range(self.outer, common))

    def are_apart(self, same: int, common: int, key: ir.Key) -> bool:
        """The same where the first loops are in one iteration, and the next one, if it is common, in a later one."""
        self.same, self.is_later = same, same < common
        mine, theirs = self.box(self.key, False), self.box(key, True)
        return any(
            self.in_order(high, low) or self.in_order(other_high, other_low)
            for (other_low, high), (low, other_high) in zip(mine, theirs, strict=False)
        )

    def in_order(self, high: Linear | None, low: Linear | None) -> bool:
        return high is not None and low is not None and self.never_negative(low.plus(high.times(-1)))

    # Parts as ranges

    def box(self, key: ir.Key, stored: bool) -> Box:
        found: Box = []
        is_list = isinstance(self.base.type, ir.List)
        if not isinstance(key, ir.Subscript) or not isinstance(self.base.type, (ir.Array, ir.List)):
            return found
        for item in key.items:
            if isinstance(item, ir.Slice):
                if is_list:  # its items may move
                    return []
                found.append(self.range_of(item, stored))
            elif is_whole_number(item):
                place = self.natural(item, stored)
                found.append((place, place and place.plus(Linear(1))))
            else:
                break
        return found

    def range_of(self, item: ir.Slice, stored: bool) -> tuple[Linear | None, Linear | None]:
        if not isinstance(item.step, ir.Const) or not (item.step.value is None or _at_least_one(item.step)):
            return None, None
        lower = Linear(0) if item.lower == ir.Const(None) else self.natural(item.lower, stored)
        return lower or Linear(0), self.natural(item.upper, stored)

    def natural(self, atom: ir.Atom, stored: bool) -> Linear | None:
        """A whole number that is surely not counted from the end."""
        found = self.linear(atom, stored)
        return found if found is not None and self.never_negative(found) else None

    def linear(self, atom: ir.Atom, stored: bool, steps: int = MAX_STEPS) -> Linear | None:
        """A whole number as a sum of loop indices, and of what has one value throughout."""
        if isinstance(atom, ir.Const):
            return Linear(atom.value) if type(atom.value) is int else None
        if not isinstance(atom, ir.Var) or not is_whole_number(atom) or steps == 0:
            return None
        loop = self.whole.regions.index_of.get(atom)
        if loop is not None and isinstance(loop.over, ir.Range):
            return self.index(loop, stored)
        made = self.whole.maker(atom)
        if isinstance(made, ir.Call) and not made.kwargs and made.callee in _LINEAR:
            parts = [self.linear(arg, stored, steps - 1) for arg in made.args]
            if None not in parts and (found := _LINEAR[made.callee](*parts)) is not None:
                return found
        if self.filled is None or self.whole.is_inside(atom, self.filled):
            return None
        return Linear(0, {atom: 1})

    def index(self, loop: ir.Loop, stored: bool) -> Linear | None:
        loops = self.store_loops if stored else self.around
        if loop not in loops:
            return None
        depth = loops.index(loop)
        return Linear(0, {_Index(loop, stored and depth >= self.same, depth): 1})

    # Bounds

    def never_negative(self, number: Linear) -> bool:
        least = self.least(number)
        return least is not None and least >= 0

    def least(self, number: Linear) -> int | None:
        """A bound that a number is never below: each index in turn, the innermost first, is where it is smallest."""
        indices = [symbol for symbol in number.terms if isinstance(symbol, _Index)]
        if indices:
            symbol = max(indices, key=lambda index: (index.stored, index.depth))
            bounds = self.bounds(symbol, lower=number.terms[symbol] > 0)
            found = [self.least(number.replaced(symbol, bound)) for bound in bounds if bound is not None]
            return max((least for least in found if least is not None), default=None)
        if all(times > 0 and symbol in self.whole.naturals for symbol, times in number.terms.items()):
            return number.constant
        return None

    def bounds(self, symbol: _Index, *, lower: bool) -> Iterator[Linear | None]:
        over = symbol.loop.over
        if not isinstance(over, ir.Range) or not isinstance(over.step, ir.Const) or type(over.step.value) is not int:
            return
        upwards = over.step.value > 0
        if upwards == lower:
            yield self.linear(over.start, symbol.stored)
        elif (stop := self.linear(over.stop, symbol.stored)) is not None:
            yield stop.plus(Linear(1 if lower else -1))
        if symbol.stored and self.is_later and symbol.depth == self.same and (upwards != over.backward) == lower:
            yield Linear(1 if lower else -1, {_Index(symbol.loop, False, symbol.depth): 1})


def _product(one: Linear, other: Linear) -> Linear | None:
    if other.terms:
        one, other = other, one
    return None if other.terms else one.times(other.constant)


_LINEAR: dict[Any, Callable[..., Linear | None]] = {
    operator.add: lambda one, other: one.plus(other),
    operator.sub: lambda one, other: one.plus(other.times(-1)),
    operator.neg: lambda one: one.times(-1),
    operator.mul: _product,
}


def _at_least_one(atom: ir.Const) -> bool:
    return type(atom.value) is int and atom.value >= 1


def _is_part(load: ir.Load) -> bool:
    """Whether what is loaded lies in the memory that it is loaded from: a number, or a view, but no array of a list."""
    return ir.storage_of(load.target.type) in (None, *_storage_of(load.base))


def _storage_of(atom: ir.Atom) -> tuple[ir.Storage, ...]:
    storage = ir.storage_of(atom.type) if isinstance(atom, ir.Var) else None
    return () if storage is None else (storage,)


__all__ = ["Ordered"]
