"""Sine and cosine as vector code.

What is left of an argument without multiples of a quarter turn is found by subtracting these in parts. That goes as far
as the products with the parts are exact; beyond, the C library is asked, for these numbers only.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from adjoint.native.vectors.code import ROUNDING, SIGN

if TYPE_CHECKING:
    from adjoint.native.vectors.code import Code

_FARTHEST = 2.0**20
_QUARTERS = 2 / math.pi
_QUARTER_PARTS = (  # of pi / 2, with 33 digits each, but for the last
    float.fromhex("0x1.921fb54400000p+0"),
    float.fromhex("0x1.0b4611a600000p-34"),
    float.fromhex("0x1.3198a2e000000p-69"),
    float.fromhex("0x1.b839a252049c1p-104"),
)
_SIN_TAIL = (  # (sin(r) - r) / r**3 in r**2, up to pi / 4
    -0.16666666666666666, 0.008333333333330948, -0.00019841269836756774, 2.7557316101617874e-06, -2.505113165023518e-08,
    1.5918115263265974e-10,
)  # fmt: skip
_COS_TAIL = (  # (cos(r) - 1 + r**2 / 2) / r**4 in r**2
    0.041666666666666664, -0.0013888888888887398, 2.480158729876456e-05, -2.7557317271145144e-07, 2.087614614655861e-09,
    -1.1382623647474604e-11,
)  # fmt: skip


def write_sin(code: Code, x):
    quarters, sine, cosine = _turned(code, code.magnitude(x))
    found = code.choose(code.has_bits(quarters, 1), cosine, sine)
    turned = code.differing(_sign_of_half_turns(code, quarters), code.masked(code.bits(x), SIGN))
    return code.where_large("sin", _FARTHEST, x, _with_sign(code, found, turned))


def write_cos(code: Code, x):
    quarters, sine, cosine = _turned(code, code.magnitude(x))
    found = code.choose(code.has_bits(quarters, 1), sine, cosine)
    turned = _sign_of_half_turns(code, code.plus_word(quarters, code.word(1)))
    return code.where_large("cos", _FARTHEST, x, _with_sign(code, found, turned))


def _sign_of_half_turns(code: Code, quarters):
    return code.masked(code.shifted_left(quarters, 62), SIGN)


def _with_sign(code: Code, x, sign):
    return code.from_bits(code.differing(code.bits(x), sign))


def _turned(code: Code, x):
    """How many quarter turns are in an angle, in the lowest bits of a word; sine and cosine of what is left."""
    rounded = code.mul_add(x, _QUARTERS, ROUNDING)
    count = code.sub(rounded, ROUNDING)
    first, second, third, fourth = _QUARTER_PARTS
    high = code.sub(x, code.mul(count, first))
    high, lost = code.two_sum(high, code.negated(code.mul(count, second)))
    high, more = code.two_sum(high, code.negated(code.mul(count, third)))
    low = code.sub(code.add(lost, more), code.mul(count, fourth))
    high, low = code.ordered_two_sum(high, low)
    square = code.mul(high, high)
    return code.bits(rounded), _sine(code, high, low, square), _cosine(code, high, low, square)


def _sine(code: Code, high, low, square):
    cubic = code.mul(code.mul(high, square), code.polynomial(square, _SIN_TAIL))
    return code.add(high, code.add(cubic, code.mul(low, code.mul_add(square, -0.5, 1.0))))


def _cosine(code: Code, high, low, square):
    half = code.mul(square, 0.5)
    start = code.sub(1.0, half)
    lost = code.sub(code.sub(1.0, start), half)
    tail = code.mul(code.mul(square, square), code.polynomial(square, _COS_TAIL))
    return code.add(start, code.add(lost, code.sub(tail, code.mul(high, low))))
