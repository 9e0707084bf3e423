"""``total += ...`` in loops where what is added may be a number or an array: written in place, or bound anew."""

import dataclasses
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import either, right, second

X = np.array([0.7, -0.4, 1.3])
NUMBERS = json.loads("[1.5, 2.0, 0.5]")
VALUES = {"number": 1.5, "array": np.array([1.0, 2.0, 3.0])}


class Source:
    """Gives what the compiler does not see."""

    def __init__(self, value: Any) -> None:
        self.give = eval("lambda: value", {"value": value})


def plain(x, source):
    total = 0.0
    for i in range(3):
        total += source.give() * x[i] ** 2
    return np.sum(total)


def nested(x, source):
    total = 1.0
    for i in range(3):
        for _ in range(2):
            total *= 1.0 + 0.1 * source.give() * x[i]
        total -= source.give() * x[0]
    total += x[1]
    return np.sum(total * total)


def left_early(x, source):
    total, i = 0.0, 0
    while True:
        total += source.give() * x[i] ** 2
        i += 1
        if i == 2:
            break
    total *= x[2]
    return np.sum(total)


def put_in_a_list(x, source):
    total, history = 0.0, []
    for i in range(3):
        total += source.give() * x[i] ** 2
        history.append(total)
    return sum([np.sum(each) * (i + 1) for i, each in enumerate(history)])


def under_another_name(x, source):
    total, before = 0.0, 0.0
    for i in range(3):
        before = total
        total += source.give() * x[i] ** 2
    return np.sum(before) * 2.0 + np.sum(total)


def exchanged(x, source):
    one, other = 0.0, 1.0
    for i in range(3):
        one += source.give() * x[i] ** 2
        one, other = other, one
    return np.sum(one) * 2.0 + np.sum(other)


def the_same_twice(x, source):
    one = other = source.give() * x[0]
    for i in range(3):
        one += source.give() * x[i] ** 2
    return np.sum(one) * 2.0 + np.sum(other)


def bound_again(x, source):
    kept = total = source.give() * x[0]
    for i in range(3):
        total += x[i] ** 2
        total = kept
    return np.sum(kept) * x[1]


def in_a_closure(x, source):
    seen = []

    def note(value):
        seen.append(value)

    total = 0.0
    for i in range(3):
        total += source.give() * x[i]
        note(total)
        total += x[0]
    return np.sum(seen[0]) * 3.0 + np.sum(total)


def a_view(x, source):
    total, part = 0.0, 0.0
    for i in range(3):
        total += source.give() * x[i]
        part = np.atleast_1d(total)[:1]
        total += x[0]
    return np.sum(part) * 3.0 + np.sum(total)


def read_before(x, source):
    total, product = 0.0, 1.0
    for i in range(3):
        product = product * np.sum(total + 1.0)
        total += source.give() * x[i]
        product += np.sum(total) * x[1]
    return np.sum(total) * product


ALONE = [plain, nested, left_early, read_before]
SHARED = [put_in_a_list, under_another_name, exchanged, the_same_twice, bound_again, in_a_closure, a_view]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("f", [*ALONE, *SHARED], ids=lambda f: f.__name__)
def test_right_or_refused(f: Callable[[Any, Any], Any], value: str) -> None:
    source = Source(VALUES[value])
    held = either(right, lambda x: f(x, source), X)
    assert held or f in SHARED
    if f in ALONE:
        second(lambda x: f(x, source), X)


def test_numbers_of_a_file() -> None:
    def f(x):
        total = 0.0
        for number in json.loads("[1.5, 2.0, 0.5]"):
            total += number * x[0] ** 2
            total *= math.exp(x[1])
        return total

    right(f, X)
    second(f, X)


def test_a_shape_that_does_not_fit_raises() -> None:
    sources = iter([np.ones(3), np.ones((2, 3))])
    give = eval("lambda: next(sources)", {"sources": sources})

    def f(x):
        total = 0.0
        for _ in range(2):
            total += give() * x[0]
        return np.sum(total)

    with pytest.raises(ValueError, match="broadcast"):
        import adjoint as ad

        ad.grad(f)(X)


# Slots that hold a number or an array, in second derivatives: their cotangents are added up by calls


@dataclasses.dataclass(frozen=True)
class Held:
    time: Any
    place: Any


def held_in_fields(x: np.ndarray) -> Any:
    either = (x * 2.0)[json.loads("0")]
    states = [Held(either, x * 1.0)]
    for _ in range(3):
        states.append(Held(states[-1].time * either, states[-1].place * 0.9 * states[-1].time))
    return states[-1].time ** 2 + np.sum(states[-1].place ** 2) + states[1].time


def held_in_a_dict(x: np.ndarray) -> Any:
    either = (x * 2.0)[json.loads("0")]
    held = {"a": either, "b": either * x[1]}
    name = "a" if x[0] > 0 else "b"
    for _ in range(2):
        held[name] = held[name] * either
    return held["a"] * held["b"]


@pytest.mark.each_time
@pytest.mark.parametrize("f", [held_in_fields, held_in_a_dict])
def test_second_derivatives_of_what_is_held_as_a_number_or_an_array(f: Callable[[np.ndarray], Any]) -> None:
    x, v = np.array([0.3, 0.9]), np.array([1.0, 2.0])
    right(f, x)
    gradient = ad.grad(f)
    expected = (gradient(x + 1e-5 * v) - gradient(x - 1e-5 * v)) / 2e-5
    for native in (False, True):
        np.testing.assert_allclose(ad.hvp(f, (x,), (v,), native=native)[0], expected, rtol=1e-6)
    np.testing.assert_allclose(ad.hessian(f)(x) @ v, expected, rtol=1e-6)
    np.testing.assert_allclose(ad.grad(lambda x: np.dot(ad.grad(f)(x), v))(x), expected, rtol=1e-6)
