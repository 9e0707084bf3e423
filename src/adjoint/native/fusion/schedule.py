"""Which nodes share loops: a tree of loops, as few as what waits for what allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjoint import ir
from adjoint.native.fusion.nodes.terms import Axis, Extent, Node, Place
from adjoint.native.fusion.plan import Dependences, Link
from adjoint.records import dataclass


@dataclass(eq=False, slots=True)
class LoopTree:
    """A loop over an extent with what is done in it, in order."""

    extent: Extent
    nodes: list[Node]
    items: list[LoopTree | Node]


class Schedule:
    """The tree of loops of nodes.

    Attributes
    ----------
    items
        The loops, and the nodes that need none.
    loop_of
        The loop along each axis.
    path
        The loops around each node, from the outermost.
    """

    def __init__(
        self, nodes: Sequence[Node], waits: Mapping[Node, Dependences], inputs: Mapping[Node, set[ir.Var]]
    ) -> None:
        self._waits = waits
        self._inputs = inputs
        self.loop_of: dict[Axis, LoopTree] = {}
        self.path: dict[Node, list[LoopTree]] = {node: [] for node in nodes}
        self.items = self._arranged(nodes, 0)

    def _arranged(self, nodes: Sequence[Node], depth: int) -> list[LoopTree | Node]:
        groups: list[LoopTree | Node] = []
        where: dict[Node, LoopTree | Node] = {}
        for node in nodes:
            lowest, joins = self._bounds(node, depth, groups, where)
            home: LoopTree | Node
            if len(node.axes) == depth:
                while lowest < len(groups) and not isinstance(groups[lowest], LoopTree):
                    lowest += 1
                groups.insert(lowest, node)
                home = node
            else:
                found = next(
                    (
                        group
                        for group in groups[lowest:]
                        if isinstance(group, LoopTree) and self._fits(node, group, depth, joins)
                    ),
                    None,
                )
                if found is None:
                    found = LoopTree(node.axes[depth].extent, [], [])
                    groups.append(found)
                found.nodes.append(node)
                home = found
            where[node] = home
        self._merge(groups, depth)
        for group in groups:
            if isinstance(group, LoopTree):
                for node in group.nodes:
                    self.loop_of[node.axes[depth]] = group
                    self.path[node].append(group)
                group.items = self._arranged(group.nodes, depth + 1)
        return groups

    def _merge(self, groups: list[LoopTree | Node], depth: int) -> None:
        """Moves loops into later ones that read what they compute, where nothing in between waits for it."""
        place = 1
        while place < len(groups):
            into = groups[place]
            earlier = range(place - 1, -1, -1) if isinstance(into, LoopTree) else ()
            found = next((other for other in earlier if self._may_merge(groups[other : place + 1], depth)), None)
            if found is None:
                place += 1
                continue
            moved = groups.pop(found)
            assert isinstance(moved, LoopTree) and isinstance(into, LoopTree)
            into.nodes[:0] = moved.nodes
            place -= 1

    def _may_merge(self, groups: list[LoopTree | Node], depth: int) -> bool:
        first, *between, last = groups
        assert isinstance(last, LoopTree)
        order = max(node.order for node in last.nodes)
        if not isinstance(first, LoopTree) or first.extent.find(order) is not last.extent.find(order):
            return False
        moved = set(first.nodes)
        nodes = [node for group in between for node in (group.nodes if isinstance(group, LoopTree) else [group])]
        if any(not moved.isdisjoint(self._waits[node]) for node in nodes):
            return False
        links = [
            self._can_share(node, producer, links, depth)
            for node in last.nodes
            for producer, links in self._waits[node].items()
            if producer in moved
        ]
        return bool(links) and all(links)

    def _bounds(
        self, node: Node, depth: int, groups: list[LoopTree | Node], where: Mapping[Node, LoopTree | Node]
    ) -> tuple[int, set[int]]:
        """Before which group a node cannot stand, and which groups it joins for what it reads of them."""
        positions = {id(group): place for place, group in enumerate(groups)}
        after = 0
        joins: set[int] = set()
        for producer, links in self._waits[node].items():
            if producer not in where:
                continue
            place = positions[id(where[producer])]
            if self._can_share(node, producer, links, depth):
                after = max(after, place)
                joins.add(id(where[producer]))
            else:
                after = max(after, place + 1)
        return after, joins

    @staticmethod
    def _can_share(node: Node, other: Node, links: list[Link] | None, depth: int) -> bool:
        """Whether in a loop of both a node touches only what the same iteration of the other does.

        What is only added to may be touched in any iteration of outer loops. Inner loops that add to neighbours stay
        apart: they would not be vectorized.
        """
        if links is None or len(node.axes) <= depth or len(other.axes) <= depth:
            return False
        theirs, mine = other.axes[depth], node.axes[depth]
        is_outer = min(len(node.axes), len(other.axes)) > depth + 1
        return all(
            (is_outer and link.commutes)
            or any(_moves_along(*pair, theirs, mine) for pair in zip(link.theirs, link.mine, strict=True))
            for link in links
        )

    def _fits(self, node: Node, group: LoopTree, depth: int, joins: set[int]) -> bool:
        if group.extent.find(node.order) is not node.axes[depth].extent.find(node.order):
            return False
        if id(group) in joins or len(node.axes) > depth + 1:
            return True
        return any(self._inputs[node] & self._inputs[member] for member in group.nodes)


def _moves_along(one: Place, other: Place, axis: Axis, other_axis: Axis) -> bool:
    """Whether two places are the same in one iteration of a loop along both axes, and never else."""
    if one.axis is not axis or other.axis is not other_axis:
        return False
    return one == Place(axis, one.offset, start=one.start) and other == Place(other_axis, one.offset, start=one.start)


def common_path(one: Sequence[LoopTree], other: Sequence[LoopTree]) -> list[LoopTree]:
    """The loops that two nodes share."""
    shared = []
    for mine, theirs in zip(one, other, strict=False):
        if mine is not theirs:
            break
        shared.append(mine)
    return shared
