"""Which indices surely differ, by the ranges of the loops around them: a dependence test on the order of indices.

The index of ``for j in range(i)`` is less than ``i``, whatever ``i`` is, so that ``x[j]`` is not ``x[i]``. Bounds are
followed from loop to loop, and through ``min``, ``max`` and the addition of constants.
"""

from __future__ import annotations

import operator
from functools import cached_property

from adjoint import ir
from adjoint.analysis.shapes.nonnegative import counts_up, naturals_of
from adjoint.ir.walk import statements_in

MOST_STEPS = 6
"""How many bounds are followed one behind the other: as many as loops lie in each other in the corpus."""


class IndexOrder:
    """What is known of the order of the whole numbers of a function."""

    def __init__(self, function: ir.Function) -> None:
        self._function = function

    @cached_property
    def _naturals(self) -> set[ir.Var]:
        return naturals_of(self._function)

    @cached_property
    def _ranges(self) -> dict[ir.Atom, ir.Range]:
        return {
            loop.index: loop.over
            for loop in statements_in(self._function.body)
            if isinstance(loop, ir.Loop)
            and loop.index is not None
            and isinstance(loop.over, ir.Range)
            and counts_up(loop.over)
        }

    @cached_property
    def _calls(self) -> dict[ir.Atom, ir.Call]:
        return {
            target: call
            for call in statements_in(self._function.body)
            if isinstance(call, ir.Call) and call.callee in _FOLLOWED
            for target in call.targets
        }

    def are_apart(self, one: ir.Key, other: ir.Key) -> bool:
        """Whether two elements of one array are surely not the same: on some axis their indices differ."""
        if not isinstance(one, ir.Subscript) or not isinstance(other, ir.Subscript):
            return False
        return len(one.items) == len(other.items) and any(map(self.differ, one.items, other.items))

    def differ(self, one: ir.Atom | ir.Slice, other: ir.Atom | ir.Slice) -> bool:
        """Whether two indices along one axis are surely different, and count from its beginning."""
        if (
            isinstance(one, ir.Slice)
            or isinstance(other, ir.Slice)
            or not (self._is_index(one) and self._is_index(other))
        ):
            return False
        return self.is_at_most(one, other, 1) or self.is_at_most(other, one, 1)

    def is_at_most(self, one: ir.Atom, other: ir.Atom, distance: int = 0) -> bool:
        """Whether ``one + distance <= other``, surely."""
        return self._is_at_most(one, other, distance, MOST_STEPS)

    def _is_index(self, atom: ir.Atom) -> bool:
        if isinstance(atom, ir.Const):
            return type(atom.value) is int and atom.value >= 0
        return atom in self._naturals

    def _is_at_most(self, one: ir.Atom, other: ir.Atom, distance: int, steps: int) -> bool:
        """Whether ``one + distance <= other``."""
        one, plus = self._sum(one)
        other, minus = self._sum(other)
        distance += plus - minus
        if one is other:
            return distance <= 0
        if one is _ZERO and other in self._naturals and distance <= 0:
            return True
        if not steps:
            return False
        return any(
            self._is_at_most(above, other, distance + further, steps - 1) for above, further in self._above(one)
        ) or any(self._is_at_most(one, below, distance, steps - 1) for below in self._below(other))

    def _sum(self, atom: ir.Atom) -> tuple[ir.Atom, int]:
        """A number as a sum of another and a constant."""
        total = 0
        while True:
            if isinstance(atom, ir.Const):
                return (_ZERO, total + atom.value) if type(atom.value) is int else (atom, total)
            call = self._calls.get(atom)
            if call is None or call.callee not in _SIGNS or not isinstance(call.args[1], ir.Const):
                return atom, total
            added = call.args[1].value
            if type(added) is not int:
                return atom, total
            atom, total = call.args[0], total + _SIGNS[call.callee] * added

    def _above(self, atom: ir.Atom) -> list[tuple[ir.Atom, int]]:
        """Numbers that this one is no greater than, if something is added to them."""
        call, over = self._calls.get(atom), self._ranges.get(atom)
        if over is not None:
            return [(over.stop, -1)]
        return [(arg, 0) for arg in call.args] if call is not None and call.callee is min else []

    def _below(self, atom: ir.Atom) -> list[ir.Atom]:
        """Numbers that this one is no less than."""
        call, over = self._calls.get(atom), self._ranges.get(atom)
        if over is not None:
            return [over.start]
        return list(call.args) if call is not None and call.callee is max else []


_ZERO = ir.Const(0)
_SIGNS = {operator.add: 1, operator.sub: -1}
_FOLLOWED = (*_SIGNS, min, max)
