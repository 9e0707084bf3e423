"""Rules of the module ``math``."""

# mypy: allow-untyped-defs, allow-untyped-calls

import _statistics  # type: ignore[import-not-found]
import math

import numpy as np

from adjoint.rules.declare import (
    case,
    constant,
    definition,
    elementwise,
    general,
    linear,
    no_derivative,
    number,
    or_zero,
    sample,
)
from adjoint.rules.python.operators import power_of_constant, power_of_number
from adjoint.runtime.arithmetic.numbers import divide, exact_sum, polygamma, sign, times
from adjoint.runtime.array_functions.arrays import spread

LN2 = 0.6931471805599453
LN10 = 2.302585092994046
TWO_BY_ROOT_PI = 1.1283791670955126
ROOT_TWO_PI = 2.5066282746310002
DEGREE = 0.017453292519943295

elementwise(math.exp, lambda x, y: y)
elementwise(math.expm1, lambda x, y: y + 1)
if hasattr(math, "exp2"):
    elementwise(math.exp2, lambda x, y: y * LN2)
    elementwise(math.cbrt, scaled=lambda ct, x, y: divide(ct, 3 * y * y), singular=True, domain=(0.5, 2))
elementwise(math.log2, scaled=lambda ct, x, y: ct / (x * LN2), domain=(0.5, 2))
elementwise(math.log10, scaled=lambda ct, x, y: ct / (x * LN10), domain=(0.5, 2))
elementwise(math.log1p, scaled=lambda ct, x, y: ct / (1 + x), domain=(-0.5, 2))
elementwise(math.sqrt, scaled=lambda ct, x, y: divide(ct, 2 * y), singular=True, domain=(0.5, 2))
elementwise(math.sin, lambda x, y: math.cos(x))
elementwise(math.cos, lambda x, y: -math.sin(x))
elementwise(math.tan, lambda x, y: 1 + y * y, domain=(-1, 1))
elementwise(math.asin, scaled=lambda ct, x, y: divide(ct, math.sqrt(1 - x * x)), singular=True, domain=(-0.8, 0.8))
elementwise(math.acos, scaled=lambda ct, x, y: divide(-ct, math.sqrt(1 - x * x)), singular=True, domain=(-0.8, 0.8))
elementwise(math.atan, scaled=lambda ct, x, y: ct / (1 + x * x))
elementwise(math.sinh, lambda x, y: math.cosh(x))
elementwise(math.cosh, lambda x, y: math.sinh(x))
elementwise(math.tanh, lambda x, y: 1 - y * y)
elementwise(math.asinh, scaled=lambda ct, x, y: ct / math.sqrt(x * x + 1))
elementwise(math.acosh, scaled=lambda ct, x, y: divide(ct, math.sqrt(x * x - 1)), singular=True, domain=(1.2, 3))
elementwise(math.atanh, scaled=lambda ct, x, y: ct / (1 - x * x), domain=(-0.8, 0.8))
elementwise(
    math.pow,
    scaled=power_of_number,
    singular=True,
    domain=((0.5, 2), (-2, 2)),
    by_constants=power_of_constant,
)
elementwise(
    math.atan2,
    scaled=lambda ct, a, b, y: (divide(ct * b, a * a + b * b), divide(-ct * a, a * a + b * b)),
    singular=True,
    domain=((0.5, 2), (-2, 2)),
)
elementwise(math.erf, lambda x, y: TWO_BY_ROOT_PI * math.exp(-x * x))
elementwise(math.erfc, lambda x, y: -TWO_BY_ROOT_PI * math.exp(-x * x))
elementwise(math.gamma, lambda x, y: y * polygamma(0, x), domain=(0.5, 4))
elementwise(math.lgamma, lambda x, y: polygamma(0, x), domain=(0.5, 4))
elementwise(
    _statistics._normal_dist_inv_cdf,
    scaled=lambda ct, p, mu, sigma, y: (
        ct * sigma * ROOT_TWO_PI * math.exp(0.5 * ((y - mu) / sigma) ** 2),
        ct,
        ct * (y - mu) / sigma,
    ),
    domain=((0.1, 0.9), (-2, 2), (0.5, 2)),
)
elementwise(math.fabs, lambda x, y: sign(x))
elementwise(math.copysign, lambda a, b, y: (sign(a) * math.copysign(1.0, b), 0), domain=((0.5, 2), (0.5, 2)))
elementwise(math.fmod, lambda a, b, y: (1, -math.trunc(a / b)), domain=((1.1, 1.9), (0.6, 0.9)))
elementwise(math.remainder, lambda a, b, y: (1, -round((a - y) / b)), domain=((1.1, 1.2), (0.9, 1.0)))
elementwise(math.degrees, scaled=lambda ct, x, y: ct / DEGREE)
elementwise(math.radians, lambda x, y: DEGREE)


