"""Powers as vector code: the logarithm and its product with the exponent have twice the digits of a double."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from adjoint.native.vectors.code import SIGN
from adjoint.native.vectors.exponentials import LN2_HIGH, LN2_LOW, exponent_and_part, exponent_and_rest, growth, scaled

if TYPE_CHECKING:
    from adjoint.native.vectors.code import Code

_TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
_LOG_TAIL = (  # 2 * (atanh(s) / s - 1 - s**2 / 3) / s**4 in s**2, for s up to that of the root of two
    0.4, 0.28571428571428564, 0.22222222222228444, 0.18181818179652515, 0.1538461576181261, 0.13333296483973292,
    0.11766815303406082, 0.10456278375778207, 0.10762867423643212,
)  # fmt: skip
_FARTHEST = 2.0**65
"""An exponent of which each power is 0, 1 or infinite."""
_BEYOND = 760.0
"""A logarithm that no double has."""


def write_power(code: Code, x, y):
    size = code.magnitude(x)
    bounded = code.at_most(code.at_least(y, -_FARTHEST), _FARTHEST)
    found = _power_of_positive(code, size, bounded)
    shrinks = code.less(y, 0.0)
    found = code.choose(code.equal(size, 0.0), code.choose(shrinks, math.inf, 0.0), found)
    found = code.choose(code.equal(size, math.inf), code.choose(shrinks, 0.0, math.inf), found)
    are_numbers = code.both(code.equal(x, x), code.equal(y, y))
    found = code.choose(are_numbers, found, math.nan)
    is_whole, is_odd = _kind_of_exponent(code, code.magnitude(y))
    is_outside = code.unless(is_whole, code.both(code.less(x, 0.0), code.less(-math.inf, x)))
    found = code.choose(is_outside, math.nan, found)
    odd = code.from_bits(code.differing(code.bits(found), code.masked(code.bits(x), SIGN)))
    found = code.choose(is_odd, odd, found)
    return code.choose(code.either(code.equal(x, 1.0), code.equal(y, 0.0)), 1.0, found)


def _kind_of_exponent(code: Code, size):
    """Whether a number is whole, and whether it is odd."""
    shift = 2.0**52
    short = code.at_most(size, shift)
    is_whole = code.equal(code.sub(code.add(short, shift), shift), short)
    half = code.mul(code.at_most(size, 2 * shift), 0.5)
    is_even = code.equal(code.sub(code.add(half, shift), shift), half)
    return is_whole, code.unless(is_even, is_whole)


def _power_of_positive(code: Code, x, y):
    log_high, log_low = _long_log(code, x)
    high, low = code.two_product(y, log_high)
    low = code.mul_add(y, log_low, low)
    near = code.at_most(code.at_least(high, -_BEYOND), _BEYOND)
    low = code.choose(code.equal(near, high), low, 0.0)
    whole, rest = exponent_and_rest(code, near, low)
    return scaled(code, code.add(growth(code, rest), 1.0), whole)


def _long_log(code: Code, x):
    """The logarithm of a positive number in two parts."""
    whole, near_one = exponent_and_part(code, x)
    ratio, ratio_low = _long_ratio(code, near_one)
    square, lost = code.two_product(ratio, ratio)
    square_low = code.mul_add(code.mul(ratio, 2.0), ratio_low, lost)
    factor, factor_low = code.ordered_two_sum(_TWO_THIRDS[0], code.mul(square, code.polynomial(square, _LOG_TAIL)))
    factor_low = code.add(factor_low, _TWO_THIRDS[1])
    tail, lost = code.two_product(square, factor)
    tail_low = code.mul_add(square_low, factor, code.mul_add(square, factor_low, lost))
    slope, slope_low = code.ordered_two_sum(2.0, tail)
    part, lost = code.two_product(ratio, slope)
    part_low = code.mul_add(ratio_low, slope, code.mul_add(ratio, code.add(slope_low, tail_low), lost))
    high, lost = code.ordered_two_sum(code.mul(whole, LN2_HIGH), part)
    return code.ordered_two_sum(high, code.add(lost, code.mul_add(whole, LN2_LOW, part_low)))


def _long_ratio(code: Code, x):
    """``(x - 1) / (x + 1)`` in two parts."""
    above = code.sub(x, 1.0)
    below = code.add(x, 1.0)
    below_low = code.sub(x, code.sub(below, 1.0))
    inverse = code.div(1.0, below)
    ratio = code.mul(above, inverse)
    product, lost = code.two_product(ratio, below)
    rest = code.sub(code.sub(above, product), code.mul_add(ratio, below_low, lost))
    return ratio, code.mul(rest, inverse)
