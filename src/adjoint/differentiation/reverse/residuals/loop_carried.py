"""What an iteration hands to the next one is kept once: the reverse of the loop carries it from there.

In ``h = tanh(w @ h)`` the reverse sweep reads ``h`` before and after. What it is after an iteration is what the next
one began with, and the reverse of that one runs just before.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.bindings import Binding
from adjoint.differentiation.reverse.region import ReverseLoop
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


# Counters are counted back: what a loop adds to a whole number in each iteration, its reverse takes away again


def unwound(keeper: Keeper, var: ir.Var, binding: Binding) -> ir.Var | None:
    """What stands for a counter in the reverse of its loop; None if it is no counter."""
    loop, region = binding.region.owner, binding.region
    if binding.statement is not None or not isinstance(loop, ir.Loop) or var not in loop.params or var.type != ir.INT:
        return None
    node = keeper.loops.get(id(region))
    slot = loop.params.index(var)
    step = _step(keeper, loop, slot)
    if node is None or step is None:
        return None
    after = node.carried(var)
    node.inits.append(_end(keeper, loop, slot, node))
    before = ir.Var(var.hint, var.type, var.named)
    node.body.first((-1, 0), ir.Call((before,), operator.sub, (after, step)))
    node.values.append(before)
    if not keeper.reverser.compiled or not keeper.is_natural(var):
        return before
    from adjoint.runtime.arithmetic.indices import natural  # lazy

    known = ir.Var(var.hint, var.type)
    node.body.first((-1, 0), ir.Call((known,), natural, (before,)))
    return known


def _step(keeper: Keeper, loop: ir.Loop, slot: int) -> ir.Const | None:
    """What each iteration adds to a parameter; None if that is not known, or not all iterations are run."""
    end = loop.body.terminator
    if not isinstance(loop.over, ir.Range) or not isinstance(end, ir.Continue):
        return None
    value = end.values[slot]
    binding = keeper.bindings.get(value) if isinstance(value, ir.Var) else None
    made = binding.statement if binding is not None and binding.block is loop.body else None
    if not isinstance(made, ir.Call) or made.callee not in (operator.add, operator.sub):
        return None
    match made.args:
        case (first, ir.Const(value=int() as step)) if first is loop.params[slot]:
            return ir.Const(step if made.callee is operator.add else -step)
        case (ir.Const(value=int() as step), second) if second is loop.params[slot] and made.callee is operator.add:
            return ir.Const(step)
        case _:
            return None


def _end(keeper: Keeper, loop: ir.Loop, slot: int, node: ReverseLoop) -> ir.Atom:
    """What a counter is when its loop is over: what it was when the iteration around the loop was over, if possible."""
    target = loop.targets[slot]
    binding = keeper.bindings[target]
    outer = binding.region.owner
    around = keeper.loops.get(id(binding.region))
    if (
        isinstance(outer, ir.Loop)
        and around is not None
        and loop.inits[slot] in outer.params
        and isinstance(outer.over, ir.Range)
        and isinstance(outer.body.terminator, ir.Continue)
        and any(inner is node for inner in around.body.nodes)
    ):
        place = outer.params.index(loop.inits[slot])
        if outer.body.terminator.values[place] is target:
            after = around.carried(target)
            around.values.append(node.targets[-1])
            around.inits.append(_end(keeper, outer, place, around))
            return after
    keeper.settle(target)
    return target
