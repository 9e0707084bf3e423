"""Named tuples whose class makes them by a ``__new__`` of its own, past which libraries may make them, too."""

from __future__ import annotations

import copy
from collections import namedtuple
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from regressions.differences import refused, right


class Bounds(namedtuple("Bounds", ("name", "value", "count", "fixed"))):
    def __new__(cls, name, value, count=1, fixed=None):
        value = np.atleast_2d(value) * 2.0
        if fixed is None:
            fixed = count > 3
        return super().__new__(cls, name, value, count, fixed)

    def __eq__(self, other):
        return self.name == other.name and np.all(self.value == other.value)

    __hash__ = None

    def twice(self):
        return self.value * 2


class Pair(NamedTuple):
    a: float
    b: float = 3.0


class Squared(Pair):
    def __new__(cls, a, b=None):
        return super().__new__(cls, a * a, a if b is None else b)


class Twice(Squared):
    def __new__(cls, a):
        return Squared.__new__(cls, a, 2.0)


class Past(namedtuple("Past", "a b")):
    def __new__(cls, a, b=1.0):
        return tuple.__new__(cls, (a, b * a))


class OrNone(namedtuple("OrNone", "a b")):
    def __new__(cls, a):
        return None if a > 1.0 else super().__new__(cls, a, a * a)


def defaults_and_flags(x):
    one, other = Bounds("a", x), Bounds("a", x, count=5)
    return np.sum(one.twice()) * (2.0 if one.fixed else 3.0) + np.sum(other.value) * (2.0 if other.fixed else 3.0)


def compared(x):
    return (x if Bounds("a", x) == Bounds("a", x) else 2 * x) + (x if Bounds("a", x) != Bounds("b", 2 * x) else 2 * x)


def through_two(x):
    a, b = Twice(x)
    return a * b + Squared(x).a * Squared(x)[1]


def past_it(x):
    pair = Past(x, 3.0)
    return pair.a * pair.b + pair._replace(a=2.0).b * Squared._make([x, x * x]).b


def on_two_paths(x):
    pair = Squared(x, 4.0)
    if x > 0.5:
        pair = Squared(x * x, 3.0)
    return pair.a * pair.b


def none_or_one(x):
    pair = OrNone(x)
    return x if pair is None else pair.b


def made_inside(x):
    class Inner(namedtuple("Inner", "a b")):
        def __new__(cls, a):
            return super().__new__(cls, a, a * a)

    return Inner(x).b


FUNCTIONS = (defaults_and_flags, compared, through_two, past_it, on_two_paths, none_or_one, made_inside)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_they_are_made_as_their_class_says(function: Callable[[float], float]) -> None:
    right(function, 0.7)


def test_what_would_make_them_again_is_refused() -> None:
    def copied(x):
        return copy.deepcopy(Squared(x)).a

    assert "has a '__new__' of its own" in str(refused(lambda: right(copied, 0.7)))
