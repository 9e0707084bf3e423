"""Indices that a compiler for loops does not take, as indices that it does."""

from __future__ import annotations

from collections.abc import Iterable
from types import EllipsisType

import numpy as np

from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Call, Const, Function, Key, Load, Slice, Statement, Store, Subscript, Var
from adjoint.ir.types import Array, List, Opaque, Scalar
from adjoint.native.compile.numba_types import dtype_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime import display
from adjoint.runtime.array_functions.places import add_at

_WHOLE = Slice(Const(None), Const(None), Const(None))


def with_plain_indices(function: Function) -> Function:
    """The function with ``a[:, :, i]`` for ``a[..., i]``, with arrays for lists of places, and with plain calls of
    what adds at places that may repeat."""
    return _Plain().function(function)


class _Plain(Rewriting):
    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        if isinstance(statement, Call) or not isinstance(statement.key, Subscript):
            return (statement,)
        before: list[Statement] = []
        key = _without_lists(_expanded(statement.base, statement.key), before)
        if isinstance(statement, Load):
            return (*before, Load(statement.target, statement.base, key, statement.span))
        if statement.mode != "add_at":
            return (*before, Store(statement.base, key, statement.value, statement.mode, statement.span))
        places = [place(item, before) for item in key.items]
        return (*before, Call((), add_at, (statement.base, statement.value, *places), (), statement.span))


def place(item: Atom | Slice, before: list[Statement]) -> Atom:
    """An item of an index as a value."""
    if not isinstance(item, Slice):
        return item
    found = Var("part", Opaque(slice))
    before.append(Call((found,), display.make_slice, (item.lower, item.upper, item.step)))
    return found


def _without_lists(key: Subscript, before: list[Statement]) -> Subscript:
    """An index with arrays for lists of numbers."""
    items: list[Atom | Slice] = []
    for item in key.items:
        type_ = item.type if isinstance(item, Var) else None
        if isinstance(item, Var) and isinstance(type_, List) and isinstance(type_.element, Scalar):
            array = Var(item.hint, Array(dtype_of(type_.element), ("any",)))
            before.append(Call((array,), np.array, (item,)))
            item = array
        items.append(item)
    return Subscript(tuple(items), key.tupled)


def rank_of(atom: Atom) -> int | None:
    """The rank of an array; None where it is not known."""
    type_ = type_of_atom(atom)
    return len(type_.dims) if isinstance(type_, Array) and type_.dims is not None else None


def _expanded(base: Atom, key: Subscript) -> Subscript:
    rank = rank_of(base)
    places = [place for place, item in enumerate(key.items) if _is_ellipsis(item)]
    if len(places) != 1 or not rank:
        return key
    taken = sum(map(axes_of, (item for item in key.items if not _is_ellipsis(item))))
    if taken > rank:
        return key
    (place,) = places
    items = (*key.items[:place], *[_WHOLE] * (rank - taken), *key.items[place + 1 :])
    return Subscript(items, tupled=len(items) > 1)


def _is_ellipsis(item: Atom | Slice) -> bool:
    return isinstance(item, Const) and isinstance(item.value, EllipsisType)


def axes_of(item: Atom | Slice) -> int:
    """How many axes of the array an item of an index stands for."""
    if isinstance(item, Const) and item.value is None:
        return 0
    type_ = None if isinstance(item, Slice) else type_of_atom(item)
    if isinstance(type_, Array) and type_.dtype is not None and type_.dtype.kind == "b" and type_.dims is not None:
        return len(type_.dims)
    return 1


def is_mask(base: Atom, key: Key | None) -> bool:
    """Whether an index has an array of truth values of more than one axis."""
    if not isinstance(key, Subscript) or not isinstance(type_of_atom(base), Array):
        return False
    return any(not isinstance(item, Slice) and axes_of(item) > 1 for item in key.items)
