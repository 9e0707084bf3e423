"""What loops and functions of iterators see of an enumeration: its members, not their other names, nor unions."""

from __future__ import annotations

import enum
import itertools

import pytest

import adjoint as ad


class Color(enum.Enum):
    RED = 1
    ROJO = 1
    BLUE = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    BOTH = 3


class Order(enum.IntEnum):
    FIRST = 1
    SECOND = 2
    UNO = 1


def matched(x):
    total = 0.0
    for color in Color:
        match color:
            case Color.RED:
                total += x
            case Color.BLUE:
                total += x * x
    return total


def unpacked(x):
    red, blue = Color
    first, *rest = Order
    return red.value * x + blue.value * x * x + first * x + sum(x**order for order in rest)


def keyed(x):
    table = dict.fromkeys(Color, 0.0)
    table[Color.ROJO] += x * x
    return sum(table.values()) * len(table)


FUNCTIONS = [
    matched,
    unpacked,
    keyed,
    lambda x: sum(x * color.value for color in Color),
    lambda x: sum(x * access.value for access in Access),
    lambda x: sum(x**order for order in Order),
    lambda x: x * len(Color) + x * len(list(Order)),
    lambda x: sum(x * i * color.value for i, color in enumerate(Color)),
    lambda x: sum(x * i * color.value for i, color in enumerate(reversed(Color))),
    lambda x: sum(x * a.value * b.value for a, b in zip(Color, Access, strict=True)),
    lambda x: sum(x * a.value * b.value for a, b in itertools.product(Color, Access)),
    lambda x: x * max(Color, key=lambda c: c.value).value + x * x * list(Color)[-1].value,
    lambda x: sum(x * color.value for color in Color.__members__.values()),
    lambda x: sum(map(lambda color: x * color.value, Color)),
    lambda x: x if Color.ROJO in Color else x * x,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_members(f):
    x, h = 1.3, 1e-6
    expected = pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)
    assert ad.grad(f)(x) == expected
    assert ad.jvp(f, (x,), (1.0,))[1] == expected
