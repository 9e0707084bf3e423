"""Views of arrays: which element of an array each of their elements is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.ir.nodes import Atom, Call, Const, Load, Slice, Statement, Store, Subscript, Var
from adjoint.ir.types import Array, Scalar
from adjoint.native.fusion.scalars import rank_of
from adjoint.native.fusion.shapes import Shapes
from adjoint.native.fusion.terms import START, Axis, Dims, Extent, Place, Places
from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """``places`` tells where in ``base`` the elements lie, along axes of its own, one for each dimension."""

    base: Var
    axes: tuple[Axis | None, ...]
    places: Places
    dims: Dims


def view_of(statement: Statement, shapes: Shapes) -> View | None:
    """What a statement that makes a view makes; None for other statements."""
    match statement:
        case Load(target=Var(type=Array()), base=Var(type=Array()) as base, key=Subscript(items=items)):
            return selection(base, items, shapes, statement)
        case Call(
            targets=(Var(type=Array()) as target,), callee=callee, args=(Var(type=Array()) as base, *rest), kwargs=()
        ):
            dims = shapes.of(base)
            if dims is None:
                return None
            if callee is np.expand_dims:
                return _expanded(base, dims, rest)
            if callee is np.squeeze:
                return _squeezed(target, base, dims, rest)
            order = _order(callee, len(dims), rest)
            return None if order is None else _permuted(base, dims, order)
        case _:
            return None


def selection(base: Var, items: Sequence[Atom | Slice], shapes: Shapes, statement: Load | Store) -> View | None:
    """What the basic indices of a statement select of an array; None where that is not known."""
    dims = shapes.of(base)
    if dims is None:
        return None
    terms = shapes.selected(statement)
    found: tuple[list[Extent | None], list[Axis | None], list[Place]] = ([], [], [])
    taken = sum(1 for item in items if not _is_free(item))

    def sliced(extent: Extent, part: Slice) -> Extent | None:
        place = len(found[0])
        known = terms is not None and place < len(terms)
        return shapes.sliced(extent, part, terms[place] if known else (extent, part))  # type: ignore[index]

    def extend(extent: Extent | None, offset: int = 0, start: Var | None = None) -> None:
        axis = None if extent is None else Axis(extent)
        found[0].append(extent)
        found[1].append(axis)
        found[2].append(Place(axis, offset, start=start))

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
                extent = dims[at]
                if extent is None or not _is_bound(upper):
                    return None
                extend(sliced(extent, item), lower or 0)
            case Slice(Var(type=Scalar(kind="int")) as lower, upper, Const(value=None | 1)) if shapes.is_natural(lower):
                extent = dims[at]
                if extent is None or not _is_bound(upper):
                    return None
                extend(sliced(extent, item), start=lower)
            case Const(value=int()) | Var(type=Scalar(kind="int")):
                found[2].append(Place(at=item))
            case _:
                return None
        at += 1
    for extent in dims[at:]:
        extend(extent)
    extents, axes, places = found
    return View(base, tuple(axes), tuple(places), tuple(extents))


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


def _squeezed(target: Var, base: Var, dims: Dims, rest: Sequence[Atom]) -> View | None:
    """A view without axes whose extents are known to be 1."""
    match rest:
        case [] | [Const(value=None)]:
            dropped = [place for place, extent in enumerate(dims) if extent is None]
        case [Const(value=int() as axis)] if -len(dims) <= axis < len(dims) and dims[axis] is None:
            dropped = [axis % len(dims)]
        case _:
            return None
    kept = [place for place in range(len(dims)) if place not in dropped]
    if rank_of(target) != len(kept):
        return None
    view = _permuted(base, dims, range(len(dims)))
    axes = tuple(view.axes[place] for place in kept)
    return View(base, axes, view.places, tuple(dims[place] for place in kept))
