"""Which elements are kept in memory: those that are read outside of the iteration that computes them."""

from __future__ import annotations

from collections import defaultdict

from adjoint import ir
from adjoint.native.fusion.nodes.terms import Computed, Dims, Map, Node, Places, Reduce
from adjoint.native.fusion.plan import Plan
from adjoint.native.fusion.schedule import LoopTree, Schedule, common_path
from adjoint.records import dataclass


@dataclass(eq=False, slots=True)
class Memory:
    """What is kept of a node's result.

    Attributes
    ----------
    kept
        Which of its dimensions the memory has.
    dims
        The extents of the memory; None where there is none.
    whole
        Whether the memory is the array of the program.
    accumulates
        Whether a reduction adds to the memory as it goes.
    ready
        The innermost loop inside which it may be read; None where that may be anywhere.
    """

    kept: tuple[int, ...]
    dims: Dims | None
    whole: bool
    accumulates: bool
    ready: LoopTree | None

    def selected(self, places: Places) -> Places:
        """The places in memory of an element at places of the result."""
        return tuple(places[dim] for dim in self.kept)


def memory_of(plan: Plan, schedule: Schedule) -> dict[Node, Memory]:
    """The memory of every node that computes an array or number."""
    readers: dict[ir.Var, list[Node]] = defaultdict(list)
    for node in plan.nodes:
        for operand in node.operands:
            for leaf in plan.leaves(operand):
                if isinstance(leaf.atom, ir.Var):
                    readers[leaf.atom].append(node)
    found: dict[Node, Memory] = {}
    for node in plan.nodes:
        if isinstance(node, (Map, Reduce)):
            found[node] = _memory(node, plan, schedule, readers[node.target])
    return found


def _memory(node: Computed, plan: Plan, schedule: Schedule, readers: list[Node]) -> Memory:
    path = schedule.path[node]
    shared = path
    for reader in readers:
        shared = common_path(shared, schedule.path[reader])
    inner = _inside_of_reduction(node, schedule)
    whole = node.target in plan.live
    kept = tuple(
        dim
        for dim, axis in enumerate(node.axis_of)
        if whole or (axis is not None and (schedule.loop_of[axis] not in shared or schedule.loop_of[axis] in inner))
    )
    ready = shared[-1] if shared else None
    accumulates = any(axis is not None and schedule.loop_of[axis] in inner for axis in node.axis_of)
    if not node.axis_of or not (whole or kept):
        return Memory((), None, False, False, ready)
    dims = tuple(None if axis is None else axis.extent for axis in (node.axis_of[dim] for dim in kept))
    return Memory(kept, dims, whole, accumulates, ready)


def _inside_of_reduction(node: Computed, schedule: Schedule) -> list[LoopTree]:
    """The loops inside the outermost one over which a node reduces."""
    if not isinstance(node, Reduce) or not node.reduced:
        return []
    path = schedule.path[node]
    return path[path.index(schedule.loop_of[node.reduced[0]]) :]