def _log_jvp(dots, y, x, base=None):
    if base is None:
        return dots[0] / x
    if dots[1] is None:  # of a whole number
        return dots[0] / (x * math.log(base))
    if dots[0] is None:
        return -times(dots[1], y / base) / math.log(base)
    return (dots[0] / x - times(dots[1], y / base)) / math.log(base)


def _log_vjp(ct, y, x, base=None):
    if base is None:
        return (ct / x,)
    return (ct / (x * math.log(base)), -ct * y / (base * math.log(base)))


general(
    math.log,
    _log_jvp,
    _log_vjp,
    cases=[case(number("positive")), case(number("positive"), 3.0), case(number("positive"), number("positive"))],
)


def _hypot_jvp(dots, y, *xs):
    total = 0.0
    for dot, x in zip(dots, xs):  # noqa: B905
        if dot is not None:  # of a whole number
            total = total + times(dot, divide(x, y))
    return total


general(
    math.hypot,
    _hypot_jvp,
    lambda ct, y, *xs: tuple([times(ct, divide(x, y)) for x in xs]),
    cases=[case(number()), case(number(), number()), case(number(), number(), number())],
)
linear(math.ldexp, lambda ct, x, i: math.ldexp(ct, i), cases=[case(number(), 3)])
general(
    math.modf,
    lambda dots, y, x: (dots[0], 0.0),
    lambda ct, y, x: (ct[0],),
    results=2,
    cases=[case(1.3), case(-2.4)],
)
general(
    math.frexp,
    lambda dots, y, x: (math.ldexp(dots[0], -y[1]), None),
    lambda ct, y, x: (math.ldexp(ct[0], -y[1]),),
    results=2,
    cases=[case(1.3), case(5.4)],
)
if hasattr(math, "fma"):
    general(
        math.fma,
        lambda dots, y, a, b, c: or_zero(dots[0]) * b + a * or_zero(dots[1]) + or_zero(dots[2]),
        lambda ct, y, a, b, c: (ct * b, ct * a, ct),
        cases=[case(number(), number(), number())],
    )

constant(math.floor, math.ceil, math.trunc, math.ulp)
no_derivative(
    math.isnan,
    math.isinf,
    math.isfinite,
    math.isclose,
    math.gcd,
    math.lcm,
    math.factorial,
    math.comb,
    math.perm,
    math.isqrt,
)


linear(exact_sum, lambda ct, a: spread(ct, a), cases=[case(sample(4))])


def _dist(p, q):
    return math.sqrt(math.fsum([(a - b) ** 2 for a, b in zip(p, q)]))  # noqa: B905


def _fsum(seq):
    return exact_sum(seq if isinstance(seq, np.ndarray) else np.array(list(seq)))


def _prod(iterable, *, start=1):
    product = start
    for x in iterable:
        product = product * x
    return product


def _sumprod(p, q):
    return math.fsum([a * b for a, b in zip(p, q)])  # noqa: B905


definition(math.dist, _dist, cases=[case([1.0, 2.5], [0.5, -1.0])])
definition(math.fsum, _fsum, cases=[case([1.0, 2.5, -3.25])])
definition(math.prod, _prod, cases=[case([1.5, 2.5, -3.0]), case([1.5, 2.0], start=2.0)])
if hasattr(math, "sumprod"):
    definition(math.sumprod, _sumprod, cases=[case([1.0, 2.5], [0.5, -1.0])])
