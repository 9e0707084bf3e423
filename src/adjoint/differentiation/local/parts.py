"""Parts of an array that lie in one piece, row by row: slices, rows, and what `reshape` makes of them.

An element of a part is an element of the array, at some distance from where the part begins.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_integer, type_of_atom
from adjoint.runtime.sets import entries

_RESHAPING: dict[Any, int] = {np.reshape: 2, np.ravel: 1, np.ndarray.ravel: 1, np.ndarray.reshape: 3}
"""Functions, and up to how many arguments they have if the order is that of rows."""


class Parts:
    """Which variables are parts of an array, row by row in one piece, and where each begins.

    Parameters
    ----------
    whole
        The array, a vector or a matrix.
    is_placed
        Whether places are computed: else they are zero.
    """

    def __init__(self, whole: ir.Var, is_placed: bool) -> None:
        self.whole = whole
        self.is_placed = is_placed
        self.starts: dict[object, ir.Atom] = {whole: ir.Const(0)}

    def __contains__(self, array: object) -> bool:
        return isinstance(array, ir.Var) and array in self.starts

    def load(self, load: ir.Load, builder: Builder) -> bool:
        """Whether a load gives a part; then it is known from now on."""
        if load.base not in self or not isinstance(load.key, ir.Subscript):
            return False
        items = load.key.items
        rank = _rank(load.base)
        if rank == 0 or not 0 < len(items) <= rank or not all(map(is_integer, items[:-1])):
            return False
        last = items[-1]
        if isinstance(last, ir.Slice):
            if not (_is_unit(last.step) and (_is_none(last.lower) or is_integer(last.lower))):
                return False
        elif len(items) == rank or not is_integer(last):
            return False
        self.starts[load.target] = self.place(load.base, items, builder)
        return True

    def call(self, call: ir.Call) -> bool:
        """Whether a call gives a part of other shape; then it is known from now on."""
        is_known = isinstance(call.callee, Hashable) and len(call.args) <= _RESHAPING.get(call.callee, 0)
        if not is_known or call.kwargs or call.args[0] not in self or _rank(call.targets[0]) == 0:
            return False
        self.starts[call.targets[0]] = self.starts[call.args[0]]
        return True

    def place(self, base: ir.Atom, items: Sequence[object], builder: Builder) -> ir.Atom:
        """The place in the array at which an element of a part stands, or a part of it begins."""
        if not self.is_placed:
            return ir.Const(0)
        rank = _rank(base)
        extents = builder.call(np.shape, base, hint="shape")
        sizes = [builder.item(extents, ir.Const(axis), ir.INT, "extent") for axis in range(rank)]
        indices = [_first(item, size, builder) for item, size in zip(items, sizes, strict=False)]
        indices += [ir.Const(0)] * (rank - len(indices))
        callee = entries.place_in if rank == 1 else entries.place_in_rows
        place = _called(callee, (*indices, *sizes), "place", builder)
        start = self.starts[base]
        return place if start == ir.Const(0) else _called(operator.add, (start, place), "place", builder)


def _first(item: object, extent: ir.Atom, builder: Builder) -> ir.Atom:
    if not isinstance(item, ir.Slice):
        return item  # type: ignore[return-value]
    return ir.Const(0) if _is_none(item.lower) else _called(entries.start_of, (item.lower, extent), "start", builder)


def _called(callee: object, args: tuple[ir.Atom, ...], hint: str, builder: Builder) -> ir.Var:
    target = ir.Var(hint, ir.INT)
    builder.emit(ir.Call((target,), callee, args, (), builder.span))
    return target


def _rank(array: ir.Atom) -> int:
    """The number of axes, if that is one or two."""
    type_ = type_of_atom(array)
    rank = len(type_.dims) if isinstance(type_, ir.Array) and type_.dims is not None else 0
    return rank if rank in (1, 2) else 0


def _is_none(atom: object) -> bool:
    return atom is None or (isinstance(atom, ir.Const) and atom.value is None)


def _is_unit(atom: object) -> bool:
    return _is_none(atom) or (isinstance(atom, ir.Const) and atom.value == 1)
