"""What an iteration hands to the next one is kept once: the reverse of the loop carries it from there.

In ``h = tanh(w @ h)`` the reverse sweep reads ``h`` before and after. What it is after an iteration is what the next
one began with, and the reverse of that one runs just before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.bindings import Binding
from adjoint.ir.walk import leaves

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.residuals.selection import Keeper


def loop_carried(keeper: Keeper, var: ir.Var, binding: Binding) -> ir.Var | None:
    """What stands for a variable that the next iteration begins with, where that is kept; None for others."""
    loop, region = binding.region.owner, binding.region
    if (
        binding.statement is None
        or not isinstance(loop, ir.Loop)
        or region.kind != "loop"
        or not _is_value(keeper, var)
    ):
        return None
    node = keeper.loops.get(id(region))
    slot = _slot(loop, region.start, var)
    if node is None or slot is None:
        return None
    param, target = loop.params[slot], loop.targets[slot]
    if param not in keeper.needed or not _is_value(keeper, param) or not _are_alike(param, var):
        return None
    after = node.carried(var)
    node.inits.append(target)
    node.values.append(param)
    keeper.settle(target)
    keeper.settle(param)
    return after


def _is_value(keeper: Keeper, var: ir.Var) -> bool:
    """Whether it is the same whenever it is read, and has no memory that moves beside it."""
    context = keeper.context
    if var in context.copies or var in context.packs or var in context.recipes or var in context.forward_shadows:
        return False
    if isinstance(var.type, ir.Array):
        return not var.type.storage.find().written
    return isinstance(var.type, ir.Scalar) and var.type.kind in ("float", "complex")  # places are better computed again


def _are_alike(param: ir.Var, var: ir.Var) -> bool:
    """Whether both are numbers of one kind, or arrays of one dtype and rank."""
    mine, other = param.type, var.type
    if isinstance(mine, ir.Scalar) and isinstance(other, ir.Scalar):
        return mine.kind == other.kind
    if not isinstance(mine, ir.Array) or not isinstance(other, ir.Array):
        return False
    return mine.dtype == other.dtype and mine.dims is not None and len(mine.dims) == len(other.dims or ())


def _slot(loop: ir.Loop, core: ir.Block, var: ir.Var) -> int | None:
    """The parameter that a variable becomes in all further iterations, and that is handed out when there are none."""
    ends = [leaf for leaf in leaves(core) if not isinstance(leaf, ir.Raise)]
    if not ends or not all(isinstance(leaf, ir.Continue) for leaf in ends):
        return None
    handed = [leaf.values for leaf in leaves(loop.body) if isinstance(leaf, ir.Exit)]
    for slot, param in enumerate(loop.params):
        goes_on = all(isinstance(leaf, ir.Continue) and leaf.values[slot] is var for leaf in ends)
        if goes_on and all(values[slot] is param for values in handed):
            return slot
    return None
