"""Rules of ``scipy.special``.

Derivatives by shapes and orders are integrals (``runtime.incomplete``, ``runtime.bessel_orders``). Orders that are
whole numbers are taken as given (``fixed``).
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, elementwise, general, no_derivative, number, sample
from adjoint.runtime.arithmetic.numbers import divide, is_real, log, sign, times
from adjoint.runtime.array_functions.arrays import match, restore_axes, unbroadcast
from adjoint.runtime.numerical_methods.bessel_orders import iv_slope, ive_slope, jv_slope, kv_slope, yv_slope
from adjoint.runtime.numerical_methods.incomplete import (
    beta_density_slope,
    betainc_slope,
    boxcox_slope,
    gamma_density_slope,
    gammainc_slope,
)

LN10 = 2.302585092994046
TWO_BY_ROOT_PI = 1.1283791670955126
ROOT_PI_BY_TWO = 0.886226925452758
ROOT_TWO_PI = 2.5066282746310002
POSITIVE = (0.5, 3.0)
INSIDE = (0.1, 0.9)

# --- error functions and the normal distribution ----------------------------------------------------------------------

elementwise(special.erf, lambda x, y: TWO_BY_ROOT_PI * np.exp(-x * x))
elementwise(special.erfc, lambda x, y: -TWO_BY_ROOT_PI * np.exp(-x * x))
elementwise(special.erfcx, lambda x, y: 2 * x * y - TWO_BY_ROOT_PI)
elementwise(special.erfi, lambda x, y: TWO_BY_ROOT_PI * np.exp(x * x), domain=(-1.0, 1.0))
elementwise(special.erfinv, lambda x, y: ROOT_PI_BY_TWO * np.exp(y * y), domain=(-0.8, 0.8))
elementwise(special.erfcinv, lambda x, y: -ROOT_PI_BY_TWO * np.exp(y * y), domain=(0.2, 1.8))
elementwise(special.dawsn, lambda x, y: 1 - 2 * x * y)
elementwise(special.ndtr, lambda x, y: np.exp(-0.5 * x * x) / ROOT_TWO_PI)
elementwise(special.log_ndtr, lambda x, y: np.exp(-0.5 * x * x - y) / ROOT_TWO_PI)
elementwise(special.ndtri, lambda x, y: ROOT_TWO_PI * np.exp(0.5 * y * y), domain=INSIDE)

# --- logistic functions, exponentials and logarithms ------------------------------------------------------------------

elementwise(special.expit, lambda x, y: y * (1 - y))
elementwise(special.logit, scaled=lambda ct, x, y: divide(ct, x * (1 - x)), singular=True, domain=INSIDE)
elementwise(special.log_expit, lambda x, y: special.expit(-x))
elementwise(special.exp10, lambda x, y: LN10 * y)
elementwise(special.exp2, lambda x, y: 0.6931471805599453 * y)
elementwise(special.expm1, lambda x, y: y + 1)
elementwise(special.log1p, scaled=lambda ct, x, y: divide(ct, 1 + x), singular=True, domain=(-0.5, 2.0))
elementwise(special.cbrt, scaled=lambda ct, x, y: divide(ct, 3 * y * y), singular=True, domain=POSITIVE)
elementwise(special.expi, scaled=lambda ct, x, y: divide(ct * np.exp(x), x), singular=True, domain=POSITIVE)
elementwise(special.exp1, scaled=lambda ct, x, y: divide(-ct * np.exp(-x), x), singular=True, domain=POSITIVE)
elementwise(
    special.xlogy,
    scaled=lambda ct, x1, x2, y: (times(ct, log(x2)), divide(ct * x1, x2)),
    singular=True,
    domain=POSITIVE,
)
elementwise(
    special.xlog1py,
    scaled=lambda ct, x1, x2, y: (times(ct, log(1 + x2)), divide(ct * x1, 1 + x2)),
    singular=True,
    domain=POSITIVE,
)
elementwise(special.entr, scaled=lambda ct, x, y: times(ct, -log(x) - 1), singular=True, domain=POSITIVE)
elementwise(
    special.rel_entr,
    scaled=lambda ct, x1, x2, y: (times(ct, log(divide(x1, x2)) + 1), -divide(ct * x1, x2)),
    singular=True,
    domain=POSITIVE,
)
elementwise(
    special.kl_div,
    scaled=lambda ct, x1, x2, y: (times(ct, log(divide(x1, x2))), ct - divide(ct * x1, x2)),
    singular=True,
    domain=POSITIVE,
)
elementwise(
    special.boxcox,
    scaled=lambda ct, x, lmbda, y: (times(ct, np.power(x, lmbda - 1.0)), times(ct, boxcox_slope(1, x, lmbda))),
    domain=POSITIVE,
    cases=[case(sample(3, kind="positive"), 0.7), case(sample(3, kind="positive"), 0.0)],
)
elementwise(
    boxcox_slope,
    lambda n, x, lmbda, y: (None, np.log(x) ** n * np.power(x, lmbda - 1.0), boxcox_slope(n + 1, x, lmbda)),
    cases=[case(1, sample(3, kind="positive"), 0.7), case(2, sample(3, kind="positive"), 0.0)],
)
elementwise(
    special.huber,
    lambda delta, r, y: (np.where(np.abs(r) <= delta, 0.0, np.abs(r) - delta), np.clip(r, -delta, delta)),
    domain=((0.5, 0.8), (-2.0, 2.0)),
)


def _pseudo_huber(delta, r, y):
    root = np.sqrt(1 + (r / delta) ** 2)
    return (2 * delta * (root - 1) - r * r / (delta * root), r / root)


elementwise(special.pseudo_huber, _pseudo_huber, domain=(POSITIVE, (-2.0, 2.0)))
general(
    special.lambertw,
    lambda dots, y, z, k=0, tol=1e-8: dots[0] / (np.exp(y) * (1 + y)),
    lambda ct, y, z, k=0, tol=1e-8: (unbroadcast(ct / (np.exp(y) * (1 + y)), z),),
    cases=[case(sample(3, kind="positive")), case(sample(3, kind="complex"), 1)],
)


def _logsumexp_jvp(dots, y, a, axis=None, b=None, keepdims=False):
    weights = np.exp(a - restore_axes(y, a, axis, keepdims))
    if b is None:
        return np.sum(weights * dots[0], axis=axis, keepdims=keepdims)
    moved = weights * b * dots[0]
    if dots[2] is not None:
        moved = moved + weights * dots[2]
    return np.sum(moved, axis=axis, keepdims=keepdims)


def _logsumexp_vjp(ct, y, a, axis=None, b=None, keepdims=False):
    weights = np.exp(a - restore_axes(y, a, axis, keepdims)) * restore_axes(ct, a, axis, keepdims)
    if b is None:
        return (weights,)
    return (unbroadcast(weights * b, a), None, unbroadcast(weights, b))


AXES = [
    case(sample(4, 3)),
    case(sample(4, 3), axis=0),
    case(sample(2, 4, 3), axis=(0, -1)),
]
general(
    special.logsumexp,
    _logsumexp_jvp,
    _logsumexp_vjp,
    cases=[
        *AXES,
        case(sample(4, 3), -1, keepdims=True),
        case(sample(4, 3), 0, sample(4, 3, kind="positive")),
        case(sample(4, 3), 1, sample(3, kind="positive")),
    ],
)
general(
    special.softmax,
    lambda dots, y, x, axis=None: y * (dots[0] - np.sum(y * dots[0], axis=axis, keepdims=True)),
    lambda ct, y, x, axis=None: (y * (ct - np.sum(y * ct, axis=axis, keepdims=True)),),
    cases=AXES,
)
general(
    special.log_softmax,
    lambda dots, y, x, axis=None: dots[0] - np.sum(np.exp(y) * dots[0], axis=axis, keepdims=True),
    lambda ct, y, x, axis=None: (ct - np.exp(y) * np.sum(ct, axis=axis, keepdims=True),),
    cases=AXES,
)

# --- gamma and beta functions -----------------------------------------------------------------------------------------

elementwise(special.gamma, lambda x, y: y * special.psi(x), domain=POSITIVE)
elementwise(special.gammaln, lambda x, y: special.psi(x), domain=POSITIVE)
elementwise(special.loggamma, lambda x, y: special.psi(x), domain=POSITIVE)
elementwise(special.rgamma, lambda x, y: -y * special.psi(x), domain=POSITIVE)
elementwise(special.psi, lambda x, y: match(special.polygamma(1, x), x), domain=POSITIVE)
elementwise(
    special.polygamma,
    lambda n, x, y: (None, special.polygamma(n + 1, x)),
    fixed=(0,),
    cases=[case(1, 1.3), case(2, sample(3, kind="positive"))],
)
elementwise(
    special.poch,
    lambda x1, x2, y: (y * (special.psi(x1 + x2) - special.psi(x1)), y * special.psi(x1 + x2)),
    domain=POSITIVE,
)
elementwise(
    special.binom,
    lambda x1, x2, y: (
        y * (special.psi(x1 + 1) - special.psi(x1 - x2 + 1)),
        y * (special.psi(x1 - x2 + 1) - special.psi(x2 + 1)),
    ),
    domain=((2.0, 3.0), (0.3, 1.6)),
)
elementwise(
    special.beta,
    lambda x1, x2, y: (
        y * (special.psi(x1) - special.psi(x1 + x2)),
        y * (special.psi(x2) - special.psi(x1 + x2)),
    ),
    domain=POSITIVE,
)
elementwise(
    special.betaln,
    lambda x1, x2, y: (special.psi(x1) - special.psi(x1 + x2), special.psi(x2) - special.psi(x1 + x2)),
    domain=POSITIVE,
)


def _gamma_density(a, x):
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


SHAPES = [case(0.7, number()), case(2.5, sample(3, kind="positive")), case(1, sample(3, kind="positive"))]
SLOPES = [case(1, 0.7, number()), case(2, 2.5, sample(3, kind="positive"))]
elementwise(special.gammainc, lambda a, x, y: (gammainc_slope(1, a, x), _gamma_density(a, x)), cases=SHAPES)
elementwise(special.gammaincc, lambda a, x, y: (-gammainc_slope(1, a, x), -_gamma_density(a, x)), cases=SHAPES)
elementwise(
    gammainc_slope,
    lambda n, a, x, y: (None, gammainc_slope(n + 1, a, x), gamma_density_slope(n, a, x)),
    cases=SLOPES,
)
elementwise(
    gamma_density_slope,
    lambda n, a, x, y: (
        None,
        gamma_density_slope(n + 1, a, x),
        y * ((a - 1.0) / x - 1.0) + n * gamma_density_slope(n - 1, a, x) / x,
    ),
    cases=SLOPES,
)
elementwise(
    special.betainc,
    lambda a, b, x, y: (
        betainc_slope(1, 0, a, b, x),
        betainc_slope(0, 1, a, b, x),
        np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)),
    ),
    cases=[case(0.7, 2.0, 0.3), case(2.5, 1, np.array([0.2, 0.5, 0.9]))],
)
MIXED = [case(1, 0, 0.7, 2.0, 0.3), case(1, 1, 2.5, 1.2, np.array([0.2, 0.5, 0.9]))]
elementwise(
    betainc_slope,
    lambda m, n, a, b, x, y: (
        None,
        None,
        betainc_slope(m + 1, n, a, b, x),
        betainc_slope(m, n + 1, a, b, x),
        beta_density_slope(m, n, a, b, x),
    ),
    cases=MIXED,
)
elementwise(
    beta_density_slope,
    lambda m, n, a, b, x, y: (
        None,
        None,
        beta_density_slope(m + 1, n, a, b, x),
        beta_density_slope(m, n + 1, a, b, x),
        y * ((a - 1.0) / x - (b - 1.0) / (1.0 - x))
        + m * beta_density_slope(m - 1, n, a, b, x) / x
        - n * beta_density_slope(m, n - 1, a, b, x) / (1.0 - x),
    ),
    cases=MIXED,
)

# --- Bessel functions -------------------------------------------------------------------------------------------------

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
        0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - (sign(z) if is_real(z) else np.nan) * y,
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

no_derivative(special.comb, special.perm, special.factorial, special.factorial2)
