"""Tapes of nested loops whose trip counts are bounded beforehand: one array with an axis for each loop.

That of a triangle, such as ``for j in range(i + 1)``, is as long as its longest side: half of it stays empty.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adjoint import ir
from adjoint.differentiation.reverse.bindings import Binding, Region
from adjoint.differentiation.reverse.residuals.tapes import dtype_argument, dtype_of
from adjoint.ir.walk import leaves
from adjoint.runtime import display

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.residuals.selection import Keeper

_ANY: ir.Dim = "any"
_SIMPLE = (operator.add, operator.sub, operator.mul, operator.neg, max, min)
"""What computes a whole number of whole numbers, and never fails."""
_MOST = 8
"""How many such computations are done once more."""


def keep_in_grid(keeper: Keeper, var: ir.Var, binding: Binding) -> bool:
    """Keeps a number where the indices of the loops around it say, if they do."""
    type_ = _grid_for(keeper, var, binding)
    if type_ is not None:
        _keep(keeper, var, binding, type_)
    return type_ is not None


def _grid_for(keeper: Keeper, var: ir.Var, binding: Binding) -> ir.Array | None:
    """The type of an array that can hold a number for all iterations of the loops around it; None if there is none."""
    regions = _loops_around(binding.region)
    if (
        not isinstance(var.type, ir.Scalar)
        or len(regions) < 2
        or not all(_has_axis(keeper, r, regions) for r in regions)
        or sum(not _is_box(keeper, r, regions[0]) for r in regions) > 1  # of a pyramid, five sixths would stay empty
    ):
        return None
    return ir.Array(dtype_of(var.type), (_ANY,) * len(regions), ir.Storage(written=True))


def _keep(keeper: Keeper, var: ir.Var, binding: Binding, type_: ir.Array) -> None:
    regions = _loops_around(binding.region)
    outermost = regions[0].owner
    assert isinstance(outermost, ir.Loop)
    edits = keeper.context.edits
    sizes: list[ir.Var] = []
    firsts: list[ir.Atom | None] = []
    for region in regions:
        before: list[ir.Call] = []
        axis = _axis(keeper, region, regions, before)
        assert axis is not None
        sizes.append(ir.Var("size", ir.INT))
        firsts.append(axis.first)
        for made in (*before, ir.Call((sizes[-1],), max, (axis.extent, ir.Const(0)))):
            edits.put_before(outermost, made)
    shape, kept = ir.Var("shape", ir.OPAQUE), ir.Var(f"{var.hint}_kept", type_)
    edits.put_before(outermost, ir.Call((shape,), display.make_tuple, tuple(sizes)))
    edits.put_before(outermost, ir.Call((kept,), np.empty, (shape, *dtype_argument(type_.dtype))))
    core, sweep = binding.region.start, keeper.context.sweeps[binding.region]
    indices = [keeper.loop_index(_loop(region)) for region in regions]
    places = _places(indices, firsts, lambda statement: edits.put_first(core, statement))
    keeper.after_binding(var, binding, ir.Store(kept, ir.Subscript(places, tupled=len(places) > 1), var))
    keeper.to_parent(kept, regions[0])
    new = keeper.stands_for[var] = ir.Var(var.hint, var.type, var.named)
    indices = [keeper.indices[id(region)] for region in regions]
    back = _places(indices, firsts, lambda statement: sweep.first((-1, 0), statement))
    sweep.first(keeper.place_of(binding), ir.Load(new, kept, ir.Subscript(back, tupled=len(back) > 1)))


def _places(
    indices: list[ir.Var], firsts: list[ir.Atom | None], emit: Callable[[ir.Statement], None]
) -> tuple[ir.Atom, ...]:
    """Where in the array the loops with these indices are: those that go down count from their first one."""
    places: list[ir.Atom] = []
    for index, first in zip(indices, firsts, strict=True):
        if first is None:
            places.append(index)
        else:
            places.append(ir.Var("place", ir.INT))
            emit(ir.Call((places[-1],), operator.sub, (first, index)))  # type: ignore[arg-type]
    return tuple(places)


def _loops_around(region: Region) -> list[Region]:
    """The regions of the loops around a region, from the outermost on."""
    found: list[Region] = []
    around: Region | None = region
    while around is not None:
        if around.kind == "loop":
            found.insert(0, around)
        around = around.parent
    return found


def _has_axis(keeper: Keeper, region: Region, regions: list[Region]) -> bool:
    """Whether the indices of a loop are places along an axis whose extent is bounded before all loops."""
    loop = region.owner
    if not isinstance(loop, ir.Loop) or not isinstance(loop.over, ir.Range) or id(region) not in keeper.indices:
        return False
    over = loop.over
    if over.backward or any(isinstance(leaf, ir.Exit) for leaf in leaves(loop.body)):
        return False
    may_be = keeper.is_natural(over.start) if over.step == ir.Const(1) else over.step == ir.Const(-1)
    return may_be and _axis(keeper, region, regions, []) is not None


def _is_box(keeper: Keeper, region: Region, outermost: Region) -> bool:
    """Whether a loop ends at the same place whatever the indices of others are."""
    return _made_before(keeper, _range(region).stop, outermost, []) is not None


class _Axis(NamedTuple):
    """How long the axis of a loop must be; for one that goes down, its first index."""

    extent: ir.Atom
    first: ir.Atom | None


def _axis(keeper: Keeper, region: Region, regions: list[Region], made: list[ir.Call]) -> _Axis | None:
    """The axis of a loop, and what computes its extent before all loops; None where nothing bounds it.

    Loops from a number on that depends on others are bounded by where all of them end, not by how long they are: of
    bands, such as ``range(i, min(i + 3, n))``, an array would be empty but for a few elements of each row.
    """
    over, outermost = _range(region), regions[0]
    if over.step == ir.Const(1):
        stop = _made_before(keeper, over.stop, outermost, made)
        if stop is None and isinstance(over.start, ir.Const):
            stop = _bound(keeper, over.stop, regions, made, upper=True)
        return None if stop is None else _Axis(stop, None)
    first = _made_before(keeper, over.start, outermost, made)
    stop = None if first is None else _bound(keeper, over.stop, regions, made, upper=False)
    return None if first is None or stop is None else _Axis(_added(made, operator.sub, first, stop), first)


def _bound(keeper: Keeper, atom: ir.Atom, regions: list[Region], made: list[ir.Call], *, upper: bool) -> ir.Atom | None:
    """The largest value of a number that is linear in the indices of loops, or the least."""
    known = _made_before(keeper, atom, regions[0], made)
    if known is not None or not isinstance(atom, ir.Var):
        return known
    for region in regions:
        over = _range(region)
        if _loop(region).index is atom:
            goes_up = over.step == ir.Const(1)
            if upper is not goes_up:
                return _bound(keeper, over.start, regions, made, upper=upper)
            end = _bound(keeper, over.stop, regions, made, upper=upper)
            return None if end is None else _added(made, operator.sub if upper else operator.add, end, ir.Const(1))
    call = keeper.bindings[atom].statement if atom in keeper.bindings else None
    if not isinstance(call, ir.Call) or call.callee not in (operator.add, operator.sub) or len(made) > _MOST:
        return None
    one = _bound(keeper, call.args[0], regions, made, upper=upper)
    other = _bound(keeper, call.args[1], regions, made, upper=upper is (call.callee is operator.add))
    return None if one is None or other is None else _added(made, call.callee, one, other)


def _added(made: list[ir.Call], callee: object, one: ir.Atom, other: ir.Atom) -> ir.Var:
    made.append(ir.Call((ir.Var("size", ir.INT),), callee, (one, other)))
    return made[-1].targets[0]


def _made_before(keeper: Keeper, atom: ir.Atom, outermost: Region, made: list[ir.Call]) -> ir.Atom | None:
    """What a whole number is before all loops, and what computes it there; None where it is only known in them."""
    if not isinstance(atom, ir.Var):
        return atom if isinstance(atom, ir.Const) else None
    binding = keeper.bindings.get(atom)
    if binding is None or outermost.parent is None:
        return None
    if outermost.parent.within(binding.region):
        return atom
    call = binding.statement
    if not isinstance(call, ir.Call) or call.callee not in _SIMPLE or call.kwargs or len(made) > _MOST:
        return None
    args = [_made_before(keeper, arg, outermost, made) for arg in call.args]
    if atom.type != ir.INT or any(arg is None for arg in args):
        return None
    made.append(ir.Call((ir.Var(atom.hint, ir.INT),), call.callee, tuple(arg for arg in args if arg is not None)))
    return made[-1].targets[0]


def _loop(region: Region) -> ir.Loop:
    assert isinstance(region.owner, ir.Loop)
    return region.owner


def _range(region: Region) -> ir.Range:
    over = _loop(region).over
    assert isinstance(over, ir.Range)
    return over
