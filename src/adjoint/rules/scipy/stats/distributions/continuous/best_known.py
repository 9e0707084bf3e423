"""Continuous distributions on the whole line, and above zero."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, sample
from adjoint.rules.scipy.stats.distributions.continuous.integrated import integrated, over_the_line
from adjoint.rules.scipy.stats.distributions.formulas import continuous, positive

HALF_LOG_TWO_PI = 0.9189385332046727
LOG_PI = 1.1447298858494002
LOG_TWO = 0.6931471805599453
ROOT_TWO = 1.4142135623730951


def whole_line(*shapes):
    """The support of what is to be computed for finite numbers only."""
    return -np.inf, np.inf


def log_normal_density(z):
    return -0.5 * z * z - HALF_LOG_TWO_PI


def no_shape(loc=0, scale=1):
    return (), loc, scale


def _log_of_rest(x):
    """``log(1 - exp(-x))``."""
    return as_result(np.where(np.greater(x, LOG_TWO), np.log1p(-np.exp(-x)), np.log(-np.expm1(-x))))


def log_normal_mass(a, b):
    """The logarithm of the normal probability between two numbers, by the tail in which they lie."""
    turned = np.greater(a, 0)
    low, high = np.where(turned, -b, a), np.where(turned, -a, b)
    far = special.log_ndtr(high)
    return far + np.log1p(-np.exp(special.log_ndtr(low) - far))


def half_line(*shapes):
    return 0.0, np.inf


PLACES = [
    case(sample(3)),
    case(sample(3), 0.3),
    case(sample(3), sample(3), scale=sample(3, kind="positive")),
    case(0.7, 0.2, 1.5),
]
UP = sample(3, kind="positive")
ABOVE = [case(UP), case(UP, loc=-0.3, scale=UP), case(np.array([-1.0, 0.4]), 0.1, 2.0)]
QUANTILES = np.array([0.1, 0.7])
SHARES = [case(QUANTILES), case(QUANTILES, 0.3, sample(2, kind="positive"))]


def of_shapes(first, *shapes):
    """Example calls with shapes: at values above zero."""
    return [
        case(first, *shapes),
        case(first, *[UP for _ in shapes], scale=2.0),
        case(1.3, *shapes, -0.2, 1.2),
    ]


def shares_of(*shapes):
    """Example calls of quantile functions."""
    return [case(QUANTILES, *shapes), case(0.3, *shapes, 0.2, 1.7)]


# --- on the whole line ------------------------------------------------------------------------------------------------

continuous(
    stats.norm,
    no_shape,
    lambda z: -0.5 * z * z - HALF_LOG_TWO_PI,
    share=special.ndtr,
    rest=lambda z: special.ndtr(-z),
    log_share=special.log_ndtr,
    log_rest=lambda z: special.log_ndtr(-z),
    quantile=special.ndtri,
    upper_quantile=lambda q: -special.ndtri(q),
    cases=PLACES,
    shares=SHARES,
)
continuous(
    stats.logistic,
    no_shape,
    lambda z: special.log_expit(z) + special.log_expit(-z),
    share=special.expit,
    rest=lambda z: special.expit(-z),
    log_share=special.log_expit,
    log_rest=lambda z: special.log_expit(-z),
    quantile=special.logit,
    upper_quantile=lambda q: -special.logit(q),
    cases=PLACES,
    shares=SHARES,
)


def _cauchy_upper(q):
    return as_result(np.where(np.greater(q, 0.5), -1.0 / np.tan(np.pi * (1.0 - q)), 1.0 / np.tan(np.pi * q)))


continuous(
    stats.cauchy,
    no_shape,
    lambda z: -LOG_PI - np.log1p(z * z),
    share=lambda z: np.arctan2(1.0, -z) / np.pi,
    rest=lambda z: np.arctan2(1.0, z) / np.pi,
    quantile=lambda q: -_cauchy_upper(q),
    upper_quantile=lambda q: _cauchy_upper(q),
    cases=PLACES,
    shares=SHARES,
)


def _smaller_half(z):
    return 0.5 * np.exp(-np.abs(z))


continuous(
    stats.laplace,
    no_shape,
    lambda z: -np.abs(z) - LOG_TWO,
    share=lambda z: as_result(np.where(np.greater(z, 0), 1.0 - _smaller_half(z), _smaller_half(z))),
    rest=lambda z: as_result(np.where(np.greater(z, 0), _smaller_half(z), 1.0 - _smaller_half(z))),
    quantile=lambda q: np.where(np.greater(q, 0.5), -np.log(2 * (1 - q)), np.log(2 * q)),
    upper_quantile=lambda q: np.where(np.greater(q, 0.5), np.log(2 * (1 - q)), -np.log(2 * q)),
    cases=PLACES,
    shares=SHARES,
)
continuous(
    stats.gumbel_r,
    no_shape,
    lambda z: -z - np.exp(-z),
    share=lambda z: np.exp(-np.exp(-z)),
    rest=lambda z: -np.expm1(-np.exp(-z)),
    log_share=lambda z: -np.exp(-z),
    log_rest=lambda z: _log_of_rest(np.exp(-z)),
    quantile=lambda q: -np.log(-np.log(q)),
    upper_quantile=lambda q: -np.log(-np.log1p(-q)),
    cases=PLACES,
    shares=SHARES,
)
continuous(
    stats.gumbel_l,
    no_shape,
    lambda z: z - np.exp(z),
    share=lambda z: -np.expm1(-np.exp(z)),
    rest=lambda z: np.exp(-np.exp(z)),
    log_share=lambda z: _log_of_rest(np.exp(z)),
    log_rest=lambda z: -np.exp(z),
    quantile=lambda q: np.log(-np.log1p(-q)),
    upper_quantile=lambda q: np.log(-np.log(q)),
    cases=PLACES,
    shares=SHARES,
)


def _t_log_density(z, df):
    constant = special.gammaln(0.5 * (df + 1)) - special.gammaln(0.5 * df) - 0.5 * (np.log(df) + LOG_PI)
    return constant - 0.5 * (df + 1) * np.log1p(z * z / df)


def _with_df(df, loc=0, scale=1):
    return (positive(df),), loc, scale


continuous(
    stats.t,
    _with_df,
    _t_log_density,
    share=lambda z, df: special.stdtr(df, z),
    rest=lambda z, df: special.stdtr(df, -z),
    quantile=lambda q, df: as_result(np.where(np.equal(q, 0), -np.inf, special.stdtrit(df, q))),
    upper_quantile=lambda q, df: as_result(np.where(np.equal(q, 0), np.inf, -special.stdtrit(df, q))),
    cases=of_shapes(sample(3), 4.5),
    shares=shares_of(4.5),
)


def _log_skewed(z, a):
    return LOG_TWO - 0.5 * z * z - HALF_LOG_TWO_PI + special.log_ndtr(a * z)


SKEWED = over_the_line(_log_skewed)
continuous(
    stats.skewnorm,
    lambda a, loc=0, scale=1: ((a,), loc, scale),
    _log_skewed,
    share=lambda z, a: special.ndtr(z) - 2 * special.owens_t(z, a),
    rest=lambda z, a: special.ndtr(-z) + 2 * special.owens_t(z, a),
    log_share=SKEWED["log_share"],
    log_rest=SKEWED["log_rest"],
    support=whole_line,
    inner=0.0,
    cases=of_shapes(sample(3), 1.5),
    shares=shares_of(1.5),
)


def _concentrated(kappa, loc=0, scale=1):
    return (positive(kappa),), loc, scale


def log_on_circle(z, kappa):
    return kappa * special.cosm1(z) - np.log(2 * np.pi * special.i0e(kappa))


ON_CIRCLE = integrated(log_on_circle, lambda z: z, lambda u: u, lambda u: 0.0 * u, -np.pi, np.pi)


def _share_on_circle(z, kappa):
    """One more for each turn, as SciPy counts."""
    turns = np.round(z / (2 * np.pi))
    return turns + ON_CIRCLE["share"](z - 2 * np.pi * turns, kappa)


continuous(
    stats.vonmises,
    _concentrated,
    log_on_circle,
    share=_share_on_circle,
    exact_tails=False,
    support=whole_line,
    inner=0.0,
    cases=of_shapes(sample(3), 1.5),
    shares=shares_of(1.5),
)


def _rest_of_power(z, beta):
    """The probability of more; at zero it falls as the density says."""
    is_zero = np.equal(z, 0.0)
    power = np.power(np.where(is_zero, 1.0, np.abs(z)), beta)
    below = 0.5 + 0.5 * special.gammainc(1.0 / beta, power)
    found = np.where(np.greater(z, 0.0), 0.5 * special.gammaincc(1.0 / beta, power), below)
    return np.where(is_zero, 0.5 - 0.5 * z * np.exp(np.log(beta) - special.gammaln(1.0 / beta)), found)


continuous(
    stats.gennorm,
    lambda beta, loc=0, scale=1: ((positive(beta),), loc, scale),
    lambda z, beta: np.log(0.5 * beta) - special.gammaln(1.0 / beta) - np.power(np.abs(z), beta),
    share=lambda z, beta: _rest_of_power(-z, beta),
    rest=_rest_of_power,
    support=whole_line,
    inner=0.0,
    cases=of_shapes(sample(3), 1.5),
    shares=shares_of(1.5),
)
continuous(
    stats.loggamma,
    lambda c, loc=0, scale=1: ((positive(c),), loc, scale),
    lambda z, c: c * z - np.exp(z) - special.gammaln(c),
    share=lambda z, c: special.gammainc(c, np.exp(z)),
    rest=lambda z, c: special.gammaincc(c, np.exp(z)),
    cases=of_shapes(sample(3), 1.5),
    shares=shares_of(1.5),
)


def _log_delayed(z, K):
    """The logarithm of the normal probability of less that did not wait long enough."""
    return (0.5 / K - z) / K + special.log_ndtr(z - 1.0 / K)


DELAYED = over_the_line(lambda z, K: _log_delayed(z, K) - np.log(K))
continuous(
    stats.exponnorm,
    lambda K, loc=0, scale=1: ((positive(K),), loc, scale),
    lambda z, K: _log_delayed(z, K) - np.log(K),
    share=lambda z, K: special.ndtr(z) - np.exp(_log_delayed(z, K)),
    rest=lambda z, K: special.ndtr(-z) + np.exp(_log_delayed(z, K)),
    log_share=DELAYED["log_share"],
    support=whole_line,
    inner=0.0,
    cases=of_shapes(sample(3), 1.5),
    shares=shares_of(1.5),
)

# --- above zero -------------------------------------------------------------------------------------------------------

continuous(
    stats.expon,
    no_shape,
    lambda z: -z,
    support=half_line,
    inner=1.0,
    share=lambda z: -np.expm1(-z),
    rest=lambda z: np.exp(-z),
    log_share=_log_of_rest,
    log_rest=lambda z: -z,
    quantile=lambda q: -np.log1p(-q),
    upper_quantile=lambda q: -np.log(q),
    cases=ABOVE,
    shares=SHARES,
)
continuous(
    stats.halfnorm,
    no_shape,
    lambda z: 0.5 * LOG_TWO - 0.5 * LOG_PI - 0.5 * z * z,
    support=half_line,
    inner=1.0,
    share=lambda z: special.erf(z / ROOT_TWO),
    rest=lambda z: special.erfc(z / ROOT_TWO),
    quantile=lambda q: special.ndtri(0.5 + 0.5 * q),
    upper_quantile=lambda q: -special.ndtri(0.5 * q),
    cases=ABOVE,
    shares=SHARES,
)


def _half_cauchy_quantile(q):
    return as_result(np.where(np.greater(q, 0.5), 1.0 / np.tan(0.5 * np.pi * (1.0 - q)), np.tan(0.5 * np.pi * q)))


continuous(
    stats.halfcauchy,
    no_shape,
    lambda z: LOG_TWO - LOG_PI - np.log1p(z * z),
    support=half_line,
    inner=1.0,
    share=lambda z: 2 / np.pi * np.arctan(z),
    rest=lambda z: 2 / np.pi * np.arctan2(1.0, z),
    quantile=_half_cauchy_quantile,
    upper_quantile=lambda q: _half_cauchy_quantile(1.0 - q),
    cases=ABOVE,
    shares=SHARES,
)
continuous(
    stats.rayleigh,
    no_shape,
    lambda z: np.log(z) - 0.5 * z * z,
    support=half_line,
    inner=1.0,
    share=lambda z: -np.expm1(-0.5 * z * z),
    rest=lambda z: np.exp(-0.5 * z * z),
    log_share=lambda z: _log_of_rest(0.5 * z * z),
    log_rest=lambda z: -0.5 * z * z,
    quantile=lambda q: np.sqrt(-2 * np.log1p(-q)),
    upper_quantile=lambda q: np.sqrt(-2 * np.log(q)),
    cases=ABOVE,
    shares=SHARES,
)
continuous(
    stats.gamma,
    lambda a, loc=0, scale=1: ((positive(a),), loc, scale),
    lambda z, a: special.xlogy(a - 1.0, z) - z - special.gammaln(a),
    support=half_line,
    inner=1.0,
    share=lambda z, a: special.gammainc(a, z),
    rest=lambda z, a: special.gammaincc(a, z),
    quantile=lambda q, a: special.gammaincinv(a, q),
    upper_quantile=lambda q, a: special.gammainccinv(a, q),
    cases=of_shapes(UP, 2.5),
    shares=shares_of(2.5),
)
continuous(
    stats.chi2,
    _with_df,
    lambda z, df: special.xlogy(0.5 * df - 1.0, z) - 0.5 * z - special.gammaln(0.5 * df) - 0.5 * LOG_TWO * df,
    support=half_line,
    inner=1.0,
    share=lambda z, df: special.gammainc(0.5 * df, 0.5 * z),
    rest=lambda z, df: special.gammaincc(0.5 * df, 0.5 * z),
    quantile=lambda q, df: 2 * special.gammaincinv(0.5 * df, q),
    upper_quantile=lambda q, df: 2 * special.gammainccinv(0.5 * df, q),
    cases=of_shapes(UP, 2.5),
    shares=shares_of(2.5),
)
continuous(
    stats.chi,
    _with_df,
    lambda z, df: (1.0 - 0.5 * df) * LOG_TWO - special.gammaln(0.5 * df) + special.xlogy(df - 1.0, z) - 0.5 * z * z,
    support=half_line,
    inner=1.0,
    share=lambda z, df: special.gammainc(0.5 * df, 0.5 * z * z),
    rest=lambda z, df: special.gammaincc(0.5 * df, 0.5 * z * z),
    quantile=lambda q, df: np.sqrt(2 * special.gammaincinv(0.5 * df, q)),
    upper_quantile=lambda q, df: np.sqrt(2 * special.gammainccinv(0.5 * df, q)),
    cases=of_shapes(UP, 2.5),
    shares=shares_of(2.5),
)
continuous(
    stats.invgamma,
    lambda a, loc=0, scale=1: ((positive(a),), loc, scale),
    lambda z, a: -(a + 1.0) * np.log(z) - special.gammaln(a) - 1.0 / z,
    support=half_line,
    inner=1.0,
    is_open=True,
    share=lambda z, a: special.gammaincc(a, 1.0 / z),
    rest=lambda z, a: special.gammainc(a, 1.0 / z),
    quantile=lambda q, a: 1.0 / special.gammainccinv(a, q),
    upper_quantile=lambda q, a: 1.0 / special.gammaincinv(a, q),
    cases=of_shapes(UP, 2.5),
    shares=shares_of(2.5),
)
continuous(
    stats.lognorm,
    lambda s, loc=0, scale=1: ((positive(s),), loc, scale),
    lambda z, s: -0.5 * (np.log(z) / s) ** 2 - np.log(s) - np.log(z) - HALF_LOG_TWO_PI,
    support=half_line,
    inner=1.0,
    is_open=True,
    share=lambda z, s: special.ndtr(np.log(z) / s),
    rest=lambda z, s: special.ndtr(-np.log(z) / s),
    log_share=lambda z, s: special.log_ndtr(np.log(z) / s),
    log_rest=lambda z, s: special.log_ndtr(-np.log(z) / s),
    quantile=lambda q, s: np.exp(s * special.ndtri(q)),
    upper_quantile=lambda q, s: np.exp(-s * special.ndtri(q)),
    cases=of_shapes(UP, 0.7),
    shares=shares_of(0.7),
)
continuous(
    stats.weibull_min,
    lambda c, loc=0, scale=1: ((positive(c),), loc, scale),
    lambda z, c: np.log(c) + special.xlogy(c - 1.0, z) - np.power(z, c),
    support=half_line,
    inner=1.0,
    share=lambda z, c: -np.expm1(-np.power(z, c)),
    rest=lambda z, c: np.exp(-np.power(z, c)),
    log_share=lambda z, c: _log_of_rest(np.power(z, c)),
    log_rest=lambda z, c: -np.power(z, c),
    quantile=lambda q, c: np.power(-np.log1p(-q), 1.0 / c),
    upper_quantile=lambda q, c: np.power(-np.log(q), 1.0 / c),
    cases=of_shapes(UP, 1.5),
    shares=shares_of(1.5),
)
continuous(
    stats.weibull_max,
    lambda c, loc=0, scale=1: ((positive(c),), loc, scale),
    lambda z, c: np.log(c) + special.xlogy(c - 1.0, -z) - np.power(-z, c),
    support=lambda c: (-np.inf, 0.0),
    inner=-1.0,
    share=lambda z, c: np.exp(-np.power(-z, c)),
    rest=lambda z, c: -np.expm1(-np.power(-z, c)),
    log_share=lambda z, c: -np.power(-z, c),
    log_rest=lambda z, c: _log_of_rest(np.power(-z, c)),
    quantile=lambda q, c: -np.power(-np.log(q), 1.0 / c),
    upper_quantile=lambda q, c: -np.power(-np.log1p(-q), 1.0 / c),
    cases=[case(np.array([-1.3, -0.2, 0.4]), 1.5), case(sample(3), UP, 3.0, scale=2.0)],
    shares=shares_of(1.5),
)
continuous(
    stats.f,
    lambda dfn, dfd, loc=0, scale=1: ((positive(dfn), positive(dfd)), loc, scale),
    lambda z, dfn, dfd: (
        0.5 * dfd * np.log(dfd)
        + 0.5 * dfn * np.log(dfn)
        + special.xlogy(0.5 * dfn - 1.0, z)
        - 0.5 * (dfn + dfd) * np.log(dfd + dfn * z)
        - special.betaln(0.5 * dfn, 0.5 * dfd)
    ),
    support=half_line,
    inner=1.0,
    share=lambda z, dfn, dfd: special.fdtr(dfn, dfd, z),
    rest=lambda z, dfn, dfd: special.fdtrc(dfn, dfd, z),
    quantile=lambda q, dfn, dfd: special.fdtri(dfn, dfd, q),
    cases=of_shapes(UP, 2.5, 4.0),
    shares=shares_of(2.5, 4.0),
)
continuous(
    stats.lomax,
    lambda c, loc=0, scale=1: ((positive(c),), loc, scale),
    lambda z, c: np.log(c) - (c + 1.0) * np.log1p(z),
    support=half_line,
    inner=1.0,
    share=lambda z, c: -np.expm1(-c * np.log1p(z)),
    rest=lambda z, c: np.exp(-c * np.log1p(z)),
    log_share=lambda z, c: _log_of_rest(c * np.log1p(z)),
    log_rest=lambda z, c: -c * np.log1p(z),
    quantile=lambda q, c: np.expm1(-np.log1p(-q) / c),
    upper_quantile=lambda q, c: np.expm1(-np.log(q) / c),
    cases=of_shapes(UP, 1.5),
    shares=shares_of(1.5),
)
continuous(
    stats.pareto,
    lambda b, loc=0, scale=1: ((positive(b),), loc, scale),
    lambda z, b: np.log(b) - (b + 1.0) * np.log(z),
    support=lambda b: (1.0, np.inf),
    inner=2.0,
    share=lambda z, b: 1.0 - np.power(z, -b),
    rest=lambda z, b: np.power(z, -b),
    log_share=lambda z, b: _log_of_rest(b * np.log(z)),
    log_rest=lambda z, b: -b * np.log(z),
    quantile=lambda q, b: np.power(1.0 - q, -1.0 / b),
    upper_quantile=lambda q, b: np.power(q, -1.0 / b),
    cases=[case(np.array([0.5, 1.3, 4.0]), 1.5), case(UP, UP, -1.5, scale=0.5)],
    shares=shares_of(1.5),
)
