"""Objects that refer to each other in a circle, such as nodes that know their parents: their structure has no end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Method, Partial, Record, Ref, TupleValue, Union

CIRCLES = "keep the objects in a list, and let them name each other by index"

Graph = dict[Ref, set[Ref]]


def known_as_themselves(lo: Lowerer, values: Iterable[Any]) -> tuple[Ref, ...]:
    """The objects among them that were there before: a function that stays one takes them for what they are."""
    return tuple(ref for ref in circular(lo, values) if ref.origin is not None)


def circular(lo: Lowerer, values: Iterable[Any]) -> tuple[Ref, ...]:
    """The objects in values from which a way leads back to them, and those on a way between two such objects."""
    graph: Graph = {}
    pending = list(_objects(values))
    while pending:
        ref = pending.pop()
        if ref not in graph:
            graph[ref] = set(_objects((lo.store.get(ref),)))
            pending.extend(graph[ref])
    both_ways = _without_ends(_reversed(_without_ends(graph)))
    return tuple(ref for ref in graph if ref in both_ways)


def _objects(values: Iterable[Any]) -> Iterator[Ref]:
    """The objects in the structure of values, but not those in objects."""
    for value in values:
        match value:
            case Ref():
                yield value
            case TupleValue(items=items) | Record(items=items) | Union(options=items):
                yield from _objects(items)
            case Method(function=function, receiver=receiver):
                yield from _objects((function, receiver))
            case Partial(function=function, args=args, kwargs=kwargs):
                yield from _objects((function, *args, *(item for _, item in kwargs)))


def _without_ends(graph: Graph) -> Graph:
    """The objects from which there is a way without end."""
    back = _reversed(graph)
    left = {ref: set(others) for ref, others in graph.items()}
    ends = [ref for ref, others in left.items() if not others]
    while ends:
        end = ends.pop()
        del left[end]
        for ref in back[end]:
            left[ref].discard(end)
            if not left[ref]:
                ends.append(ref)
    return left


def _reversed(graph: Graph) -> Graph:
    found: Graph = {ref: set() for ref in graph}
    for ref, others in graph.items():
        for other in others:
            found[other].add(ref)
    return found
