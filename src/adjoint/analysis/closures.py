"""Closures of largest weight: which projects to take on, where each requires others and some cost more than they give.

A closure of a directed graph is a set of nodes with all that they require. One of largest weight is what a minimum cut
leaves on the side of the source: Picard, "Maximal closure of a graph and applications to combinatorial problems",
Management Science 22 (1976). The cut is found by Dinic's algorithm.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

_SOURCE, _SINK = 0, 1


def largest_closure(weights: Mapping[Node, int], requires: Mapping[Node, Collection[Node]]) -> set[Node]:
    """The smallest set of nodes of largest weight that contains all that its nodes require.

    Parameters
    ----------
    weights
        What each node gives, or costs where it is negative.
    requires
        The nodes without which one cannot be taken; all of them have a weight.

    Examples
    --------
    >>> sorted(largest_closure({"a": 5, "b": -3, "c": 1, "d": -2}, {"a": ["b"], "c": ["d"]}))
    ['a', 'b']
    """
    numbers = {node: number for number, node in enumerate(weights, 2)}
    network = _Network(len(numbers) + 2)
    unbounded = sum(weight for weight in weights.values() if weight > 0) + 1
    for node, weight in weights.items():
        if weight > 0:
            network.add(_SOURCE, numbers[node], weight)
        elif weight < 0:
            network.add(numbers[node], _SINK, -weight)
        for other in requires.get(node, ()):
            network.add(numbers[node], numbers[other], unbounded)
    network.saturate()
    levels = network.levels()
    return {node for node, number in numbers.items() if levels[number] >= 0}


class _Network:
    """A flow network; an edge and its reverse are neighbours in the list of edges."""

    def __init__(self, count: int) -> None:
        self.edges: list[list[int]] = [[] for _ in range(count)]
        self.ends: list[int] = []
        self.room: list[int] = []

    def add(self, start: int, end: int, room: int) -> None:
        for here, there, capacity in ((start, end, room), (end, start, 0)):
            self.edges[here].append(len(self.ends))
            self.ends.append(there)
            self.room.append(capacity)

    def saturate(self) -> None:
        """Sends as much as possible from the source to the sink."""
        while (levels := self.levels())[_SINK] >= 0:
            following = [0] * len(self.edges)
            while self._augment(levels, following):
                pass

    def levels(self) -> list[int]:
        """How many edges with room lead from the source to each node; -1 where none do."""
        found = [-1] * len(self.edges)
        found[_SOURCE] = 0
        waiting = deque([_SOURCE])
        while waiting:
            node = waiting.popleft()
            for edge in self.edges[node]:
                if self.room[edge] and found[self.ends[edge]] < 0:
                    found[self.ends[edge]] = found[node] + 1
                    waiting.append(self.ends[edge])
        return found

    def _augment(self, levels: list[int], following: list[int]) -> bool:
        """Sends what fits along one shortest path; ``following`` are the edges that each node has not tried yet."""
        path: list[int] = []
        node = _SOURCE
        while node != _SINK:
            edges = self.edges[node]
            while following[node] < len(edges):
                edge = edges[following[node]]
                if self.room[edge] and levels[self.ends[edge]] == levels[node] + 1:
                    break
                following[node] += 1
            else:
                if not path:
                    return False
                node = self.ends[path.pop() ^ 1]
                following[node] += 1
                continue
            path.append(edge)
            node = self.ends[edge]
        sent = min(self.room[edge] for edge in path)
        for edge in path:
            self.room[edge] -= sent
            self.room[edge ^ 1] += sent
        return True
