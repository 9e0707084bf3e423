"""Extents as terms: an extent of an array, a number of the program, and what slices and sums make of these.

Terms that are equal are equal numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from adjoint import ir
from adjoint.analysis.shapes.linear_indices import Linear

Extent = Hashable
ONE: Extent = 1


def is_number(symbol: Hashable) -> bool:
    """Whether a symbol is a number of the program, which may be negative; extents are not."""
    return isinstance(symbol, tuple) and symbol[0] == "number"


def less(extent: Extent, count: int) -> Extent:
    """The term of ``max(extent - count, 0)``."""
    if count == 0:
        return extent[1] if isinstance(extent, tuple) and extent[0] == "less" and extent[2] == 0 else extent
    if isinstance(extent, int):
        return max(extent - count, 0)
    if isinstance(extent, tuple) and extent[0] == "sum":
        known = as_number(extent)
        is_natural = all(times > 0 and not is_number(symbol) for symbol, times in known.terms.items())
        if is_natural and (known.constant >= count or list(known.terms.values()) == [1]):
            return as_extent(known.plus(Linear(-count)))
    if isinstance(extent, tuple) and extent[0] == "less":
        return ("less", extent[1], extent[2] + count)
    return ("less", extent, count)


def total(extents: Iterable[Extent]) -> Extent:
    """The term of a sum of extents."""
    found = Linear(0)
    for extent in extents:
        found = found.plus(as_number(extent))
    return as_extent(found)


def as_number(extent: Extent) -> Linear:
    """The extent as a sum."""
    if isinstance(extent, int):
        return Linear(extent)
    if isinstance(extent, tuple) and extent[0] == "sum":
        return Linear(extent[1], dict(extent[2:]))
    return Linear(0, {extent: 1})


def as_extent(number: Linear) -> Extent:
    """The term of ``max(number, 0)``."""
    if not number.terms:
        return max(number.constant, 0)
    if len(number.terms) == 1:
        ((symbol, times),) = number.terms.items()
        if times == 1 and number.constant <= 0:
            return less(symbol, -number.constant)
    return sum_term(number)


def sum_term(number: Linear) -> Extent:
    """The term of a sum; as an extent, of the greater of it and 0."""
    return ("sum", number.constant, *sorted(number.terms.items(), key=repr))


def replaced(term: Extent, known: Mapping[Extent, Extent | None]) -> Extent:
    """A term with others in the place of some."""
    if not isinstance(term, tuple):
        return term
    if (other := known.get(term)) is not None:
        return other
    return tuple([replaced(part, known) for part in term])


def substituted(term: Extent, known: Mapping[Extent, Linear]) -> Extent | None:
    """A term in which other numbers stand for all of its symbols; None where that is no extent that can be told."""
    if (number := known.get(term)) is not None:
        return as_extent(number)
    match term:
        case int():
            return term
        case ("sum", *_):
            return _substituted_sum(as_number(term), known)
        case ("less", extent, int() as count):
            inner = substituted(extent, known)
            return None if inner is None else less(inner, count)
        case ("slice", extent, ir.Const() as lower, ir.Const() as upper, step):
            inner = substituted(extent, known)
            return None if inner is None else ("slice", inner, lower, upper, step)
        case ("broadcast", *extents):
            columns = [substituted(extent, known) for extent in extents]
            return None if None in columns else broadcast(columns)
        case _:
            return None


def _substituted_sum(number: Linear, known: Mapping[Extent, Linear]) -> Extent | None:
    found = Linear(number.constant)
    for symbol, times in number.terms.items():
        inner = substituted(symbol, known)
        if symbol not in known and inner is None:
            return None
        found = found.plus((known[symbol] if symbol in known else as_number(inner)).times(times))
    return as_extent(found)


def broadcast(column: Sequence[Extent]) -> Extent:
    """The extent of a result; of what was broadcast before, with all parts at once: nested, terms would double."""
    wide: dict[Extent, None] = {}
    for extent in column:
        if extent != ONE:
            wide.update(dict.fromkeys(extent[1:] if _is_broadcast(extent) else (extent,)))  # type: ignore[index]
    if len(wide) <= 1:
        return next(iter(wide), ONE)
    numbers = [extent for extent in wide if isinstance(extent, int)]
    return numbers[0] if numbers else ("broadcast", *wide)


def _is_broadcast(extent: Extent) -> bool:
    return isinstance(extent, tuple) and extent[:1] == ("broadcast",)


def names(term: object, variables: set[ir.Var]) -> bool:
    """Whether a term names one of some variables."""
    if isinstance(term, tuple):
        return any(names(part, variables) for part in term)
    return isinstance(term, ir.Var) and term in variables
