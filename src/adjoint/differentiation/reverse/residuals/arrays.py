"""Tapes of nested loops whose trip counts are known beforehand: one array with an axis for each loop."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from adjoint.differentiation.reverse.bindings import Binding, Region
from adjoint.differentiation.reverse.residuals.tapes import dtype_argument, dtype_of
from adjoint.ir.nodes import Atom, Call, Const, Exit, Load, Loop, Range, Store, Subscript, Var
from adjoint.ir.types import INT, OPAQUE, Array, Dim, Scalar, Storage
from adjoint.ir.walk import leaves
from adjoint.runtime import display

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.residuals.selection import Keeper

_ANY: Dim = "any"
_SIMPLE = (operator.add, operator.sub, operator.mul, operator.neg, max, min)
"""What computes a whole number of whole numbers, and never fails."""
_MOST = 8
"""How many such computations are done once more."""


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
        before: list[Call] = []
        stop = _made_before(keeper, _range(region).stop, regions[0], before)
        assert stop is not None
        sizes.append(Var("size", INT))
        for made in (*before, Call((sizes[-1],), max, (stop, Const(0)))):
            edits.put_before(outermost, made)
    shape, kept = Var("shape", OPAQUE), Var(f"{var.hint}_kept", type_)
    edits.put_before(outermost, Call((shape,), display.make_tuple, tuple(sizes)))
    edits.put_before(outermost, Call((kept,), np.empty, (shape, *dtype_argument(type_.dtype))))
    places = tuple(keeper.loop_index(_loop(region)) for region in regions)
    keeper.after_binding(var, binding, Store(kept, Subscript(places, tupled=len(places) > 1), var))
    keeper.to_parent(kept, regions[0])
    new = keeper.stands_for[var] = Var(var.hint, var.type, var.named)
    back = tuple(keeper.indices[id(region)] for region in regions)
    keeper.context.sweeps[binding.region].first(
        keeper.place_of(binding), Load(new, kept, Subscript(back, tupled=len(back) > 1))
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
    if not isinstance(loop, Loop) or not isinstance(loop.over, Range) or id(region) not in keeper.indices:
        return False
    over = loop.over
    if over.backward or over.step != Const(1) or any(isinstance(leaf, Exit) for leaf in leaves(loop.body)):
        return False
    return keeper.is_natural(over.start) and _made_before(keeper, over.stop, outermost, []) is not None


def _made_before(keeper: Keeper, atom: Atom, outermost: Region, made: list[Call]) -> Atom | None:
    """What a whole number is before all loops, and what computes it there; None where it is only known in them."""
    if not isinstance(atom, Var):
        return atom if isinstance(atom, Const) else None
    binding = keeper.bindings.get(atom)
    if binding is None or outermost.parent is None:
        return None
    if outermost.parent.within(binding.region):
        return atom
    call = binding.statement
    if not isinstance(call, Call) or call.callee not in _SIMPLE or call.kwargs or len(made) > _MOST:
        return None
    args = [_made_before(keeper, arg, outermost, made) for arg in call.args]
    if atom.type != INT or any(arg is None for arg in args):
        return None
    made.append(Call((Var(atom.hint, INT),), call.callee, tuple(arg for arg in args if arg is not None)))
    return made[-1].targets[0]


def _loop(region: Region) -> Loop:
    assert isinstance(region.owner, Loop)
    return region.owner


def _range(region: Region) -> Range:
    over = _loop(region).over
    assert isinstance(over, Range)
    return over
