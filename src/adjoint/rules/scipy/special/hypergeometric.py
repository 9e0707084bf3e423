"""Rules of hypergeometric functions, exponential and trigonometric integrals, zeta functions and their relatives."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, definition, elementwise, number, sample
from adjoint.rules.scipy.special.several_results import of_one_argument
from adjoint.runtime.arithmetic.numbers import divide, times
from adjoint.runtime.array_functions.arrays import match
from adjoint.runtime.numerical_methods.special.hypergeometric import (
    confluent_limit_slope,
    confluent_slope,
    gauss_slope,
)
from adjoint.runtime.numerical_methods.special.zeta import zeta_slope

POSITIVE = (0.5, 3.0)
POINTS = sample(3, kind="positive")
UNITY = np.array([-2.5, 0.0, 0.6])

# --- hypergeometric functions (DLMF 13.3, 15.5, 16.3) -----------------------------------------------------------------

elementwise(
    special.hyp0f1,
    lambda v, z, y: (confluent_limit_slope(1, 0, v, z), special.hyp0f1(v + 1.0, z) / v),
    cases=[case(1.5, number()), case(0.3, UNITY), case(2, sample(2, kind="complex"))],
)


def _confluent(a, b, x):
    """By Kummer's transformation, which turns a negative variable around."""
    is_negative = np.less(np.real(x), 0.0)
    scale, first = np.exp(np.where(is_negative, x, 0.0)), np.where(is_negative, b - a, a)
    place = np.where(is_negative, -x, x)
    by_first = scale * confluent_slope(1, 0, 0, first, b, place)
    by_second = scale * confluent_slope(0, 1, 0, first, b, place)
    return np.where(is_negative, -by_first, by_first), np.where(is_negative, by_first + by_second, by_second)


def _gauss(a, b, c, z, y):
    """By Pfaff's transformation, which takes negative variables to positive ones."""
    is_negative = np.less(np.real(z), 0.0)
    fall = np.log1p(np.where(is_negative, -z, 0.0))
    second, place = np.where(is_negative, c - b, b), np.where(is_negative, z / (z - 1.0), z)
    by_first, by_second, by_third = [
        np.exp(-a * fall) * gauss_slope(*orders, 0, a, second, c, place) for orders in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    ]
    return (
        by_first - fall * y,
        np.where(is_negative, -by_second, by_second),
        np.where(is_negative, by_third + by_second, by_third),
    )


elementwise(
    special.hyp1f1,
    lambda a, b, x, y: (
        _confluent(a, b, x)[0],
        _confluent(a, b, x)[1],
        special.hyp1f1(a + 1.0, b + 1.0, x) * (a / b),
    ),
    cases=[case(1.2, 0.7, number()), case(0.3, 2.5, UNITY), case(1, 2, UNITY), case(-0.4, 1.5, np.array([-3.0, 9.0]))],
)
elementwise(
    special.hyp2f1,
    lambda a, b, c, z, y: (
        _gauss(a, b, c, z, y)[0],
        _gauss(a, b, c, z, y)[1],
        _gauss(a, b, c, z, y)[2],
        special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z) * (a * b / c),
    ),
    cases=[case(1.2, 0.7, 1.9, 0.4), case(0.3, 2.5, 1.1, UNITY), case(1, 1, 2, np.array([0.3 + 0.4j, -0.2 - 1j]))],
)
elementwise(
    confluent_limit_slope,
    lambda i, k, v, z, y: (None, None, confluent_limit_slope(i + 1, k, v, z), confluent_limit_slope(i, k + 1, v, z)),
    cases=[case(1, 0, 1.5, 0.4), case(1, 1, 2.5, UNITY)],
)
elementwise(
    confluent_slope,
    lambda i, j, k, a, b, z, y: (
        *(None, None, None),
        confluent_slope(i + 1, j, k, a, b, z),
        confluent_slope(i, j + 1, k, a, b, z),
        confluent_slope(i, j, k + 1, a, b, z),
    ),
    cases=[case(1, 0, 0, 1.2, 0.7, 0.4), case(1, 1, 1, 0.3, 2.5, np.array([0.2, 3.0]))],
)
elementwise(
    gauss_slope,
    lambda i, j, l, k, a, b, c, z, y: (
        *(None, None, None, None),
        gauss_slope(i + 1, j, l, k, a, b, c, z),
        gauss_slope(i, j + 1, l, k, a, b, c, z),
        gauss_slope(i, j, l + 1, k, a, b, c, z),
        gauss_slope(i, j, l, k + 1, a, b, c, z),
    ),
    cases=[case(1, 0, 0, 0, 1.2, 0.7, 1.9, 0.4), case(0, 1, 1, 0, 0.3, 2.5, 1.1, np.array([0.2, 0.7]))],
)
elementwise(
    special.hyperu,
    lambda a, b, x, y: (None, None, -a * special.hyperu(a + 1.0, b + 1.0, x)),
    fixed=(0, 1),
    cases=[case(1.2, 0.7, number()), case(0.5, 2.5, POINTS)],
)
elementwise(
    special.wright_bessel,
    lambda a, b, x, y: (None, None, special.wright_bessel(a, a + b, x)),
    fixed=(0, 1),
    cases=[case(0.7, 1.2, number()), case(1.0, 2.0, POINTS)],
)
if hasattr(special, "log_wright_bessel"):  # SciPy 1.14
    elementwise(
        special.log_wright_bessel,
        lambda a, b, x, y: (None, None, np.exp(special.log_wright_bessel(a, a + b, x) - y)),
        fixed=(0, 1),
        cases=[case(0.7, 1.2, number()), case(1.0, 2.0, POINTS)],
    )
