"""Rules of NumPy's element-wise functions."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import (
    case,
    constant,
    definition,
    elementwise,
    general,
    linear,
    no_derivative,
    or_zero,
    sample,
)
from adjoint.runtime.arithmetic.numbers import choose, divide, sqrt, times
from adjoint.runtime.array_functions.arrays import made_finite, unbroadcast
from adjoint.runtime.numerical_methods.special.bessel import modified, sinc_slope

LN2 = 0.6931471805599453
LN10 = 2.302585092994046
DEGREE = 0.017453292519943295
POSITIVE = (0.5, 2.0)
INSIDE = (-0.8, 0.8)

elementwise(np.exp, lambda x, y: y)
elementwise(np.expm1, lambda x, y: y + 1)
elementwise(np.exp2, lambda x, y: y * LN2)
elementwise(np.log, scaled=lambda ct, x, y: divide(ct, x), singular=True, domain=POSITIVE)
elementwise(np.log2, scaled=lambda ct, x, y: divide(ct, x * LN2), singular=True, domain=POSITIVE)
elementwise(np.log10, scaled=lambda ct, x, y: divide(ct, x * LN10), singular=True, domain=POSITIVE)
elementwise(np.log1p, scaled=lambda ct, x, y: divide(ct, 1 + x), singular=True, domain=(-0.5, 2.0))
elementwise(np.sqrt, scaled=lambda ct, x, y: divide(ct, 2 * y), singular=True, domain=POSITIVE)
elementwise(np.cbrt, scaled=lambda ct, x, y: divide(ct, 3 * y * y), singular=True, domain=POSITIVE)
elementwise(np.square, lambda x, y: 2 * x)
elementwise(np.reciprocal, scaled=lambda ct, x, y: divide(-ct, x * x), singular=True, domain=POSITIVE)
elementwise(np.sin, lambda x, y: np.cos(x))
elementwise(np.cos, lambda x, y: -np.sin(x))
elementwise(np.tan, lambda x, y: 1 + y * y, domain=(-1.0, 1.0))
elementwise(np.arcsin, scaled=lambda ct, x, y: divide(ct, sqrt(1 - x * x)), singular=True, domain=INSIDE)
elementwise(np.arccos, scaled=lambda ct, x, y: divide(-ct, sqrt(1 - x * x)), singular=True, domain=INSIDE)
elementwise(np.arctan, scaled=lambda ct, x, y: ct / (1 + x * x))
elementwise(np.sinh, lambda x, y: np.cosh(x))
elementwise(np.cosh, lambda x, y: np.sinh(x))
elementwise(np.tanh, lambda x, y: 1 - y * y)
elementwise(np.arcsinh, scaled=lambda ct, x, y: ct / np.sqrt(x * x + 1))
elementwise(np.arccosh, scaled=lambda ct, x, y: divide(ct, sqrt(x - 1) * sqrt(x + 1)), singular=True, domain=(1.2, 3.0))
elementwise(np.arctanh, scaled=lambda ct, x, y: divide(ct, 1 - x * x), singular=True, domain=INSIDE)
elementwise(
    np.arctan2,
    scaled=lambda ct, x1, x2, y: (divide(ct * x2, x1 * x1 + x2 * x2), divide(-ct * x1, x1 * x1 + x2 * x2)),
    singular=True,
    domain=(POSITIVE, (-2.0, 2.0)),
)
elementwise(
    np.hypot,
    scaled=lambda ct, x1, x2, y: (times(ct, divide(x1, y)), times(ct, divide(x2, y))),
    singular=True,
    domain=(0.5, 2.0),
)
elementwise(np.logaddexp, lambda x1, x2, y: (np.exp(x1 - y), np.exp(x2 - y)))
elementwise(np.logaddexp2, lambda x1, x2, y: (np.exp2(x1 - y), np.exp2(x2 - y)))
elementwise(np.deg2rad, lambda x, y: DEGREE)
elementwise(np.radians, lambda x, y: DEGREE)
elementwise(np.rad2deg, scaled=lambda ct, x, y: ct / DEGREE)
elementwise(np.degrees, scaled=lambda ct, x, y: ct / DEGREE)
elementwise(np.sinc, lambda x, y: sinc_slope(1, x))
elementwise(np.i0, lambda x, y: modified(1, x))
elementwise(np.copysign, lambda x1, x2, y: (np.sign(x1) * np.copysign(1.0, x2), 0), domain=(POSITIVE, POSITIVE))
elementwise(np.maximum, scaled=lambda ct, x1, x2, y: (choose(x1 >= x2, ct, 0.0), choose(x1 >= x2, 0.0, ct)))
elementwise(np.minimum, scaled=lambda ct, x1, x2, y: (choose(x1 <= x2, ct, 0.0), choose(x1 <= x2, 0.0, ct)))
elementwise(
    np.fmax,
    scaled=lambda ct, x1, x2, y: (
        choose((x1 >= x2) | np.isnan(x2), ct, 0.0),
        choose((x1 >= x2) | np.isnan(x2), 0.0, ct),
    ),
)
elementwise(
    np.fmin,
    scaled=lambda ct, x1, x2, y: (
        choose((x1 <= x2) | np.isnan(x2), ct, 0.0),
        choose((x1 <= x2) | np.isnan(x2), 0.0, ct),
    ),
)


def _inside(a, a_min, a_max):
    if a_min is None:
        return a <= a_max
    if a_max is None:
        return a >= a_min
    return (a >= a_min) & (a <= a_max)


def _cut_above(y, a, a_min, a_max):
    if a_min is None:
        return a > a_max
    return (y == a_max) & ((a > a_max) | (y < a_min))


def _clip_jvp(dots, y, a, a_min=None, a_max=None):
    if a_min is None and a_max is None:
        return dots[0]
    dot = choose(_inside(a, a_min, a_max), or_zero(dots[0]), 0.0)
    if a_min is not None and dots[1] is not None:
        dot = dot + choose((a < a_min) & (y == a_min), dots[1], 0.0)
    if a_max is not None and dots[2] is not None:
        dot = dot + choose(_cut_above(y, a, a_min, a_max), dots[2], 0.0)
    return dot


def _clip_vjp(ct, y, a, a_min=None, a_max=None):
    if a_min is None and a_max is None:
        return (ct, 0.0, 0.0)
    inside = choose(_inside(a, a_min, a_max), ct, 0.0)
    low = 0.0 if a_min is None else unbroadcast(choose((a < a_min) & (y == a_min), ct, 0.0), a_min)
    high = 0.0 if a_max is None else unbroadcast(choose(_cut_above(y, a, a_min, a_max), ct, 0.0), a_max)
    return (unbroadcast(inside, a), low, high)


general(
    np.clip,
    _clip_jvp,
    _clip_vjp,
    cases=[
        case(sample(2, 3), -0.5, 0.5),
        case(sample(2, 3), None, 0.5),
        case(sample(3), -0.5, None),
        case(sample(2, 3), sample(3), 0.8),
    ],
)
linear(
    np.where,
    lambda ct, condition, x, y: (
        unbroadcast(choose(condition, ct, 0.0), x),
        unbroadcast(choose(condition, 0.0, ct), y),
    ),
    wrt=(1, 2),
    arrays=("condition", "x", "y"),
    cases=[case(np.array([True, False, True]), sample(3), sample(2, 3)), case(np.array([True, False]), 1.5, sample(2))],
)
linear(
    np.real,
    lambda ct, val: unbroadcast(ct, val),
    view_of=0,
    cases=[case(sample(3)), case(sample(3, kind="complex"))],
)
linear(
    np.imag,
    lambda ct, val: unbroadcast(-1j * ct, val),
    view_of=0,
    cases=[case(sample(3)), case(sample(3, kind="complex"))],
)
linear(np.conjugate, lambda ct, x: np.conjugate(ct), cases=[case(sample(3)), case(sample(3, kind="complex"))])
general(
    np.ldexp,
    lambda dots, y, x1, x2: np.ldexp(dots[0], x2),
    lambda ct, y, x1, x2: (unbroadcast(np.ldexp(ct, x2), x1), None),
    cases=[case(sample(3), np.array([1, 2, 3]))],
)
general(
    np.modf,
    lambda dots, y, x: (dots[0], 0.0 * dots[0]),
    lambda ct, y, x: (ct[0],),
    results=2,
    cases=[case(sample(3))],
)
general(
    np.frexp,
    lambda dots, y, x: (np.ldexp(dots[0], -y[1]), None),
    lambda ct, y, x: (np.ldexp(ct[0], -y[1]),),
    results=2,
    cases=[case(sample(3, kind="positive")), case(1.3)],
)
definition(
    np.divmod,
    lambda x1, x2: (np.floor_divide(x1, x2), np.remainder(x1, x2)),
    cases=[case(np.array([5.3, -4.1, 7.7]), np.array([2.1, 1.3, -2.2])), case(np.array([5.3, 4.1]), 1.7)],
)


def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if copy or np.ndim(x) == 0:
        return made_finite(x, nan, posinf, neginf)
    x[...] = made_finite(x, nan, posinf, neginf)
    return x


definition(
    np.nan_to_num,
    _nan_to_num,
    cases=[
        case(sample(3)),
        case(np.array([1.0, np.nan, np.inf])),
        case(np.array([1.0, np.nan, -np.inf]), nan=2.0, neginf=-1.0),
        case(sample(3, kind="complex"), True, 1.0),
    ],
)


def _angle(z, deg=False):
    angle = np.arctan2(np.imag(z), np.real(z))
    return angle / DEGREE if deg else angle


definition(
    np.angle,
    _angle,
    cases=[case(sample(3, kind="complex")), case(sample(2, 2, kind="complex"), deg=True), case(sample(3))],
)

constant(np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.fix, np.sign, np.spacing, shape="sampled")
elementwise(np.heaviside, lambda x1, x2, y: (0, x1 == 0), domain=POSITIVE)
no_derivative(
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.equal,
    np.not_equal,
    np.logical_and,
    np.logical_or,
    np.logical_not,
    np.logical_xor,
    np.isnan,
    np.isinf,
    np.isneginf,
    np.isposinf,
    np.isfinite,
    np.isclose,
    np.allclose,
    np.array_equal,
    np.signbit,
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    np.isnat,
    np.invert,
    np.left_shift,
    np.right_shift,
    np.gcd,
    np.lcm,
    np.isin,
    np.iscomplexobj,
    np.isrealobj,
    np.iscomplex,
    np.isreal,
    np.array_equiv,
    np.min_scalar_type,
    np.isscalar,
)

# what these rules are made of

elementwise(
    modified,
    lambda n, x, y: (None, 0.5 * (modified(n - 1, x) + modified(n + 1, x))),
    cases=[case(0, 1.3), case(1, sample(3)), case(2, -0.7)],
)
elementwise(
    sinc_slope,
    lambda n, x, y: (None, sinc_slope(n + 1, x)),
    cases=[case(1, 0.3), case(1, sample(3)), case(2, np.array([0.0, 1.0, -2.7]))],
)
general(
    made_finite,
    lambda dots, y, x, nan, posinf, neginf: np.where(np.isfinite(x), dots[0], 0.0),
    lambda ct, y, x, nan, posinf, neginf: (unbroadcast(np.where(np.isfinite(x), ct, 0.0), x), None, None, None),
    fixed=(1, 2, 3),
    cases=[case(sample(3), 0.0, None, None), case(np.array([1.0, np.nan, np.inf]), 1.0, 2.0, None)],
)
