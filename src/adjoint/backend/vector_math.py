"""Mathematical functions that LLVM turns into vector code where they are called in loops.

Numba calls the C library for each number. These are polynomials with neither branches nor tables, accurate to two
units in the last place (``exp``, ``log``) or four, over the whole range, special values included.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, disable-error-code="no-untyped-call, misc"

from __future__ import annotations

import math

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic, overload

from adjoint.backend.vector_code import BIAS, ROUNDING, Code
from adjoint.runtime import vector_math

_LOG2_E = 1 / math.log(2)
_LN2_HIGH = 6.93147180369123816490e-01  # ends in zeros: its multiples are exact
_LN2_LOW = 1.90821492927058770002e-10
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


def _of_doubles(write):
    """The function that ``write`` writes, for what Numba may hand to it."""

    def typed(context, x):
        result = types.float32 if x == types.float32 else types.float64

        def generate(_, builder, signature, args):
            code = Code(builder)
            if result == types.float64:
                return write(code, args[0])
            wide = builder.fpext(args[0], ir.DoubleType())
            return builder.fptrunc(write(code, wide), ir.FloatType())

        return result(result), generate

    return typed


def _exponent_and_rest(code: Code, x):
    """``k`` and ``r`` with ``x = k log 2 + r`` and ``r`` at most half of ``log 2``."""
    whole = code.sub(code.mul_add(x, _LOG2_E, ROUNDING), ROUNDING)
    rest = code.mul_add(whole, -_LN2_HIGH, x)
    return whole, code.mul_add(whole, -_LN2_LOW, rest)


def _growth(code: Code, r):
    """``exp(r) - 1`` for a small ``r``."""
    return code.mul_add(code.mul(r, r), code.polynomial(r, _EXP_TAIL), r)


def _write_exp(code: Code, x):
    x = code.at_most(code.at_least(x, -746.0), 710.0)
    whole, rest = _exponent_and_rest(code, x)
    half = code.mul_add(whole, 0.5, ROUNDING)
    other = code.add(code.sub(whole, code.sub(half, ROUNDING)), ROUNDING)
    scaled = code.mul(code.add(_growth(code, rest), 1.0), code.power_of_two(half))
    return code.mul(scaled, code.power_of_two(other))  # rounds once, also where the result is subnormal


def _write_tanh(code: Code, x):
    size = code.at_most(code.magnitude(x), 22.0)
    whole, rest = _exponent_and_rest(code, code.mul(size, 2.0))
    scale = code.power_of_two(code.add(whole, ROUNDING))
    grown = code.mul_add(scale, _growth(code, rest), code.sub(scale, 1.0))
    return code.with_sign_of(code.div(grown, code.add(grown, 2.0)), x)


def _write_log(code: Code, x):
    is_small = code.less(x, _SMALLEST_NORMAL)
    word = code.bits(code.mul(x, code.choose(is_small, 2.0**54, 1.0)))
    distance = code.plus_word(code.minus_word(word, code.word(_ROOT_HALF_BITS)), code.word((BIAS + 1) << 52))
    exponent = code.shifted_right(distance, 52)
    whole = code.sub(code.small_integer(exponent), code.choose(is_small, BIAS + 1 + 54.0, BIAS + 1.0))
    steps = code.minus_word(code.masked(distance, 0xFFF << 52), code.word((BIAS + 1) << 52))
    part = code.sub(code.from_bits(code.minus_word(word, steps)), 1.0)
    ratio = code.div(part, code.add(part, 2.0))
    square = code.mul(ratio, ratio)
    half_square = code.mul(code.mul(part, part), 0.5)
    tail = code.mul(square, code.polynomial(square, _LOG_TAIL))
    correction = code.mul_add(ratio, code.add(half_square, tail), code.mul(whole, _LN2_LOW))
    found = code.sub(code.mul(whole, _LN2_HIGH), code.sub(code.sub(half_square, correction), part))
    found = code.choose(code.less(x, math.inf), found, x)  # infinite, or not a number
    found = code.choose(code.less(x, 0.0), math.nan, found)
    return code.choose(code.equal(x, 0.0), -math.inf, found)


@intrinsic
def exp(context, x):
    return _of_doubles(_write_exp)(context, x)


@intrinsic
def log(context, x):
    return _of_doubles(_write_log)(context, x)


@intrinsic
def tanh(context, x):
    return _of_doubles(_write_tanh)(context, x)


def _declare(function, own):
    @overload(function, jit_options={"forceinline": True})
    def declared(x):
        return (lambda x: own(x)) if isinstance(x, (types.Float, types.Integer)) else None


for _function, _own in (
    (vector_math.vector_exp, exp),
    (vector_math.vector_log, log),
    (vector_math.vector_tanh, tanh),
):
    _declare(_function, _own)
