"""Tapes of nested loops whose trip counts are known beforehand: one array with an axis for each loop."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

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
        or not all(_has_axis(keeper, r, regions[0]) for r in regions)
    ):
        return None
    return ir.Array(dtype_of(var.type), (_ANY,) * len(regions), ir.Storage(written=True))


def _keep(keeper: Keeper, var: ir.Var, binding: Binding, type_: ir.Array) -> None:
    regions = _loops_around(binding.region)
    outermost = regions[0].owner
    assert isinstance(outermost, ir.Loop)
    edits = keeper.context.edits
    sizes: list[ir.Var] = []
    for region in regions:
        before: list[ir.Call] = []
        stop = _made_before(keeper, _range(region).stop, regions[0], before)
        assert stop is not None
        sizes.append(ir.Var("size", ir.INT))
        for made in (*before, ir.Call((sizes[-1],), max, (stop, ir.Const(0)))):
            edits.put_before(outermost, made)
    shape, kept = ir.Var("shape", ir.OPAQUE), ir.Var(f"{var.hint}_kept", type_)
    edits.put_before(outermost, ir.Call((shape,), display.make_tuple, tuple(sizes)))
    edits.put_before(outermost, ir.Call((kept,), np.empty, (shape, *dtype_argument(type_.dtype))))
    places = tuple(keeper.loop_index(_loop(region)) for region in regions)
    keeper.after_binding(var, binding, ir.Store(kept, ir.Subscript(places, tupled=len(places) > 1), var))
    keeper.to_parent(kept, regions[0])
    new = keeper.stands_for[var] = ir.Var(var.hint, var.type, var.named)
    back = tuple(keeper.indices[id(region)] for region in regions)
    keeper.context.sweeps[binding.region].first(
        keeper.place_of(binding), ir.Load(new, kept, ir.Subscript(back, tupled=len(back) > 1))
    )


def _loops_around(region: Region) -> list[Region]:
    """The regions of the loops around a region, from the outermost on."""
    found: list[Region] = []
    around: Region | None = region
    while around is not None:
        if around.kind == "loop":
            found.insert(0, around)
        around = around.parent
    return found


def _has_axis(keeper: Keeper, region: Region, outermost: Region) -> bool:
    """Whether the indices of a loop are places along an axis whose extent is known before all loops."""
    loop = region.owner
    if not isinstance(loop, ir.Loop) or not isinstance(loop.over, ir.Range) or id(region) not in keeper.indices:
        return False
    over = loop.over
    if over.backward or over.step != ir.Const(1) or any(isinstance(leaf, ir.Exit) for leaf in leaves(loop.body)):
        return False
    return keeper.is_natural(over.start) and _made_before(keeper, over.stop, outermost, []) is not None


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
