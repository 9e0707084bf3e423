"""Views of arrays: which element of an array each of their elements is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.ir.nodes import Atom, Call, Const, Load, Slice, Statement, Subscript, Var
from adjoint.ir.types import Array, Scalar
from adjoint.records import dataclass
from adjoint.transform.fusion.shapes import Shapes
from adjoint.transform.fusion.terms import START, Axis, Dims, Extent, Place, Places


@dataclass(frozen=True, slots=True)
class View:
    """``places`` tells where in ``base`` the elements lie, along axes of its own, one for each dimension.

    The extents of a view that is ``partial`` are known only when it is made.
    """

    base: Var
    axes: tuple[Axis | None, ...]
    places: Places
    dims: Dims
    partial: bool = False


def view_of(statement: Statement, shapes: Shapes) -> View | None:
    """What a statement that makes a view makes; None for other statements."""
    match statement:
        case Load(target=Var(type=Array()) as target, base=Var(type=Array()) as base, key=Subscript(items=items)):
            return _indexed(target, base, items, shapes)
        case Call(targets=(Var(type=Array()),), callee=callee, args=(Var(type=Array()) as base, *rest), kwargs=()):
            dims = shapes.of(base)
            if dims is None:
                return None
            if callee is np.expand_dims:
                return _expanded(base, dims, rest)
            order = _order(callee, len(dims), rest)
            return None if order is None else _permuted(base, dims, order)
        case _:
            return None


def selection(
    dims: Dims, items: Sequence[Atom | Slice], part: Any
) -> tuple[list[Extent | None], list[Axis | None], list[Place], bool] | None:
    """The extents and axes of what basic indices select, where that lies, and whether it is a part of an axis.

    ``part`` gives the extent of a dimension of the selection that is a part of an axis.
    """
    found: tuple[list[Extent | None], list[Axis | None], list[Place]] = ([], [], [])
    partial = False
    taken = sum(1 for item in items if not _is_free(item))

    def extend(extent: Extent | None, offset: int = 0) -> None:
        axis = None if extent is None else Axis(extent)
        found[0].append(extent)
        found[1].append(axis)
        found[2].append(Place(axis, offset))

    at = 0
    for item in items:
        match item:
            case Const(value=None):
                found[0].append(None)
                found[1].append(None)
                continue
            case Const(value=value) if value is Ellipsis:
                for _ in range(len(dims) - taken):
                    extend(dims[at])
                    at += 1
                continue
        if at >= len(dims):
            return None
        match item:
            case Slice(Const(value=None), Const(value=None), Const(value=None | 1)):
                extend(dims[at])
            case Slice(Const(value=None | int() as lower), upper, Const(value=None | 1)) if (lower or 0) >= 0:
                if not _is_bound(upper):
                    return None
                extend(part(len(found[0])), lower or 0)
                partial = True
            case Const(value=int()) | Var(type=Scalar(kind="int")):
                found[2].append(Place(at=item))
            case _:
                return None
        at += 1
    for extent in dims[at:]:
        extend(extent)
    return (*found, partial)


def _is_free(item: Atom | Slice) -> bool:
    """Whether an index takes no dimension of its own."""
    return isinstance(item, Const) and (item.value is None or item.value is Ellipsis)


def _is_bound(atom: Atom) -> bool:
    match atom:
        case Const(value=value):
            return value is None or type(value) is int
        case Var(type=Scalar(kind="int")):
            return True
        case _:
            return False


def _indexed(target: Var, base: Var, items: Sequence[Atom | Slice], shapes: Shapes) -> View | None:
    dims, given = shapes.of(base), shapes.given(target)
    if dims is None or given is None:
        return None
    found = selection(dims, items, lambda place: given[place] if place < len(given) else None)
    if found is None or len(found[0]) != len(given):
        return None
    extents, axes, places, partial = found
    return View(base, tuple(axes), tuple(places), tuple(extents), partial)


def _permuted(base: Var, dims: Dims, order: Sequence[int]) -> View:
    axes = [None if extent is None else Axis(extent) for extent in dims]
    places = tuple(START if axis is None else Place(axis) for axis in axes)
    return View(base, tuple(axes[place] for place in order), places, tuple(dims[place] for place in order))


def _order(callee: Any, rank: int, rest: Sequence[Atom]) -> list[int] | None:
    """How a call permutes the dimensions of its argument."""
    numbers = [part.value for part in rest if isinstance(part, Const)]
    if len(numbers) < len(rest):
        return None
    order = list(range(rank))
    if callee is np.transpose and (not rest or numbers == [None]):
        return order[::-1]
    if callee is np.transpose and isinstance(numbers[0], tuple) and len(numbers[0]) == rank:
        return [axis % rank for axis in numbers[0]]
    if callee is np.swapaxes and len(numbers) == 2:
        one, other = (axis % rank for axis in numbers)
        order[one], order[other] = other, one
        return order
    return None


def _expanded(base: Var, dims: Dims, rest: Sequence[Atom]) -> View | None:
    match rest:
        case [Const(value=int() as place)]:
            at = place % (len(dims) + 1)
            view = _permuted(base, dims, range(len(dims)))
            axes, extents = list(view.axes), list(dims)
            axes.insert(at, None)
            extents.insert(at, None)
            return View(base, tuple(axes), view.places, tuple(extents))
        case _:
            return None
