"""What is computed where it is used, and which node waits for which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from adjoint import ir
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.walk import operands, targets_of
from adjoint.native.costs import CHEAP, DEEPEST_INLINED
from adjoint.native.fusion.nodes.terms import (
    CannotCompose,
    Extent,
    Hollow,
    Map,
    Node,
    Operand,
    Other,
    Place,
    Places,
    Reduce,
    Sliced,
    Write,
    composed,
)
from adjoint.records import dataclass


class Link(NamedTuple):
    """Where one node touches an array, and where one that waits for it does.

    ``commutes`` says that both only add to it: the order counts for rounding alone.
    """

    theirs: Places
    mine: Places
    commutes: bool = False


Dependences = dict[Node, list[Link] | None]
"""The nodes that one waits for, with what links them; None where it needs all that they do."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a node does to memory; ``places`` is None where it touches all of it, ``adds`` says that it only adds."""

    memory: Hashable
    array: ir.Var | None
    places: Places | None
    writes: bool
    adds: bool = False


class Plan:
    """The nodes of a segment, without those that are computed where they are used.

    Parameters
    ----------
    nodes
        In the order of the program.
    live
        What is read by more than these nodes.
    aliases
        Which variables may share memory.
    are_apart
        Whether two places along a dimension are never the same.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        live: set[ir.Var],
        aliases: Aliases,
        are_apart: Callable[[Place, Place], bool],
    ) -> None:
        self.live = live
        self.aliases = aliases
        self._are_apart = are_apart
        self.inlined: dict[ir.Var, Map] = {}
        self._costs: dict[ir.Atom | Extent, int] = {}
        self._depths: dict[ir.Atom | Extent, int] = {}
        self._all = nodes
        self._written: dict[Hashable, list[int]] = defaultdict(list)
        for node in nodes:
            for memory in self._written_by(node):
                self._written[memory].append(node.order)
        self._readers: dict[ir.Var, list[tuple[Node, Operand]]] = defaultdict(list)
        for node in nodes:
            for operand in node.operands:
                if isinstance(operand.atom, ir.Var):
                    self._readers[operand.atom].append((node, operand))
        for node in nodes:
            if isinstance(node, Map) and self._is_better_inlined(node):
                self.inlined[node.target] = node
        self.nodes = [node for node in nodes if not self._is_left_out(node)]

    def _is_left_out(self, node: Node) -> bool:
        if not isinstance(node, (Map, Reduce, Hollow)):
            return False
        return node.target in self.inlined or not (node.target in self.live or self._readers[node.target])

    def _is_better_inlined(self, node: Map) -> bool:
        if node.target in self.live or not isinstance(node.target.type, ir.Array):
            return False
        readers = self._readers[node.target]
        inner = [operand.atom for operand in node.operands if operand.atom in self.inlined]
        cost = node.cost + sum(self._costs[atom] for atom in inner)
        depth = 1 + max((self._depths.get(atom, 0) for atom in inner), default=0)
        self._costs[node.target], self._depths[node.target] = cost, depth
        if depth > DEEPEST_INLINED:
            return False
        once = len(readers) == 1 and len(readers[0][0].axes) == len(node.axes)
        if cost > CHEAP and not once:
            return False
        if self._is_overwritten(node, max((reader.order for reader, _ in readers), default=node.order)):
            return False
        try:
            for _, operand in readers:
                list(self._expanded(node, operand.places))
        except CannotCompose:
            return False
        return True

    def _is_overwritten(self, node: Node, until: int) -> bool:
        """Whether what a node is computed from may be written before, or while, it is read."""
        read = self.aliases.classes(leaf.atom for leaf in self.all_leaves(node))
        return any(
            node.order < order <= until for memory in read & self._written.keys() for order in self._written[memory]
        )

    def all_leaves(self, node: Node) -> Iterator[Operand]:
        """What a node is computed from, through what is computed within it."""
        for operand in node.operands:
            yield from self.leaves(operand)

    def leaves(self, operand: Operand) -> Iterator[Operand]:
        """What an operand is computed from, where that is done in place; else the operand."""
        inlined = self.inlined.get(operand.atom) if isinstance(operand.atom, ir.Var) else None
        if inlined is None:
            yield operand
        else:
            yield from self._expanded(inlined, operand.places)

    def _expanded(self, node: Map, places: Places) -> Iterator[Operand]:
        for operand in operands_at(node, places):
            yield from self.leaves(operand)

    def parts(self, node: Node) -> Iterator[Node]:
        """A node and all that is computed within it."""
        yield node
        for operand in node.operands:
            inlined = self.inlined.get(operand.atom) if isinstance(operand.atom, ir.Var) else None
            if inlined is not None:
                yield from self.parts(inlined)

    # What waits for what

    def dependences(self, extents: dict[Node, list[Extent]]) -> dict[Node, Dependences]:
        """For each node those that it waits for; ``extents`` tells on which extents it relies."""
        made: dict[ir.Var, Node] = {}
        touched: dict[Hashable, list[tuple[Node, Access]]] = defaultdict(list)
        found: dict[Node, Dependences] = {}
        for node in self.nodes:
            waits: Dependences = {}
            self._wait_for_values(node, made, waits)
            for extent in extents.get(node, ()):
                for var in source_arrays(extent):
                    if var in made and isinstance(made[var], Other):
                        waits[made[var]] = None
            accesses = list(self._accesses(node))
            for access in accesses:
                for other, theirs in touched[access.memory]:
                    if (access.writes or theirs.writes) and not self._never_meet(theirs, access):
                        _link(waits, other, theirs, access)
            for access in accesses:
                touched[access.memory].append((node, access))
            found[node] = waits
            made.update(dict.fromkeys(targets_made_by(node), node))
        return found

    def _wait_for_values(self, node: Node, made: dict[ir.Var, Node], waits: Dependences) -> None:
        for operand in (leaf for part in node.operands for leaf in self.leaves(part)):
            if not isinstance(operand.atom, ir.Var):
                continue
            for place in operand.places:
                waits.update((made[var], None) for var in place.computed if var in made)
            producer = made.get(operand.atom)
            if producer is None:
                continue
            known = waits.setdefault(producer, [])
            if isinstance(node, Other) or isinstance(producer, Other):
                waits[producer] = None
            elif known is not None:
                known.append(Link(own_places(producer), operand.places))
        if isinstance(node, Write):
            for place in node.places:
                waits.update((made[var], None) for var in place.computed if var in made)
            if node.base in made:
                waits[made[node.base]] = None

    def _written_by(self, node: Node) -> set[Hashable]:
        """The classes of memory that a node writes."""
        if isinstance(node, Write):
            return self.aliases.classes([node.base])
        if isinstance(node, Other):
            return self.aliases.classes([node.statement.base]) if isinstance(node.statement, ir.Store) else set()
        if isinstance(node, (Map, Reduce)) and self.aliases.is_written(node.target):
            return self.aliases.classes([node.target])
        return set()

    def _accesses(self, node: Node) -> Iterator[Access]:
        """What a node does to memory that is written in this segment."""
        if isinstance(node, Other):
            written = self._written_by(node)
            for memory in self.aliases.classes(operands(node.statement)) & self._written.keys():
                yield Access(memory, None, None, memory in written)
            return
        for leaf in self.all_leaves(node):
            if isinstance(leaf.atom, ir.Var):
                for memory in self.aliases.classes([leaf.atom]) & self._written.keys():
                    yield Access(memory, leaf.atom, leaf.places, writes=False)
        for memory in self._written_by(node):
            if isinstance(node, Write):
                yield Access(memory, node.base, node.places, writes=True, adds=node.store.mode in ("add", "sub"))
            elif isinstance(node, (Map, Reduce)):
                yield Access(memory, node.target, own_places(node), writes=True)

    def _never_meet(self, one: Access, other: Access) -> bool:
        if one.array is not other.array or one.places is None or other.places is None:
            return False
        return any(map(self._are_apart, one.places, other.places))


def _link(waits: Dependences, other: Node, theirs: Access, mine: Access) -> None:
    if mine.places is None or theirs.places is None or mine.array is not theirs.array:
        waits[other] = None
        return
    links = waits.setdefault(other, [])
    if links is not None:
        links.append(Link(theirs.places, mine.places, commutes=theirs.adds and mine.adds))


def own_places(node: Node) -> Places:
    """Where a node puts its result."""
    return tuple(Place(axis) for axis in node.axis_of) if isinstance(node, (Map, Reduce)) else ()


def operands_at(node: Map, places: Places) -> Iterator[Operand]:
    """The operands of the element at certain places."""
    via = {axis: place for axis, place in zip(node.axis_of, places, strict=True) if axis is not None}
    for operand in node.operands:
        yield Operand(operand.atom, tuple(composed(place, via) for place in operand.places))


def targets_made_by(node: Node) -> tuple[ir.Var, ...]:
    if isinstance(node, Other):
        return targets_of(node.statement)
    return (node.target,) if isinstance(node, (Map, Reduce, Hollow)) else ()


def source_arrays(extent: Extent) -> Iterator[ir.Var]:
    """The arrays whose shapes tell an extent, and the numbers that do."""
    source = extent.source
    if isinstance(source, Sliced):
        yield from source_arrays(source.extent)
        yield from (bound for bound in (source.lower, source.upper) if isinstance(bound, ir.Var))
    elif isinstance(source, tuple):
        for part in source:
            if isinstance(part, ir.Var):
                yield part
            elif isinstance(part, Extent):
                yield from source_arrays(part)
