"""The exponential function, the natural logarithm and the hyperbolic tangent as vector code."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from adjoint.native.vectors.code import BIAS, ROUNDING

if TYPE_CHECKING:
    from adjoint.native.vectors.code import Code

_LOG2_E = 1 / math.log(2)
LN2_HIGH = 6.93147180369123816490e-01  # ends in zeros: its multiples are exact
LN2_LOW = 1.90821492927058770002e-10
_EXP_TAIL = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326136, 0.0013888888888883748, 0.00019841269874820627,
    2.4801587325547743e-05, 2.7557255400206422e-06, 2.75572736431103e-07, 2.5105217004720745e-08,
    2.0914686968086876e-09,
)  # fmt: skip
_LOG_TAIL = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
_SMALLEST_NORMAL = 2.0**-1022
_ROOT_HALF_BITS = 0x3FE6A09E667F3BCD


def exponent_and_rest(code: Code, x, low=0.0):
    """``k`` and ``r`` with ``x + low = k log 2 + r`` and ``r`` at most half of ``log 2``."""
    whole = code.sub(code.mul_add(x, _LOG2_E, ROUNDING), ROUNDING)
    rest = code.mul_add(whole, -LN2_HIGH, x)
    return whole, code.add(rest, code.mul_add(whole, -LN2_LOW, low))


def growth(code: Code, r):
    """``exp(r) - 1`` for a small ``r``."""
    return code.mul_add(code.mul(r, r), code.polynomial(r, _EXP_TAIL), r)


def exponent_and_part(code: Code, x):
    """``k`` and ``m`` with ``x = 2**k m`` for a positive ``x``; ``m`` is between the roots of a half and of two."""
    is_small = code.less(x, _SMALLEST_NORMAL)
    word = code.bits(code.mul(x, code.choose(is_small, 2.0**54, 1.0)))
    distance = code.plus_word(code.minus_word(word, code.word(_ROOT_HALF_BITS)), code.word((BIAS + 1) << 52))
    exponent = code.shifted_right(distance, 52)
    whole = code.sub(code.small_integer(exponent), code.choose(is_small, BIAS + 1 + 54.0, BIAS + 1.0))
    steps = code.minus_word(code.masked(distance, 0xFFF << 52), code.word((BIAS + 1) << 52))
    return whole, code.from_bits(code.minus_word(word, steps))


def scaled(code: Code, x, whole):
    """``2**whole x``, rounded once, also where that is subnormal."""
    half = code.mul_add(whole, 0.5, ROUNDING)
    other = code.add(code.sub(whole, code.sub(half, ROUNDING)), ROUNDING)
    return code.mul(code.mul(x, code.power_of_two(half)), code.power_of_two(other))


def write_exp(code: Code, x):
    whole, rest = exponent_and_rest(code, code.at_most(code.at_least(x, -746.0), 710.0))
    return scaled(code, code.add(growth(code, rest), 1.0), whole)


def write_tanh(code: Code, x):
    size = code.at_most(code.magnitude(x), 22.0)
    whole, rest = exponent_and_rest(code, code.mul(size, 2.0))
    scale = code.power_of_two(code.add(whole, ROUNDING))
    grown = code.mul_add(scale, growth(code, rest), code.sub(scale, 1.0))
    return code.with_sign_of(code.div(grown, code.add(grown, 2.0)), x)


def write_log(code: Code, x):
    whole, near_one = exponent_and_part(code, x)
    part = code.sub(near_one, 1.0)
    ratio = code.div(part, code.add(part, 2.0))
    square = code.mul(ratio, ratio)
    half_square = code.mul(code.mul(part, part), 0.5)
    tail = code.mul(square, code.polynomial(square, _LOG_TAIL))
    correction = code.mul_add(ratio, code.add(half_square, tail), code.mul(whole, LN2_LOW))
    found = code.sub(code.mul(whole, LN2_HIGH), code.sub(code.sub(half_square, correction), part))
    found = code.choose(code.less(x, math.inf), found, x)  # infinite, or not a number
    found = code.choose(code.less(x, 0.0), math.nan, found)
    return code.choose(code.equal(x, 0.0), -math.inf, found)
