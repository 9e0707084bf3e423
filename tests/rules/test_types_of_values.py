"""Types of objects that lead to each other."""

import time
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import ir
from adjoint.rules.types_of_values import abstract


class Node:
    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


def test_objects_that_all_lead_to_each_other() -> None:
    nodes = [Node(weight=float(i)) for i in range(40)]
    for node in nodes:
        node.others = nodes
    begun = time.perf_counter()
    found = abstract(nodes[0])
    assert time.perf_counter() - begun < 5.0  # there are 40! ways through them
    assert isinstance(found, ir.Instance)
    assert found.fields["weight"] == ir.FLOAT


def test_an_object_that_many_hold() -> None:
    shared = Node(scale=2.0)
    found = abstract([Node(shared=shared) for _ in range(100)])
    assert isinstance(found, ir.List)
    assert isinstance(found.element, ir.Instance)
    part = found.element.fields["shared"]
    assert isinstance(part, ir.Instance)
    assert part.fields["scale"] == ir.FLOAT


def test_an_object_in_itself() -> None:
    node = Node(x=1.0)
    node.own = node
    found = abstract(node)
    assert isinstance(found, ir.Instance)
    assert found.fields["own"] == ir.Opaque(Node)


REGISTRY = [Node(scale=1.0 + i) for i in range(8)]
for each in REGISTRY:
    each.others = {"all": REGISTRY, "own": each}


def scaled(x: float) -> float:
    return x * REGISTRY[0].scale * x


def test_a_captured_registry() -> None:
    begun = time.perf_counter()
    assert ad.grad(scaled)(3.0) == 6.0
    assert time.perf_counter() - begun < 20.0
    assert np.isclose(ad.grad(scaled, native=True)(3.0), 6.0)