elementwise(special.exprel, lambda x, y: 0.5 * special.hyp1f1(2.0, 3.0, x))

# --- integrals of exponentials, logarithms and waves ------------------------------------------------------------------

elementwise(special.expi, scaled=lambda ct, x, y: divide(ct * np.exp(x), x), singular=True, domain=POSITIVE)
elementwise(special.exp1, scaled=lambda ct, x, y: divide(-ct * np.exp(-x), x), singular=True, domain=POSITIVE)
elementwise(
    special.expn,
    lambda n, x, y: (
        None,
        -np.where(np.equal(n, 0), np.exp(-x) * (1 + 1 / x) / x, special.expn(np.maximum(n - 1, 0), x)),
    ),
    fixed=(0,),
    cases=[case(n, at) for n in (0, 1, 3) for at in (number(), POINTS)],
)
elementwise(
    special.spence,
    scaled=lambda ct, z, y: times(ct, match(-special.hyp2f1(1.0, 1.0, 2.0, 1 - z), z)),
    singular=True,
    domain=POSITIVE,
)
LINES = [case(number()), case(sample(3))]
of_one_argument(
    special.fresnel,
    lambda x, y: (np.sin(0.5 * np.pi * x * x), np.cos(0.5 * np.pi * x * x)),
    results=2,
    cases=[*LINES, case(sample(2, kind="complex"))],
)
of_one_argument(
    special.sici,
    lambda x, y: (special.spherical_jn(0, x), np.cos(x) / x),
    results=2,
    cases=[*LINES, case(sample(2, kind="complex"))],
)
of_one_argument(
    special.shichi,
    lambda x, y: (special.spherical_in(0, x), np.cosh(x) / x),
    results=2,
    cases=[*LINES, case(sample(2, kind="complex"))],
)

# --- error functions of complex arguments -----------------------------------------------------------------------------

ROOT_PI = 1.772453850905516
ROOT_TWO = 1.4142135623730951
TWO_I_BY_ROOT_PI = 1.1283791670955126j
elementwise(
    special.wofz,
    lambda z, y: TWO_I_BY_ROOT_PI - 2 * z * y,
    cases=[case(number()), case(sample(3)), case(sample(3, kind="complex"))],
)


def _voigt(x, sigma, gamma, y):
    width = sigma * ROOT_TWO
    z = (x + 1j * gamma) / width
    slope = (TWO_I_BY_ROOT_PI - 2 * z * special.wofz(z)) / (width * width * ROOT_PI)
    return (np.real(slope), -y / sigma - np.real(slope * (x + 1j * gamma)) / sigma, -np.imag(slope))


elementwise(special.voigt_profile, _voigt, domain=((-2.0, 2.0), POSITIVE, POSITIVE))

# --- zeta functions ---------------------------------------------------------------------------------------------------

definition(
    special.zeta,
    lambda x, q=None: special.zetac(x) + 1.0,
    when=lambda given: given.get("q") is None,
    cases=[case(sample(3, kind="positive")), case(number())],
)
elementwise(
    special.zeta,
    lambda x, q, y: (zeta_slope(1, x, q), -x * special.zeta(x + 1.0, q)),
    cases=[case(1.7, number()), case(np.array([1.4, 2.0, 5.5]), POINTS)],
)
elementwise(special.zetac, lambda x, y: match(zeta_slope(1, x, 1.0), x), domain=(1.3, 4.0))
elementwise(
    zeta_slope,
    lambda n, x, q, y: (
        None,
        zeta_slope(n + 1, x, q),
        -x * zeta_slope(n, x + 1.0, q) - n * zeta_slope(n - 1, x + 1.0, q),
    ),
    cases=[case(1, 1.7, number()), case(2, np.array([0.4, 2.0, 5.5]), POINTS)],
)
