"""Indices as loops take them: a part for each axis, arrays for lists of places."""

from __future__ import annotations

from collections.abc import Iterable
from types import EllipsisType

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.residuals.tapes import dtype_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import is_basic
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime import display
from adjoint.runtime.array_functions.places import add_at


def with_plain_indices(function: ir.Function) -> ir.Function:
    """The function with ``a[:, :, i]`` for ``a[..., i]``, with arrays for lists of places, and with plain calls of
    what adds at places that may repeat."""
    return _Plain().function(function)


class _Plain(Rewriting):
    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if isinstance(statement, ir.Call) or not isinstance(statement.key, ir.Subscript):
            return (statement,)
        before: list[ir.Statement] = []
        key = _without_lists(_expanded(statement.base, statement.key), before)
        if isinstance(statement, ir.Load):
            return (*before, ir.Load(statement.target, statement.base, key, statement.span))
        if statement.mode != "add_at":
            return (*before, ir.Store(statement.base, key, statement.value, statement.mode, statement.span))
        places = [place(item, before) for item in key.items]
        return (*before, ir.Call((), add_at, (statement.base, statement.value, *places), (), statement.span))


def place(item: ir.Atom | ir.Slice, before: list[ir.Statement]) -> ir.Atom:
    """An item of an index as a value."""
    if not isinstance(item, ir.Slice):
        return item
    found = ir.Var("part", ir.Opaque(slice))
    before.append(ir.Call((found,), display.make_slice, (item.lower, item.upper, item.step)))
    return found


def _without_lists(key: ir.Subscript, before: list[ir.Statement]) -> ir.Subscript:
    """An index with arrays for lists of numbers."""
    items: list[ir.Atom | ir.Slice] = []
    for item in key.items:
        type_ = item.type if isinstance(item, ir.Var) else None
        if isinstance(item, ir.Var) and isinstance(type_, ir.List) and isinstance(type_.element, ir.Scalar):
            array = ir.Var(item.hint, ir.Array(dtype_of(type_.element), ("any",)))
            before.append(ir.Call((array,), np.array, (item,)))
            item = array
        elif isinstance(item, ir.Const) and (key.tupled or len(key.items) > 1) and _is_of_places(item.value):
            array = ir.Var("places", ir.Array(np.dtype(int), ("any",)))
            before.append(ir.Call((array,), np.array, (item,)))
            item = array
        items.append(item)
    return ir.Subscript(tuple(items), key.tupled)


def _is_of_places(value: object) -> bool:
    """Whether a constant is a tuple or list of whole numbers."""
    return isinstance(value, (tuple, list)) and bool(value) and all(type(place) is int for place in value)


def rank_of(atom: ir.Atom) -> int | None:
    """The rank of an array; None where it is not known."""
    type_ = type_of_atom(atom)
    return len(type_.dims) if isinstance(type_, ir.Array) and type_.dims is not None else None


def _expanded(base: ir.Atom, key: ir.Subscript) -> ir.Subscript:
    rank = rank_of(base)
    places = [place for place, item in enumerate(key.items) if _is_ellipsis(item)]
    if len(places) != 1 or not rank:
        return key
    taken = sum(map(axes_of, (item for item in key.items if not _is_ellipsis(item))))
    if taken > rank:
        return key
    (place,) = places
    items = (*key.items[:place], *[ir.WHOLE_AXIS] * (rank - taken), *key.items[place + 1 :])
    return ir.Subscript(items, tupled=len(items) > 1 or not all(map(is_basic, items)))


def _is_ellipsis(item: ir.Atom | ir.Slice) -> bool:
    return isinstance(item, ir.Const) and isinstance(item.value, EllipsisType)


def axes_of(item: ir.Atom | ir.Slice) -> int:
    """How many axes of the array an item of an index stands for."""
    if isinstance(item, ir.Const) and item.value is None:
        return 0
    type_ = None if isinstance(item, ir.Slice) else type_of_atom(item)
    if isinstance(type_, ir.Array) and type_.dtype is not None and type_.dtype.kind == "b" and type_.dims is not None:
        return len(type_.dims)
    return 1
