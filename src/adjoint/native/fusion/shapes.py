"""Which extents of arrays agree, and which have to be compared when the program runs."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.linear_indices import Linear
from adjoint.analysis.shapes.nonnegative import naturals_of
from adjoint.native.fusion.nodes.terms import Check, Dims, Extent, Place, Sliced, Source
from adjoint.runtime.arithmetic import fused_loops


class Shapes:
    """The extents of the arrays of a function; ``checks`` collects the comparisons that broadcasting asks for."""

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._terms = Extents(function)
        self._naturals: set[ir.Var] | None = None
        self._extents: dict[object, Extent] = {}
        self._dims: dict[ir.Var, Dims] = {}
        self.checks: list[Check] = []

    def start_segment(self) -> None:
        """Forgets what was found out under conditions that need not hold elsewhere."""
        self._extents.clear()
        self._dims.clear()
        self.checks = []

    def of(self, atom: ir.Atom) -> Dims | None:
        """The extents of an array or number; None where its rank is not known."""
        if isinstance(atom, ir.Const):
            return () if type(atom.value) in (bool, int, float) else None
        if not isinstance(atom, ir.Var):
            return None
        if isinstance(atom.type, ir.Scalar):
            return ()
        if atom not in self._dims:
            found = self.given(atom)
            if found is None:
                return None
            self._dims[atom] = found
        return self._dims[atom]

    def is_natural(self, number: ir.Var) -> bool:
        """Whether a whole number is surely not negative."""
        if self._naturals is None:
            self._naturals = naturals_of(self._function)
        return number in self._naturals

    def are_apart(self, one: Place, other: Place) -> bool:
        """Whether two places along one dimension are surely never the same, in whichever iterations."""
        mine, theirs = self._index(one), self._index(other)
        if mine is not None and theirs is not None:
            return bool(_constant(mine, theirs))
        if mine is None:
            mine, one, other = theirs, other, one
        first = self._first(other)
        return mine is not None and first is not None and (_constant(first, mine) or 0) > 0

    def _index(self, place: Place) -> Linear | None:
        """The one index of a place that no loop moves, counted from the front."""
        at = place.at
        if isinstance(at, ir.Var) and self.is_natural(at):
            return self._terms.whole.of(at)
        return Linear(at.value) if isinstance(at, ir.Const) and type(at.value) is int and at.value >= 0 else None

    def _first(self, place: Place) -> Linear | None:
        """The least index of a place that a loop moves."""
        if place.axis is None or place.at is not None or place.wrap is not None or place.offset < 0:
            return None
        start = Linear(0) if place.start is None else self._terms.whole.of(place.start)
        return start.plus(Linear(place.offset))

    def bind(self, var: ir.Var, dims: Dims) -> None:
        self._dims[var] = dims

    def given(self, var: ir.Var) -> Dims | None:
        """The extents of an array that exists when the program runs."""
        if not isinstance(var.type, ir.Array) or var.type.dims is None:
            return None
        terms = self._terms.of(var)
        if terms is None or len(terms) != len(var.type.dims):
            terms = tuple(("own", var, axis) for axis in range(len(var.type.dims)))
        return tuple(
            None if dim == "one" or term == 1 else self._extent(term, var, axis, dim != "many")
            for axis, (dim, term) in enumerate(zip(var.type.dims, terms, strict=True))
        )

    def _extent(self, term: object, var: ir.Var, axis: int, may_be_one: bool) -> Extent:
        known = self._extents.get(term)
        may_be_one &= not _is_many(term)
        if known is None:
            source: Source = term if isinstance(term, int) else (var, axis)
            known = self._extents[term] = Extent(source, may_be_one=may_be_one and not isinstance(term, int))
        elif not may_be_one:
            known.find().may_be_one = False
        return known

    def selected(self, statement: ir.Load | ir.Store) -> Sequence[object] | None:
        """The terms of the extents of what a statement reads or writes of an array."""
        return self._terms.selection(statement)

    def sliced(self, extent: Extent, part: ir.Slice, term: object) -> Extent | None:
        """The extent of what a slice that starts at a place from 0 on selects of an axis; None where it is 1."""
        if term == 1:
            return None
        known = self._extents.get(term)
        if known is None:
            lower = ir.Const(0) if part.lower == ir.Const(None) else part.lower
            source: Source = term if isinstance(term, int) else Sliced(extent, lower, part.upper)
            known = self._extents[term] = Extent(source, may_be_one=not isinstance(term, int))
        return known

    def broadcast(self, shapes: Sequence[Dims], order: int) -> Dims:
        """The extents of what is made of arrays of these shapes, element by element."""
        rank = max(map(len, shapes))
        columns = zip(*((None,) * (rank - len(shape)) + shape for shape in shapes), strict=True)
        return tuple(self._common([extent for extent in column if extent is not None], order) for column in columns)

    def _common(self, column: list[Extent], order: int) -> Extent | None:
        wide = list(dict.fromkeys(extent.find() for extent in column))
        if len(wide) <= 1:
            return wide[0] if wide else None
        certain = [extent for extent in wide if not extent.may_be_one]
        if not certain:
            result = wide[0]
            for extent in wide[1:]:
                result = Extent((result, extent), may_be_one=True)
            return result
        result = certain[0]
        for extent in certain[1:]:
            self.equate(result, extent, order)
        for extent in wide:
            if extent.may_be_one:
                self.checks.append(Check(fused_loops.fits_extent, (extent, result), order))
        return result

    def equate(self, one: Extent, other: Extent, order: int) -> None:
        """Two extents that have to be equal from here on."""
        mine, theirs = one.find(), other.find()
        if mine is not theirs:
            self.checks.append(Check(fused_loops.same_extent, (mine, theirs), order))
            mine.unite(theirs, order)

    def require_fit(self, narrow: Extent, wide: Extent, order: int) -> None:
        """An extent that must be 1 or that of another."""
        self.checks.append(Check(fused_loops.fits_extent, (narrow, wide), order))

    def require_some(self, extent: Extent, order: int) -> None:
        """An extent that must not be 0."""
        self.checks.append(Check(fused_loops.some, (extent,), order))


def _constant(one: Linear, other: Linear) -> int | None:
    """The difference of two numbers, where that is known."""
    difference = one.plus(other.times(-1))
    return None if difference.terms else difference.constant


def _is_many(term: object) -> bool:
    """Whether a term is the extent of an axis that is known not to be 1."""
    match term:
        case ("extent", ir.Var(type=ir.Array(dims=tuple() as dims)), int() as axis):
            return bool(dims[axis] == "many")
        case _:
            return False
