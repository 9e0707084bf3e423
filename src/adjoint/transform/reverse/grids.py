"""Tapes of nested loops whose trip counts are known beforehand: one array with an axis for each loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjoint.ir.nodes import Atom, Call, Const, Exit, Load, Loop, Range, Store, Subscript, Var
from adjoint.ir.types import INT, OPAQUE, Array, Dim, Scalar, Storage
from adjoint.ir.walk import leaves
from adjoint.runtime import display
from adjoint.transform.reverse.regions import Binding, Region
from adjoint.transform.tapes import dtype_argument, dtype_of

if TYPE_CHECKING:
    from adjoint.transform.reverse.keep import Keeper

_ANY: Dim = "any"


def keep_in_grid(keeper: Keeper, var: Var, binding: Binding) -> bool:
    """Keeps a number where the indices of the loops around it say, if they do."""
    type_ = _grid_for(keeper, var, binding)
    if type_ is not None:
        _keep(keeper, var, binding, type_)
    return type_ is not None


def _grid_for(keeper: Keeper, var: Var, binding: Binding) -> Array | None:
    """The type of an array that can hold a number for all iterations of the loops around it; None if there is none."""
    regions = _loops_around(binding.region)
    if (
        not isinstance(var.type, Scalar)
        or len(regions) < 2
        or not all(_has_axis(keeper, r, regions[0]) for r in regions)
    ):
        return None
    return Array(dtype_of(var.type), (_ANY,) * len(regions), Storage(written=True))


def _keep(keeper: Keeper, var: Var, binding: Binding, type_: Array) -> None:
    regions = _loops_around(binding.region)
    outermost = regions[0].owner
    assert isinstance(outermost, Loop)
    edits = keeper.context.edits
    sizes: list[Var] = []
    for region in regions:
        sizes.append(Var("size", INT))
        edits.put_before(outermost, Call((sizes[-1],), max, (_range(region).stop, Const(0))))
    shape, kept = Var("shape", OPAQUE), Var(f"{var.hint}_kept", type_)
    edits.put_before(outermost, Call((shape,), display.make_tuple, tuple(sizes)))
    edits.put_before(outermost, Call((kept,), np.empty, (shape, *dtype_argument(type_.dtype))))
    places = tuple(keeper.loop_index(_loop(region), region) for region in regions)
    keeper.after_binding(var, binding, Store(kept, Subscript(places), var))
    keeper.to_parent(kept, regions[0])
    new = keeper.stands_for[var] = Var(var.hint, var.type, var.named)
    back = tuple(keeper.indices[id(region)] for region in regions)
    keeper.context.sweeps[binding.region].first(keeper.place_of(binding), Load(new, kept, Subscript(back)))


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
    if not isinstance(loop, Loop) or not isinstance(loop.over, Range) or id(region) not in keeper.indices:
        return False
    over = loop.over
    if over.backward or over.step != Const(1) or any(isinstance(leaf, Exit) for leaf in leaves(loop.body)):
        return False
    return keeper.is_natural(over.start) and _is_known_before(keeper, over.stop, outermost)


def _is_known_before(keeper: Keeper, atom: Atom, outermost: Region) -> bool:
    if isinstance(atom, Const):
        return True
    binding = keeper.bindings.get(atom) if isinstance(atom, Var) else None
    return binding is not None and outermost.parent is not None and outermost.parent.within(binding.region)


def _loop(region: Region) -> Loop:
    assert isinstance(region.owner, Loop)
    return region.owner


def _range(region: Region) -> Range:
    over = _loop(region).over
    assert isinstance(over, Range)
    return over
