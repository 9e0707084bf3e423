"""Lists of objects in compiled derivatives: arrays of their fields."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.objects import slice_bounds
from native.own_code import own_code

pytest.importorskip("llvmlite")


@dataclass
class Body:
    mass: float
    x: float
    v: float
    kind: int = 1
    fixed: bool = False

    def momentum(self) -> float:
        return self.mass * self.v


@dataclass(frozen=True, slots=True)
class Term:
    factor: float
    power: int


def kinetic(bodies: Sequence[Body]) -> float:
    total = 0.0
    for body in bodies:
        total += 0.5 * body.mass * body.v * body.v
    return total


def pairs(bodies: Sequence[Body], softening: float) -> float:
    total = 0.0
    for i in range(len(bodies)):
        for j in range(i):
            a, b = bodies[i], bodies[j]
            total -= a.mass * b.mass / ((a.x - b.x) ** 2 + softening) ** 0.5
    return total


def leapfrog(bodies: Sequence[Body], step: float, count: int) -> float:
    for _ in range(count):
        for body in bodies:
            if not body.fixed:
                body.v -= step * body.x * body.kind
        for body in bodies:
            body.x += step * body.v
    return sum(body.x * body.momentum() for body in bodies)


def heaviest(bodies: Sequence[Body]) -> float:
    best = bodies[0]
    for body in bodies:
        if body.mass > best.mass:
            best = body
    return best.x * best.v + bodies[-1].x


def springs(bodies: Sequence[Body]) -> float:
    total = 0.0
    for i, (a, b) in enumerate(pairwise(bodies)):
        total += i * (a.x - b.x) ** 2
    for body in reversed(bodies):
        total = total * 0.9 + body.x
    near = [body for body in bodies if body.x > 0.3]
    return total + sum(body.mass for body in near) + len(near)


def polynomial(terms: Sequence[Term], x: float) -> float:
    return sum(term.factor * x**term.power for term in terms)


def bodies_of(count: int) -> list[Body]:
    rng = np.random.default_rng(count)
    numbers = rng.uniform(0.1, 1.0, (count, 3)).tolist()
    return [Body(*three, kind=i % 3, fixed=i % 4 == 0) for i, three in enumerate(numbers)]


def terms_of(count: int) -> list[Term]:
    return [Term(1.0 / (i + 1.0), i) for i in range(count)]


PROGRAMS: list[tuple[Callable[..., Any], Callable[[int], list[Any]], tuple[Any, ...]]] = [
    (kinetic, bodies_of, ()),
    (pairs, bodies_of, (0.01,)),
    (leapfrog, bodies_of, (0.1, 3)),
    (heaviest, bodies_of, ()),
    (springs, bodies_of, ()),
    (polynomial, terms_of, (0.7,)),
]


def same(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """Compares lists of objects, classes included."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        mine, theirs = vars(one), vars(other)
        assert mine.keys() == theirs.keys()
        for name, value in theirs.items():
            assert type(mine[name]) is type(value)
            if value is not None:
                assert mine[name] == pytest.approx(value, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("count", [1, 5, 20, 80])
@pytest.mark.parametrize(("function", "make", "others"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
def test_as_interpreted(function: Any, make: Any, others: Any, count: int) -> None:
    mine, theirs = make(count), make(count)
    expected = ad.value_and_grad(function, (0, 1) if others else (0,))(mine, *others)
    found = ad.value_and_grad(function, (0, 1) if others else (0,), native="strict")(theirs, *others)
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    same(found[1][0], expected[1][0])
    assert found[1][1:] == pytest.approx(expected[1][1:], rel=1e-12)
    if make is bodies_of:
        same(theirs, mine)
    else:
        assert theirs == mine


@pytest.mark.parametrize("count", [5, 80])
@pytest.mark.parametrize(("function", "make", "others"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
def test_pullbacks_as_interpreted(function: Any, make: Any, others: Any, count: int) -> None:
    mine, theirs = make(count), make(count)
    expected, plain = ad.vjp(function, mine, *others)
    found, pullback = ad.vjp(function, theirs, *others, native="strict")
    assert found == pytest.approx(expected, rel=1e-12)
    assert theirs == mine
    theirs.clear()
    for scale in (1.0, -2.0):
        one, other = pullback(scale), plain(scale)
        same(one[0], other[0])
        assert one[1] == pytest.approx(other[1], rel=1e-12) if others else len(one) == 1


@pytest.mark.parametrize("count", [5, 80])
@pytest.mark.parametrize(("function", "make", "others"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
def test_tangents_as_interpreted(function: Any, make: Any, others: Any, count: int) -> None:
    direction = ad.grad(function)(make(count), *others)
    before = copy.deepcopy(direction)
    mine, theirs = make(count), make(count)
    still = [None] * len(others)
    expected = ad.jvp(function, (mine, *others), (direction, *still))
    found = ad.jvp(function, (theirs, *others), (direction, *still), native="strict")
    assert found == pytest.approx(expected, rel=1e-11)
    assert theirs == mine
    same(direction, before)


def test_against_differences() -> None:
    bodies = bodies_of(12)
    gradient = ad.grad(leapfrog, native="strict")(copy.deepcopy(bodies), 0.1, 3)
    for place in (0, 3, 11):
        for name in ("mass", "x", "v"):
            ends = []
            for step in (1e-6, -1e-6):
                moved = copy.deepcopy(bodies)
                setattr(moved[place], name, getattr(moved[place], name) + step)
                ends.append(leapfrog(moved, 0.1, 3))
            assert getattr(gradient[place], name) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-7, abs=1e-9)


def test_long_lists_of_any_length_share_their_code() -> None:
    derivative = ad.grad(kinetic, native="strict")
    derivative(bodies_of(70))
    first = derivative.specialized((bodies_of(70),), {})
    assert derivative.specialized((bodies_of(90),), {}) is first
    same(derivative(bodies_of(90)), ad.grad(kinetic)(bodies_of(90)))


def test_an_object_that_is_there_twice_has_one_gradient() -> None:
    bodies = bodies_of(20)
    bodies[7] = bodies[3]
    found = ad.grad(kinetic, native="strict")(bodies)
    assert found[7] is found[3]
    same(found, ad.grad(kinetic)(bodies))


def test_an_object_that_is_there_twice_is_not_written() -> None:
    bodies = bodies_of(20)
    bodies[7] = bodies[3]
    before = copy.deepcopy(bodies)
    with pytest.raises(ad.DifferentiationError, match="an object is in the list twice"):
        ad.grad(leapfrog, native="strict")(bodies, 0.1, 3)
    same(bodies, before)


def test_errors_are_those_of_python() -> None:
    def inverse(bodies: Sequence[Body]) -> float:
        return sum(1.0 / body.x for body in bodies)

    bodies = bodies_of(20)
    bodies[4].x = 0.0
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        ad.grad(inverse, native="strict")(bodies)


def test_single_precision() -> None:
    bodies = [Body(np.float32(i + 1.0), np.float32(0.5), np.float32(2.0)) for i in range(10)]
    found, expected = (ad.grad(kinetic, native=native)(bodies) for native in ("strict", False))
    assert type(found[0].mass) is type(expected[0].mass)
    same(found, expected)


def distances(bodies: Sequence[Body]) -> float:
    """Asks whether two objects are one: places do not tell."""
    return sum(abs(a.x - b.x) for a in bodies for b in bodies if a is not b)


def test_identity_is_that_of_python() -> None:
    for bodies in (bodies_of(5), bodies_of(70)):
        same(ad.grad(distances, native="strict")(bodies), ad.grad(distances)(bodies))


@dataclass
class Spring:
    stiffness: float
    rest: ad.NoDerivative[float]


def stretched(springs: Sequence[Spring]) -> float:
    return sum(spring.stiffness * spring.rest for spring in springs)


def test_fields_without_derivative() -> None:
    springs = [Spring(1.0 + i, 0.5) for i in range(12)]
    found, expected = (ad.grad(stretched, native=native)(springs) for native in ("strict", False))
    assert [part.stiffness for part in found] == [0.5] * 12
    assert list(map(vars, found)) == list(map(vars, expected))


def test_whole_numbers_among_floats() -> None:
    bodies = [Body(i + 1, 0.5, 2.0 * i) for i in range(12)]
    found, expected = (ad.grad(kinetic, native=native)(bodies) for native in (True, False))
    assert list(map(vars, found)) == list(map(vars, expected))


def test_lists_that_nobody_differentiates() -> None:
    def force(x: float, bodies: Sequence[Body]) -> float:
        return sum(body.mass / (x - body.x) ** 2 for body in bodies)

    for count in (3, 80):
        expected = ad.grad(force)(2.0, bodies_of(count))
        assert ad.grad(force, native="strict")(2.0, bodies_of(count)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3])
@pytest.mark.parametrize("lower", [None, -9, -2, 0, 3, 9])
def test_bounds_of_slices(lower: int | None, step: int | None) -> None:
    compiled = own_code(lambda items, lower, upper, step: slice_bounds(items, lower, upper, step))
    items = np.zeros(5)
    for upper in (None, -9, -1, 0, 2, 5, 8):
        assert compiled(items, lower, upper, step) == slice_bounds(items, lower, upper, step)
