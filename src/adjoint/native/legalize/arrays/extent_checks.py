"""What NumPy refuses by extents, refused by machine code too.

Products of matrices take any extents where there is nothing to add up; its masks, and functions that are given
places, read and write beyond arrays that are shorter; a loop over the elements of a row finds nothing wrong with a row
that has none.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_whole_number, type_of_atom
from adjoint.native.legalize.arrays.indices import axes_of, rank_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions import arrays, places


def with_extents_compared(function: ir.Function) -> ir.Function:
    """The function with an exception wherever NumPy's functions would raise one for extents, and for those of masks."""
    return _Comparing().function(function)


def with_rows_checked(function: ir.Function) -> ir.Function:
    """The function with an exception wherever a row is taken that an array does not have."""
    return _CheckingRows().function(function)


class _Comparing(Rewriting):
    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        match statement:
            case ir.Call(callee=callee) if type(callee).__hash__ is None:
                return (statement,)
            case ir.Call(callee=callee, args=(one, other)) if callee in _PRODUCTS and not statement.kwargs:
                ranks = rank_of(one), rank_of(other)
                if ranks in ((1, 2), (2, 1), (2, 2)):
                    found = _extent(one, -1), _extent(other, -2 if ranks[1] == 2 else -1)
                    return (*_check(fused_loops.contracts_extent, *found, statement), statement)
            case ir.Call(callee=callee) if callee in _AT_PLACES:
                return (*_places_checked(statement), statement)
            case ir.Load(base=base, key=ir.Subscript() as key) | ir.Store(base=base, key=ir.Subscript() as key):
                return (*self.masks(statement, base, key), statement)
        return (statement,)

    def masks(self, statement: ir.Load | ir.Store, base: ir.Atom, key: ir.Subscript) -> Iterator[ir.Statement]:
        for axis, item in _placed(base, key):
            if not isinstance(item, ir.Slice) and _is_mask(item):
                yield from _check(fused_loops.selects_extent, _extent(item, 0), _extent(base, axis), statement)


class _CheckingRows(Rewriting):
    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        match statement:
            case ir.Load(base=base, key=ir.Subscript() as key) | ir.Store(base=base, key=ir.Subscript() as key):
                return (*self.rows(statement, base, key), statement)
        return (statement,)

    def rows(self, statement: ir.Load | ir.Store, base: ir.Atom, key: ir.Subscript) -> Iterator[ir.Statement]:
        placed = _placed(base, key)
        if all(is_whole_number(item) for _, item in placed) and len(placed) == rank_of(base):
            return
        for axis, item in placed:
            if is_whole_number(item) and not isinstance(item, ir.Slice):
                yield from _check(fused_loops.inside_extent, _as_it_is(item), _extent(base, axis), statement)


_PRODUCTS = (operator.matmul, np.matmul, np.dot, np.ndarray.dot)
_AT_PLACES: dict[Any, tuple[int, int | None]] = {
    np.take: (0, None),
    np.ndarray.take: (0, None),
    np.take_along_axis: (0, -1),
    arrays.scatter_take: (1, None),
    arrays.scatter_along: (1, None),
}
"""Functions that take elements of an array at places, or add to them: where the array stands, and the default axis."""
_Found = Callable[[list[ir.Statement]], ir.Atom]
"""What puts statements before one that is checked, and gives what they compute."""


def _check(callee: Callable[..., None], one: _Found, other: _Found, at: ir.Statement) -> Iterable[ir.Statement]:
    before: list[ir.Statement] = []
    args = one(before), other(before)
    return *before, ir.Call((), callee, args, (), at.span)


def _places_checked(call: ir.Call) -> Iterable[ir.Statement]:
    """The check of places that a function is given."""
    place, default = _AT_PLACES[call.callee]
    array, given, *rest = call.args[place:]
    axis = dict(call.kwargs).get("axis", rest[0] if rest else ir.Const(default))
    if not isinstance(type_of_atom(array), ir.Array) or not isinstance(axis, ir.Const):
        return ()
    extent = _size(array) if axis.value is None else _extent(array, axis.value)
    if is_whole_number(given):
        return _check(fused_loops.inside_extent, _as_it_is(given), extent, call)
    type_ = type_of_atom(given)
    if not isinstance(type_, ir.Array) or type_.dtype is None or type_.dtype.kind not in "iu":
        return ()
    return _check(places.check_inside, _as_it_is(given), extent, call)


def _size(array: ir.Atom) -> _Found:
    def found(before: list[ir.Statement]) -> ir.Atom:
        size = ir.Var("size", ir.INT)
        before.append(ir.Call((size,), np.size, (array,)))
        return size

    return found


def _extent(array: ir.Atom, axis: int) -> _Found:
    def found(before: list[ir.Statement]) -> ir.Atom:
        shape, extent = ir.Var("shape", ir.OPAQUE), ir.Var("n", ir.INT)
        before.append(ir.Call((shape,), np.shape, (array,)))
        before.append(ir.Load(extent, shape, ir.Subscript((ir.Const(axis),))))
        return extent

    return found


def _as_it_is(atom: ir.Atom) -> _Found:
    return lambda before: atom


def _placed(base: ir.Atom, key: ir.Subscript) -> list[tuple[int, ir.Atom | ir.Slice]]:
    """The items of an index, with the axes of an array at which they stand; nothing where that is not known."""
    rank = rank_of(base)
    if not isinstance(type_of_atom(base), ir.Array) or rank is None or ir.Const(...) in key.items:
        return []
    found, axis = [], 0
    for item in key.items:
        found.append((axis, item))
        axis += axes_of(item)
    return [(place, item) for place, item in found if place < rank and item != ir.Const(None)]


def _is_mask(item: ir.Atom) -> bool:
    """Whether an item of an index is a row of truth values."""
    type_ = type_of_atom(item)
    return isinstance(type_, ir.Array) and type_.dtype == np.bool_ and rank_of(item) == 1
