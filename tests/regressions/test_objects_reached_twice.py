"""Objects that are in a container whose items are told apart at run time, and are reached in another way, too."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import adjoint as ad


@dataclass
class Body:
    mass: float
    x: float


@dataclass
class System:
    bodies: list[Body]
    sun: Body


def sum_after_a_change(bodies: Sequence[Body], sun: Body) -> float:
    sun.x = 3.0 * sun.x
    total = sun.x
    for i in range(len(bodies)):
        total += bodies[i].x
    return total


def sum_of_a_system(system: System) -> float:
    return sum_after_a_change(system.bodies, system.sun)


def sum_of_both(bodies: Sequence[Body], sun: Body) -> float:
    total = sun.x
    for i in range(len(bodies)):
        total += bodies[i].x * bodies[i].mass
    return total


@pytest.mark.parametrize("count", [2, 70])
@pytest.mark.parametrize("native", [False, True])
def test_a_change_that_two_names_see_is_refused(count: int, native: bool) -> None:
    bodies = [Body(1.0, float(i)) for i in range(count)]
    before = copy.deepcopy(bodies)
    with pytest.raises(ad.DifferentiationError, match="reached in another way") as refused:
        ad.grad(sum_after_a_change, (0, 1), native=native)(bodies, bodies[1])
    assert refused.value.diagnostics[0].code == "AD0303"
    with pytest.raises(ad.DifferentiationError, match="reached in another way"):
        ad.grad(sum_of_a_system, native=native)(System(bodies, bodies[1]))
    assert bodies == before


@pytest.mark.parametrize("count", [2, 70])
@pytest.mark.parametrize("native", [False, True])
def test_what_is_only_read_may_be_reached_twice(count: int, native: bool) -> None:
    bodies = [Body(2.0, float(i)) for i in range(count)]
    of_bodies, of_sun = ad.grad(sum_of_both, (0, 1), native=native)(bodies, bodies[1])
    assert [part.x for part in of_bodies] == [2.0] * count
    assert of_sun.x == 1.0


@pytest.mark.parametrize("count", [2, 70])
def test_a_change_that_one_name_sees_is_right(count: int) -> None:
    bodies = [Body(1.0, float(i)) for i in range(count)]
    of_bodies, of_sun = ad.grad(sum_after_a_change, (0, 1))(bodies, Body(1.0, 5.0))
    assert [part.x for part in of_bodies] == [1.0] * count
    assert of_sun.x == 3.0


@pytest.mark.parametrize("count", [5, 80])
def test_whole_numbers_in_fields_of_floats_count_in_lists_of_any_length(count: int) -> None:
    def weighted(bodies: Sequence[Body]) -> float:
        return sum(body.mass * body.x for body in bodies)

    found = ad.grad(weighted)([Body(i + 1, 0.5) for i in range(count)])
    assert [(part.mass, part.x) for part in found] == [(0.5, i + 1.0) for i in range(count)]
