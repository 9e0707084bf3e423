"""Views of arrays: which element of an array each of their elements is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.native.fusion.nodes.terms import START, Axis, Dims, Extent, Place, Places
from adjoint.native.fusion.scalars import rank_of
from adjoint.native.fusion.shapes import Shapes
from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """``places`` tells where in ``base`` the elements lie, along axes of its own, one for each dimension."""

    base: ir.Var
    axes: tuple[Axis | None, ...]
    places: Places
    dims: Dims


def view_of(statement: ir.Statement, shapes: Shapes) -> View | None:
    """What a statement that makes a view makes; None for other statements."""
    match statement:
        case ir.Load(
            target=ir.Var(type=ir.Array()), base=ir.Var(type=ir.Array()) as base, key=ir.Subscript(items=items)
        ):
            return selection(base, items, shapes, statement)
        case ir.Call(
            targets=(ir.Var(type=ir.Array()) as target,),
            callee=callee,
            args=(ir.Var(type=ir.Array()) as base, *rest),
            kwargs=(),
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


def selection(
    base: ir.Var, items: Sequence[ir.Atom | ir.Slice], shapes: Shapes, statement: ir.Load | ir.Store
) -> View | None:
    """What the basic indices of a statement select of an array; None where that is not known."""
    dims = shapes.of(base)
    if dims is None:
        return None
    terms = shapes.selected(statement)
    found: tuple[list[Extent | None], list[Axis | None], list[Place]] = ([], [], [])
    taken = sum(1 for item in items if not _is_free(item))

    def sliced(extent: Extent, part: ir.Slice) -> Extent | None:
        place = len(found[0])
        known = terms is not None and place < len(terms)
        return shapes.sliced(extent, part, terms[place] if known else (extent, part))  # type: ignore[index]

    def extend(extent: Extent | None, offset: int = 0, start: ir.Var | None = None) -> None:
        axis = None if extent is None else Axis(extent)
        found[0].append(extent)
        found[1].append(axis)
        found[2].append(Place(axis, offset, start=start))

    at = 0
    for item in items:
        match item:
            case ir.Const(value=None):
                found[0].append(None)
                found[1].append(None)
                continue
            case ir.Const(value=value) if value is Ellipsis:
                for _ in range(len(dims) - taken):
                    extend(dims[at])
                    at += 1
                continue
        if at >= len(dims):
            return None
        match item:
            case ir.Slice(ir.Const(value=None), ir.Const(value=None), ir.Const(value=None | 1)):
                extend(dims[at])
            case ir.Slice(ir.Const(value=None | int() as lower), upper, ir.Const(value=None | 1)) if (lower or 0) >= 0:
                extent = dims[at]
                if extent is None or not _is_bound(upper):
                    return None
                extend(sliced(extent, item), lower or 0)
            case ir.Slice(ir.Var(type=ir.Scalar(kind="int")) as lower, upper, ir.Const(value=None | 1)) if (
                shapes.is_natural(lower)
            ):
                extent = dims[at]
                if extent is None or not _is_bound(upper):
                    return None
                extend(sliced(extent, item), start=lower)
            case ir.Const(value=int()) | ir.Var(type=ir.Scalar(kind="int")):
                found[2].append(Place(at=item))
            case _:
                return None
        at += 1
    for extent in dims[at:]:
        extend(extent)
    extents, axes, places = found
    return View(base, tuple(axes), tuple(places), tuple(extents))


def _is_free(item: ir.Atom | ir.Slice) -> bool:
    """Whether an index takes no dimension of its own."""
    return isinstance(item, ir.Const) and (item.value is None or item.value is Ellipsis)


def _is_bound(atom: ir.Atom) -> bool:
    match atom:
        case ir.Const(value=value):
            return value is None or type(value) is int
        case ir.Var(type=ir.Scalar(kind="int")):
            return True
        case _:
            return False


def _permuted(base: ir.Var, dims: Dims, order: Sequence[int]) -> View:
    axes = [None if extent is None else Axis(extent) for extent in dims]
    places = tuple(START if axis is None else Place(axis) for axis in axes)
    return View(base, tuple(axes[place] for place in order), places, tuple(dims[place] for place in order))


def _order(callee: Any, rank: int, rest: Sequence[ir.Atom]) -> list[int] | None:
    """How a call permutes the dimensions of its argument."""
    numbers = [part.value for part in rest if isinstance(part, ir.Const)]
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


def _expanded(base: ir.Var, dims: Dims, rest: Sequence[ir.Atom]) -> View | None:
    match rest:
        case [ir.Const(value=int() as place)]:
            at = place % (len(dims) + 1)
            view = _permuted(base, dims, range(len(dims)))
            axes, extents = list(view.axes), list(dims)
            axes.insert(at, None)
            extents.insert(at, None)
            return View(base, tuple(axes), view.places, tuple(extents))
        case _:
            return None


def _squeezed(target: ir.Var, base: ir.Var, dims: Dims, rest: Sequence[ir.Atom]) -> View | None:
    """A view without axes whose extents are known to be 1."""
    match rest:
        case [] | [ir.Const(value=None)]:
            dropped = [place for place, extent in enumerate(dims) if extent is None]
        case [ir.Const(value=int() as axis)] if -len(dims) <= axis < len(dims) and dims[axis] is None:
            dropped = [axis % len(dims)]
        case _:
            return None
    kept = [place for place in range(len(dims)) if place not in dropped]
    if rank_of(target) != len(kept):
        return None
    view = _permuted(base, dims, range(len(dims)))
    axes = tuple(view.axes[place] for place in kept)
    return View(base, axes, view.places, tuple(dims[place] for place in kept))
