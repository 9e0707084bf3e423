"""Rules of elliptic integrals and functions (DLMF 19.18, 19.25, 22.13), and of the arithmetic-geometric mean."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, elementwise, general, number, or_zero, sample
from adjoint.runtime.arithmetic.numbers import times
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.numerical_methods.special.elliptic import carlson_integral, elliptic_moment

POSITIVE = (0.5, 3.0)
HALF_PI = 1.5707963267948966
POINTS = sample(3, kind="positive")

# --- the symmetric integrals of Carlson -------------------------------------------------------------------------------

elementwise(
    carlson_integral,
    lambda p, q, r, s, x, y0, z, w, y: (
        None,
        None,
        None,
        None,
        -p * carlson_integral(p + 1, q, r, s, x, y0, z, w),
        -q * carlson_integral(p, q + 1, r, s, x, y0, z, w),
        -r * carlson_integral(p, q, r + 1, s, x, y0, z, w),
        -s * carlson_integral(p, q, r, s + 1, x, y0, z, w),
    ),
    cases=[
        case(0.5, 1.5, 0.5, 1.0, number(), number(), number(), number()),
        case(1.5, 0.5, 0.5, -1.0, POINTS, number(), POINTS, sample(2, 1, kind="positive")),
    ],
)
elementwise(
    special.elliprf,
    lambda x1, x2, x3, y: (
        special.elliprd(x2, x3, x1) / -6,
        special.elliprd(x1, x3, x2) / -6,
        special.elliprd(x1, x2, x3) / -6,
    ),
    domain=POSITIVE,
)
elementwise(
    special.elliprc,
    lambda x1, x2, y: (
        -0.25 * carlson_integral(1.5, 1.0, 0.0, 0.0, x1, x2, x2, x2),
        -0.5 * carlson_integral(0.5, 2.0, 0.0, 0.0, x1, x2, x2, x2),
    ),
    domain=POSITIVE,
)
elementwise(
    special.elliprd,
    lambda x1, x2, x3, y: (
        -0.75 * carlson_integral(1.5, 0.5, 1.5, 0.0, x1, x2, x3, x3),
        -0.75 * carlson_integral(0.5, 1.5, 1.5, 0.0, x1, x2, x3, x3),
        -2.25 * carlson_integral(0.5, 0.5, 2.5, 0.0, x1, x2, x3, x3),
    ),
    domain=POSITIVE,
)
elementwise(
    special.elliprg,
    lambda x1, x2, x3, y: (
        0.125 * carlson_integral(1.5, 0.5, 0.5, -1.0, x1, x2, x3, 0 * x1),
        0.125 * carlson_integral(0.5, 1.5, 0.5, -1.0, x1, x2, x3, 0 * x1),
        0.125 * carlson_integral(0.5, 0.5, 1.5, -1.0, x1, x2, x3, 0 * x1),
    ),
    domain=POSITIVE,
)
elementwise(
    special.elliprj,
    lambda x1, x2, x3, x4, y: (
        -0.75 * carlson_integral(1.5, 0.5, 0.5, 1.0, x1, x2, x3, x4),
        -0.75 * carlson_integral(0.5, 1.5, 0.5, 1.0, x1, x2, x3, x4),
        -0.75 * carlson_integral(0.5, 0.5, 1.5, 1.0, x1, x2, x3, x4),
        -1.5 * carlson_integral(0.5, 0.5, 0.5, 2.0, x1, x2, x3, x4),
    ),
    domain=POSITIVE,
)
elementwise(
    special.agm,
    lambda a, b, y: (_agm_slope(a, b, y), _agm_slope(b, a, y)),
    domain=POSITIVE,
)


def _agm_slope(a, b, y):
    return y * y * np.abs(a) * special.elliprd(0.0, b * b, a * a) / (3 * HALF_PI)


# --- the integrals of Legendre ----------------------------------------------------------------------------------------

elementwise(special.ellipk, scaled=lambda ct, m, y: times(ct, special.elliprd(0.0, 1.0, 1 - m) / 6), domain=(-2.0, 0.9))
elementwise(special.ellipkm1, scaled=lambda ct, p, y: times(ct, special.elliprd(0.0, 1.0, p) / -6), domain=POSITIVE)
elementwise(
    special.ellipe,
    scaled=lambda ct, m, y: times(ct, special.elliprd(0.0, 1 - m, 1.0) / -6),
    singular=True,
    domain=(-2.0, 0.9),
)
elementwise(
    elliptic_moment,
    lambda j, p, phi, m, y: (
        None,
        None,
        np.sin(phi) ** (2 * j) * np.power(1 - m * np.sin(phi) ** 2, p),
        -p * elliptic_moment(j + 1, p - 1, phi, m),
    ),
    cases=[case(1, -1.5, number(), 0.3), case(2, -0.5, sample(3), np.array([-1.5, 0.0, 0.9]))],
)
ANGLES = ((-4.0, 7.0), (-2.0, 0.9))
elementwise(
    special.ellipkinc,
    lambda phi, m, y: (1 / np.sqrt(1 - m * np.sin(phi) ** 2), 0.5 * elliptic_moment(1, -1.5, phi, m)),
    domain=ANGLES,
)
elementwise(
    special.ellipeinc,
    lambda phi, m, y: (np.sqrt(1 - m * np.sin(phi) ** 2), -0.5 * elliptic_moment(1, -0.5, phi, m)),
    domain=ANGLES,
)


# --- the functions of Jacobi ------------------------------------------------------------------------------------------


def _jacobi_jvp(dots, y, u, m):
    sn, cn, dn, ph = y
    u_dot, m_dot = or_zero(dots[0]), or_zero(dots[1])
    turned = dn * (u_dot - 0.5 * elliptic_moment(1, -1.5, ph, m) * m_dot)
    return (cn * turned, -sn * turned, -(0.5 * sn * sn * m_dot + m * sn * cn * turned) / dn, turned)


def _jacobi_vjp(ct, y, u, m):
    sn, cn, dn, ph = y
    turned = dn * (ct[0] * cn - ct[1] * sn - ct[2] * m * sn * cn / dn + ct[3])
    by_m = -0.5 * (elliptic_moment(1, -1.5, ph, m) * turned + ct[2] * sn * sn / dn)
    return (unbroadcast(turned, u), unbroadcast(by_m, m))


general(
    special.ellipj,
    _jacobi_jvp,
    _jacobi_vjp,
    results=4,
    cases=[case(number(), 0.3), case(sample(3), np.array([0.1, 0.5, 0.9])), case(sample(2, 1), np.array([0.2, 0.7]))],
)
