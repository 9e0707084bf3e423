"""Flags that are whole numbers outside: known, where they decide which entries a dict has, and asked at each call."""

from __future__ import annotations

import pytest

import adjoint as ad


class Flags:
    FIRST = 1
    SECOND = 2
    BOTH = 3
    NAMES = ("first", "second")


class Line:
    def __init__(self, x, caps):
        self.x = x
        if caps & Flags.FIRST:
            self.first = x * x
        if caps & Flags.SECOND:
            self.second = [x, x]


def entries(x, mask):
    mask |= 0
    found = {"x": x}
    if mask & Flags.FIRST:
        found["first"] = x * x
    if mask & Flags.SECOND:
        found["name"] = "second"
        found["second"] = [x, 2.0]
    return found


def of_a_dict(x):
    found = entries(x, Flags.BOTH)
    return found["first"] + sum(found["second"])


def of_less(x):
    found = entries(x, Flags.BOTH & ~Flags.SECOND)
    return found["first"] * len(found)


def of_an_object(x):
    line = Line(x, Flags.BOTH)
    return line.first * line.second[1]


@pytest.mark.parametrize("f", [of_a_dict, of_less, of_an_object], ids=lambda f: f.__name__)
def test_flags(f):
    x, h = 1.3, 1e-6
    expected = pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)
    assert ad.grad(f)(x) == expected
    assert ad.jvp(f, (x,), (1.0,))[1] == expected


def test_flags_are_asked_at_each_call(monkeypatch):
    def f(x):
        return sum(len(str(k)) * 1.0 for k in entries(x, Flags.BOTH)) * x

    gradient = ad.grad(f)
    assert gradient(1.3) == 16.0
    monkeypatch.setattr(Flags, "SECOND", 4)
    assert gradient(1.3) == 6.0
