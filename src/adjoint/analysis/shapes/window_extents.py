"""How much of an axis a slice with computed bounds selects, such as ``x[i : i + n]``, where that follows from loops.

Whole numbers are sums of extents, of numbers of the program, and of the indices of loops, of which ranges are known. A
slice ``a:b`` selects ``b - a`` where ``0 <= a``, ``0 <= b`` and ``b`` is at most the extent of the axis.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable

from adjoint import ir
from adjoint.analysis.shapes.linear_indices import Linear
from adjoint.analysis.shapes.terms import Extent, as_extent, as_number, is_number, less, sum_term

_MOST_RANGES = 8
"""So many indices of loops stand for others at most: ranges of ranges."""


class WholeNumbers:
    """What is known of the whole numbers of a function."""

    def __init__(self) -> None:
        self._sums: dict[ir.Var, Linear] = {}
        self._ranges: dict[Hashable, tuple[Linear, Linear]] = {}
        self._natural: list[Linear] = []

    def of(self, atom: ir.Atom) -> Linear:
        """A number as a sum."""
        if isinstance(atom, ir.Const) and type(atom.value) is int:
            return Linear(atom.value)
        known = self._sums.get(atom) if isinstance(atom, ir.Var) else None
        return Linear(0, {("number", atom): 1}) if known is None else known

    def compute(self, call: ir.Call, target: ir.Var) -> None:
        """Takes note of a sum or a difference."""
        if call.callee in (operator.add, operator.sub) and len(call.args) == 2:
            one, other = map(self.of, call.args)
            self._sums[target] = one.plus(other if call.callee is operator.add else other.times(-1))

    def name(self, target: ir.Var, extent: Extent) -> None:
        """Takes note of a number that is an extent: where its sum may be negative, it is not that sum."""
        number = as_number(extent)
        self._sums[target] = number if self._is_natural(number) else Linear(0, {("less", extent, 0): 1})

    def drop(self, var: ir.Var) -> None:
        """Drops what is known of a number."""
        self._sums.pop(var, None)

    def replace(self, symbol: Hashable, value: Linear) -> None:
        """Takes note that a symbol is this number, from here on and in what was noted."""
        self._sums = {
            var: number.replaced(symbol, value) if symbol in number.terms else number
            for var, number in self._sums.items()
        }
        if is_number(symbol):
            self._sums[symbol[1]] = value  # type: ignore[index]

    def enter(self, loop: ir.Loop) -> None:
        """Takes note of the range of a loop's index, and that it is not empty: both hold inside of the loop."""
        if loop.index is None or not isinstance(loop.over, ir.Range) or not isinstance(loop.over.step, ir.Const):
            return
        start, stop, step = self.of(loop.over.start), self.of(loop.over.stop), loop.over.step.value
        if type(step) is int and step != 0:
            within = (start, stop.plus(Linear(-1))) if step > 0 else (stop.plus(Linear(1)), start)
            self._ranges[("number", loop.index)] = least, most = within
            self._natural.append(most.plus(least.times(-1)))

    def range_of(self, loop: ir.Loop) -> tuple[Hashable, ...] | None:
        """The terms of where a range begins and ends, and its step: equal for equal ranges; None for others."""
        over = loop.over
        return (self.bound(over.start), self.bound(over.stop), over.step) if isinstance(over, ir.Range) else None

    def count(self, atom: ir.Atom) -> None:
        """Takes note of a number that an array has as its extent, and that therefore is not negative."""
        known = self.of(atom)
        if not self._is_surely_natural(known):
            self._natural.append(known)

    @property
    def counted(self) -> int:
        """How many such notes there are."""
        return len(self._natural)

    def forget(self, counted: int) -> None:
        """Drops the notes that were taken since there were so many: what they are of need not have run."""
        del self._natural[counted:]

    def extent(self, atom: ir.Atom) -> Extent:
        """The term of a number as an extent."""
        return as_extent(self.of(atom))

    def bound(self, atom: ir.Atom) -> Hashable:
        """The term of a bound of a slice: equal for equal sums."""
        return atom if isinstance(atom, ir.Const) else sum_term(self.of(atom))

    def window(self, extent: Extent, part: ir.Slice) -> Extent | None:
        """How much a slice selects; None where that does not follow."""
        whole = as_number(extent)
        lower = Linear(0) if part.lower == ir.Const(None) else self.of(part.lower)
        upper = whole if part.upper == ir.Const(None) else self.of(part.upper)
        if isinstance(part.upper, ir.Const) and type(part.upper.value) is int and part.upper.value < 0:
            upper = whole.plus(upper)
        bounds = lower, upper, whole.plus(upper.times(-1))
        return as_extent(upper.plus(lower.times(-1))) if all(map(self._is_natural, bounds)) else None

    def up_to_the_end(self, extent: Extent, start: int, stop: ir.Atom) -> Extent | None:
        """How much a slice selects that ends so many elements before the end; None where that is not known.

        Of three or more it is not: ``x[:n - 3]`` of two elements, where ``n`` is 2, is ``x[:-1]``, and has one.
        """
        left = as_number(extent).plus(self.of(stop).times(-1))
        return less(extent, start + left.constant) if not left.terms and left.constant in (0, 1, 2) else None

    def is_natural(self, atom: ir.Atom) -> bool:
        """Whether a number of the program is surely not negative."""
        return self._is_natural(self.of(atom))

    def _is_natural(self, number: Linear) -> bool:
        """Whether a number is surely not negative."""
        return self._is_surely_natural(number) or any(
            self._is_surely_natural(number.plus(known.times(-1))) for known in self._natural
        )

    def _is_surely_natural(self, number: Linear) -> bool:
        for _ in range(_MOST_RANGES):
            symbol = next((symbol for symbol in number.terms if symbol in self._ranges), None)
            if symbol is None:
                break
            least, most = self._ranges[symbol]
            number = number.replaced(symbol, least if number.terms[symbol] > 0 else most)
        return number.constant >= 0 and all(
            times > 0 and not is_number(symbol) for symbol, times in number.terms.items()
        )
