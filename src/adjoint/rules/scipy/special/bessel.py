"""Rules of Bessel functions and their relatives; derivatives by orders are integrals, or orders are taken as given."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, definition, elementwise, general, number, sample
from adjoint.rules.scipy.special.several_results import of_last_argument, of_one_argument
from adjoint.runtime.arithmetic.numbers import is_real, sign
from adjoint.runtime.array_functions.arrays import match, unbroadcast
from adjoint.runtime.numerical_methods.special.bessel_orders import (
    iv_slope,
    ive_slope,
    jv_slope,
    kv_slope,
    kve_slope,
    yv_slope,
)


def _is_of_reals(z):
    """Whether no element is complex; of what nobody looked at, that is seen when it runs."""
    return is_real(z) or not np.iscomplexobj(z)


POSITIVE = (0.5, 3.0)
ROOT_PI = 1.772453850905516

ORDERS = [case(order, argument) for order in (0, 1, 2.5) for argument in (number(), sample(3, kind="positive"))]
WHOLE_ORDERS = ORDERS[:4]
ORDER_SLOPES = [case(1, 0.5, number()), case(2, 2.5, sample(3, kind="positive"))]
elementwise(
    special.jv,
    lambda v, z, y: (jv_slope(1, v, z), 0.5 * (special.jv(v - 1, z) - special.jv(v + 1, z))),
    cases=ORDERS,
)
elementwise(
    jv_slope,
    lambda n, v, z, y: (None, jv_slope(n + 1, v, z), 0.5 * (jv_slope(n, v - 1, z) - jv_slope(n, v + 1, z))),
    cases=ORDER_SLOPES,
)
elementwise(
    special.yv,
    lambda v, z, y: (yv_slope(1, v, z), 0.5 * (special.yv(v - 1, z) - special.yv(v + 1, z))),
    cases=ORDERS,
)
elementwise(
    yv_slope,
    lambda n, v, z, y: (None, yv_slope(n + 1, v, z), 0.5 * (yv_slope(n, v - 1, z) - yv_slope(n, v + 1, z))),
    cases=ORDER_SLOPES,
)
elementwise(
    special.iv,
    lambda v, z, y: (iv_slope(1, v, z), 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z))),
    cases=ORDERS,
)
elementwise(
    iv_slope,
    lambda n, v, z, y: (None, iv_slope(n + 1, v, z), 0.5 * (iv_slope(n, v - 1, z) + iv_slope(n, v + 1, z))),
    cases=ORDER_SLOPES,
)
elementwise(
    special.kv,
    lambda v, z, y: (kv_slope(1, v, z), -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z))),
    cases=ORDERS,
)
elementwise(
    kv_slope,
    lambda n, v, z, y: (None, kv_slope(n + 1, v, z), -0.5 * (kv_slope(n, v - 1, z) + kv_slope(n, v + 1, z))),
    cases=ORDER_SLOPES,
)
elementwise(
    special.yn,
    lambda n, x, y: (None, 0.5 * (special.yv(n - 1, x) - special.yv(n + 1, x))),
    fixed=(0,),
    cases=WHOLE_ORDERS,
)
elementwise(
    special.kn,
    lambda n, x, y: (None, -0.5 * (special.kv(n - 1, x) + special.kv(n + 1, x))),
    fixed=(0,),
    cases=WHOLE_ORDERS,
)
elementwise(
    special.ive,
    lambda v, z, y: (
        ive_slope(1, v, z),
        0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - (sign(z) if _is_of_reals(z) else np.nan) * y,
    ),
    cases=ORDERS,
)
elementwise(
    ive_slope,
    lambda n, v, z, y: (
        None,
        ive_slope(n + 1, v, z),
        0.5 * (ive_slope(n, v - 1, z) + ive_slope(n, v + 1, z)) - y,
    ),
    cases=ORDER_SLOPES,
)
elementwise(special.j0, lambda x, y: -special.j1(x))
elementwise(special.j1, lambda x, y: 0.5 * (special.j0(x) - special.jv(2, x)))
elementwise(special.y0, lambda x, y: -special.y1(x), domain=POSITIVE)
elementwise(special.y1, lambda x, y: 0.5 * (special.y0(x) - special.yv(2, x)), domain=POSITIVE)
elementwise(special.i0, lambda x, y: special.i1(x))
elementwise(special.i1, lambda x, y: 0.5 * (special.i0(x) + special.iv(2, x)))
elementwise(special.i0e, lambda x, y: special.i1e(x) - sign(x) * y)
elementwise(special.i1e, lambda x, y: 0.5 * (special.i0e(x) + special.ive(2, x)) - sign(x) * y)
elementwise(special.k0, lambda x, y: -special.k1(x), domain=POSITIVE)
elementwise(special.k1, lambda x, y: -0.5 * (special.k0(x) + special.kv(2, x)), domain=POSITIVE)
elementwise(special.k0e, lambda x, y: y - special.k1e(x), domain=POSITIVE)
elementwise(special.k1e, lambda x, y: y - 0.5 * (special.k0e(x) + special.kve(2, x)), domain=POSITIVE)

# --- scaled functions, and those of the third kind --------------------------------------------------------------------

COMPLEX = [case(order, argument) for order in (1, 2.5) for argument in (number(), sample(3, kind="complex"))]
elementwise(
    special.jve,
    lambda v, z, y: (
        jv_slope(1, v, z) if _is_of_reals(z) else y * np.nan,
        0.5 * (special.jve(v - 1, z) - special.jve(v + 1, z)) if _is_of_reals(z) else y * np.nan,
    ),
    cases=ORDERS,
)
elementwise(
    special.yve,
    lambda v, z, y: (
        yv_slope(1, v, z) if _is_of_reals(z) else y * np.nan,
        0.5 * (special.yve(v - 1, z) - special.yve(v + 1, z)) if _is_of_reals(z) else y * np.nan,
    ),
    cases=ORDERS,
)
elementwise(
    special.kve,
    lambda v, z, y: (kve_slope(1, v, z), y - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z))),
    cases=ORDERS,
)
elementwise(
    kve_slope,
    lambda n, v, z, y: (None, kve_slope(n + 1, v, z), y - 0.5 * (kve_slope(n, v - 1, z) + kve_slope(n, v + 1, z))),
    cases=ORDER_SLOPES,
)
elementwise(
    special.hankel1,
    lambda v, z, y: (None, 0.5 * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z))),
    fixed=(0,),
    cases=COMPLEX,
)
elementwise(
    special.hankel2,
    lambda v, z, y: (None, 0.5 * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z))),
    fixed=(0,),
    cases=COMPLEX,
)
elementwise(
    special.hankel1e,
    lambda v, z, y: (None, 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * y),
    fixed=(0,),
    cases=COMPLEX,
)
elementwise(
    special.hankel2e,
    lambda v, z, y: (None, 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * y),
    fixed=(0,),
    cases=COMPLEX,
)

# --- derivatives that SciPy computes ----------------------------------------------------------------------------------


def _declare_slope(fn):
    general(
        fn,
        lambda dots, y, v, z, n=1: dots[1] * fn(v, z, n + 1),
        lambda ct, y, v, z, n=1: (None, unbroadcast(ct * fn(v, z, n + 1), z)),
        fixed=(0,),
        cases=[case(1, number()), case(0.5, sample(3, kind="positive"), 2), case(1, number(), 0)],
    )


for function in (special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp):
    _declare_slope(function)

# --- spherical functions (DLMF 10.51) ---------------------------------------------------------------------------------


def _neighbours(fn, n, z, sign):
    return (n * fn(np.maximum(n - 1, 0), z) + sign * (n + 1) * fn(n + 1, z)) / (2 * n + 1)


def _declare_spherical(fn, slope, cases):
    """By its neighbours: ``slope(n, z)``, which is what ``derivative=True`` asks for, too."""
    elementwise(fn, lambda n, z, y: (None, slope(n, z)), fixed=(0,), cases=cases)
    definition(
        fn,
        lambda n, z, derivative=False: slope(n, z),
        when=lambda given: given.get("derivative", False) is True,
        arrays=("z",),
        cases=[case(*call.args, derivative=True) for call in cases],
    )


SPHERICAL = [case(n, at) for n in (0, 1, 3) for at in (number(), sample(3, kind="positive"))]
_declare_spherical(special.spherical_jn, lambda n, z: _neighbours(special.spherical_jn, n, z, -1), SPHERICAL)
_declare_spherical(special.spherical_yn, lambda n, z: _neighbours(special.spherical_yn, n, z, -1), SPHERICAL)
_declare_spherical(special.spherical_in, lambda n, z: _neighbours(special.spherical_in, n, z, 1), SPHERICAL)
_declare_spherical(special.spherical_kn, lambda n, z: -_neighbours(special.spherical_kn, n, z, 1), SPHERICAL)

# --- functions of Struve (DLMF 11.4), Kelvin (10.61) and Airy (9.2) ---------------------------------------------------


def _first_term(v, x):
    return np.power(0.5 * x, v) * special.rgamma(v + 1.5) / ROOT_PI


elementwise(
    special.struve,
    lambda v, x, y: (None, 0.5 * (special.struve(v - 1, x) - special.struve(v + 1, x) + _first_term(v, x))),
    fixed=(0,),
    cases=ORDERS,
)
elementwise(
    special.modstruve,
    lambda v, x, y: (None, 0.5 * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + _first_term(v, x))),
    fixed=(0,),
    cases=ORDERS,
)
OF_BER = -0.7071067811865476 + 0.7071067811865476j
OF_KER = 0.7071067811865476 + 0.7071067811865476j


def _first_kind(x):
    return 0.5 * (special.jv(0, OF_BER * x) - special.jv(2, OF_BER * x))


def _second_kind(x):
    return 0.5 * (special.kv(0, OF_KER * x) + special.kv(2, OF_KER * x))


elementwise(special.ber, lambda x, y: special.berp(x))
elementwise(special.bei, lambda x, y: special.beip(x))
elementwise(special.ker, lambda x, y: special.kerp(x), domain=POSITIVE)
elementwise(special.kei, lambda x, y: special.keip(x), domain=POSITIVE)
elementwise(special.berp, lambda x, y: -np.imag(_first_kind(x)))
elementwise(special.beip, lambda x, y: np.real(_first_kind(x)))
elementwise(special.kerp, lambda x, y: -np.imag(_second_kind(x)), domain=POSITIVE)
elementwise(special.keip, lambda x, y: np.real(_second_kind(x)), domain=POSITIVE)


def _kelvin(x):
    return (
        special.ber(x) + 1j * special.bei(x),
        special.ker(x) + 1j * special.kei(x),
        special.berp(x) + 1j * special.beip(x),
        special.kerp(x) + 1j * special.keip(x),
    )


definition(special.kelvin, _kelvin, cases=[case(number()), case(sample(3, kind="positive"))])
LINES = [case(number()), case(sample(3))]
HALF_LINES = [case(number()), case(sample(3, kind="positive"))]
of_one_argument(
    special.airy,
    lambda x, y: (y[1], x * y[0], y[3], x * y[2]),
    results=4,
    cases=[*LINES, case(sample(3, kind="complex"))],
)


def _scaled_airy(x, y):
    root = np.sqrt(x) if _is_of_reals(x) else x * np.nan
    return (y[1] + root * y[0], x * y[0] + root * y[1], y[3] - root * y[2], x * y[2] - root * y[3])


of_one_argument(special.airye, _scaled_airy, results=4, cases=HALF_LINES)

# --- integrals of these -----------------------------------------------------------------------------------------------


def _of_airy(x, y):
    ahead, behind = special.airy(x), special.airy(-x)
    return (ahead[0], ahead[2], behind[0], behind[2])


of_one_argument(special.itairy, _of_airy, results=4, cases=HALF_LINES)
of_one_argument(special.itj0y0, lambda x, y: (special.j0(x), special.y0(x)), results=2, cases=HALF_LINES)
of_one_argument(special.iti0k0, lambda x, y: (special.i0(x), special.k0(x)), results=2, cases=HALF_LINES)
elementwise(special.itstruve0, lambda x, y: match(special.struve(0, x), x), domain=POSITIVE)
elementwise(special.itmodstruve0, lambda x, y: match(special.modstruve(0, x), x), domain=POSITIVE)

# --- functions that solve other equations -----------------------------------------------------------------------------

WITH_ORDER = [case(0.5, number()), case(1.5, sample(3))]
of_last_argument(special.pbdv, lambda v, x, y: (y[1], (0.25 * x * x - v - 0.5) * y[0]), results=2, cases=WITH_ORDER)
of_last_argument(special.pbvv, lambda v, x, y: (y[1], (0.25 * x * x - v - 0.5) * y[0]), results=2, cases=WITH_ORDER)
of_last_argument(special.pbwa, lambda a, x, y: (y[1], (a - 0.25 * x * x) * y[0]), results=2, cases=WITH_ORDER)
