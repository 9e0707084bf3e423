"""More continuous distributions above zero."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case
from adjoint.rules.scipy.special.probabilities.noncentral import noncentral_chi2
from adjoint.rules.scipy.stats.distributions.continuous.best_known import (
    HALF_LOG_TWO_PI,
    LOG_PI,
    LOG_TWO,
    QUANTILES,
    half_line,
    log_normal_density,
    log_normal_mass,
    no_shape,
)
from adjoint.rules.scipy.stats.distributions.formulas import continuous, not_negative, positive, where_defined

VALUES = np.array([0.4, 1.3, -0.2])


def _above_zero(dist, shapes, parameters, log_density, **formulas):
    """A distribution above zero, with examples for some shapes."""
    continuous(
        dist,
        parameters,
        log_density,
        support=half_line,
        inner=1.0,
        cases=[case(VALUES, *shapes, -0.3, 1.7)],
        shares=[case(QUANTILES, *shapes, 0.2, 1.7)],
        **formulas,
    )


def _c(c, loc=0, scale=1):
    return (positive(c),), loc, scale


def _c_d(c, d, loc=0, scale=1):
    return (positive(c), positive(d)), loc, scale


_above_zero(
    stats.maxwell,
    (),
    no_shape,
    lambda z: 0.5 * (LOG_TWO - LOG_PI) + 2 * np.log(z) - 0.5 * z * z,
    share=lambda z: special.gammainc(1.5, 0.5 * z * z),
    rest=lambda z: special.gammaincc(1.5, 0.5 * z * z),
    quantile=lambda q: np.sqrt(2 * special.gammaincinv(1.5, q)),
    upper_quantile=lambda q: np.sqrt(2 * special.gammainccinv(1.5, q)),
)
_above_zero(
    stats.halflogistic,
    (),
    no_shape,
    lambda z: LOG_TWO - z + 2 * special.log_expit(z),
    share=lambda z: np.tanh(0.5 * z),
    rest=lambda z: 2 * special.expit(-z),
    quantile=lambda q: 2 * np.arctanh(q),
    upper_quantile=lambda q: np.log(2 - q) - np.log(q),
)
_above_zero(
    stats.gibrat,
    (),
    no_shape,
    lambda z: log_normal_density(np.log(z)) - np.log(z),
    is_open=True,
    share=lambda z: special.ndtr(np.log(z)),
    rest=lambda z: special.ndtr(-np.log(z)),
    quantile=lambda q: np.exp(special.ndtri(q)),
    upper_quantile=lambda q: np.exp(-special.ndtri(q)),
)
_above_zero(
    stats.levy,
    (),
    no_shape,
    lambda z: -HALF_LOG_TWO_PI - 1.5 * np.log(z) - 0.5 / z,
    is_open=True,
    share=lambda z: special.erfc(np.sqrt(0.5 / z)),
    rest=lambda z: special.erf(np.sqrt(0.5 / z)),
    quantile=lambda q: np.power(special.ndtri(0.5 * q), -2.0),
    upper_quantile=lambda q: 0.5 * np.power(special.erfinv(q), -2.0),
)


_above_zero(
    stats.erlang,
    (2,),
    lambda a, loc=0, scale=1: ((positive(a),), loc, scale),
    lambda z, a: special.xlogy(a - 1.0, z) - z - special.gammaln(a),
    share=lambda z, a: special.gammainc(a, z),
    rest=lambda z, a: special.gammaincc(a, z),
    quantile=lambda q, a: special.gammaincinv(a, q),
    upper_quantile=lambda q, a: special.gammainccinv(a, q),
)
_above_zero(
    stats.fisk,
    (2.5,),
    _c,
    lambda z, c: np.log(c) - np.log(z) + special.log_expit(c * np.log(z)) + special.log_expit(-c * np.log(z)),
    is_open=True,
    share=lambda z, c: special.expit(c * np.log(z)),
    rest=lambda z, c: special.expit(-c * np.log(z)),
    log_share=lambda z, c: special.log_expit(c * np.log(z)),
    log_rest=lambda z, c: special.log_expit(-c * np.log(z)),
    quantile=lambda q, c: np.exp(special.logit(q) / c),
    upper_quantile=lambda q, c: np.exp(-special.logit(q) / c),
)


def _odds(log_probability, d):
    """The logarithm of ``p ** (-1 / d) - 1``."""
    return np.log(np.expm1(-log_probability / d))


_above_zero(
    stats.burr,
    (2.5, 1.4),
    _c_d,
    lambda z, c, d: (
        np.log(c) + np.log(d) - np.log(z) + d * special.log_expit(c * np.log(z)) + special.log_expit(-c * np.log(z))
    ),
    is_open=True,
    share=lambda z, c, d: np.exp(d * special.log_expit(c * np.log(z))),
    rest=lambda z, c, d: -np.expm1(d * special.log_expit(c * np.log(z))),
    log_share=lambda z, c, d: d * special.log_expit(c * np.log(z)),
    quantile=lambda q, c, d: np.exp(-_odds(np.log(q), d) / c),
    upper_quantile=lambda q, c, d: np.exp(-_odds(np.log1p(-q), d) / c),
)
_above_zero(
    stats.burr12,
    (2.5, 1.4),
    _c_d,
    lambda z, c, d: (
        np.log(c) + np.log(d) - np.log(z) + special.log_expit(c * np.log(z)) + d * special.log_expit(-c * np.log(z))
    ),
    is_open=True,
    share=lambda z, c, d: -np.expm1(d * special.log_expit(-c * np.log(z))),
    rest=lambda z, c, d: np.exp(d * special.log_expit(-c * np.log(z))),
    log_rest=lambda z, c, d: d * special.log_expit(-c * np.log(z)),
    quantile=lambda q, c, d: np.exp(_odds(np.log1p(-q), d) / c),
    upper_quantile=lambda q, c, d: np.exp(_odds(np.log(q), d) / c),
)
_above_zero(
    stats.mielke,
    (2.5, 1.4),
    lambda k, s, loc=0, scale=1: ((positive(k), positive(s)), loc, scale),
    lambda z, k, s: np.log(k) + special.xlogy(k - 1, z) + (1 + k / s) * special.log_expit(-s * np.log(z)),
    is_open=True,
    share=lambda z, k, s: np.exp(k / s * special.log_expit(s * np.log(z))),
    rest=lambda z, k, s: -np.expm1(k / s * special.log_expit(s * np.log(z))),
    quantile=lambda q, k, s: np.exp(-_odds(np.log(q), k / s) / s),
)
_above_zero(
    stats.betaprime,
    (2.5, 1.4),
    lambda a, b, loc=0, scale=1: ((positive(a), positive(b)), loc, scale),
    lambda z, a, b: special.xlogy(a - 1.0, z) - (a + b) * np.log1p(z) - special.betaln(a, b),
    share=lambda z, a, b: special.betainc(a, b, z / (1.0 + z)),
    rest=lambda z, a, b: special.betainc(b, a, 1.0 / (1.0 + z)),
    quantile=lambda q, a, b: special.betaincinv(a, b, q) / special.betainccinv(b, a, q),
)


def _gamma_of_power(z, a, c):
    power = np.power(z, c)
    return as_result(np.where(np.greater(c, 0), special.gammainc(a, power), special.gammaincc(a, power)))


def _rest_of_gamma(z, a, c):
    power = np.power(z, c)
    return as_result(np.where(np.greater(c, 0), special.gammaincc(a, power), special.gammainc(a, power)))


def _root_of_gamma(q, a, c):
    found = np.where(np.greater(c, 0), special.gammaincinv(a, q), special.gammainccinv(a, q))
    return np.power(found, 1.0 / c)


_above_zero(
    stats.gengamma,
    (2.5, 1.4),
    lambda a, c, loc=0, scale=1: ((positive(a), where_defined(np.not_equal(c, 0), c)), loc, scale),
    lambda z, a, c: np.log(np.abs(c)) + special.xlogy(c * a - 1.0, z) - np.power(z, c) - special.gammaln(a),
    share=_gamma_of_power,
    rest=_rest_of_gamma,
    quantile=_root_of_gamma,
)
_above_zero(
    stats.nakagami,
    (1.4,),
    lambda nu, loc=0, scale=1: ((positive(nu),), loc, scale),
    lambda z, nu: LOG_TWO + special.xlogy(nu, nu) - special.gammaln(nu) + special.xlogy(2 * nu - 1.0, z) - nu * z * z,
    share=lambda z, nu: special.gammainc(nu, nu * z * z),
    rest=lambda z, nu: special.gammaincc(nu, nu * z * z),
    quantile=lambda q, nu: np.sqrt(special.gammaincinv(nu, q) / nu),
    upper_quantile=lambda q, nu: np.sqrt(special.gammainccinv(nu, q) / nu),
)
_above_zero(
    stats.invweibull,
    (1.4,),
    _c,
    lambda z, c: np.log(c) - (c + 1.0) * np.log(z) - np.power(z, -c),
    is_open=True,
    share=lambda z, c: np.exp(-np.power(z, -c)),
    rest=lambda z, c: -np.expm1(-np.power(z, -c)),
    log_share=lambda z, c: -np.power(z, -c),
    quantile=lambda q, c: np.power(-np.log(q), -1.0 / c),
    upper_quantile=lambda q, c: np.power(-np.log1p(-q), -1.0 / c),
)


def _weibull_share(z, c):
    return -np.expm1(-np.power(z, c))


_above_zero(
    stats.exponweib,
    (1.4, 2.5),
    lambda a, c, loc=0, scale=1: ((positive(a), positive(c)), loc, scale),
    lambda z, a, c: (
        np.log(a)
        + np.log(c)
        + special.xlogy(a - 1.0, _weibull_share(z, c))
        - np.power(z, c)
        + special.xlogy(c - 1.0, z)
    ),
    share=lambda z, a, c: np.power(_weibull_share(z, c), a),
    rest=lambda z, a, c: -np.expm1(a * np.log1p(-np.exp(-np.power(z, c)))),
    quantile=lambda q, a, c: np.power(-np.log1p(-np.power(q, 1.0 / a)), 1.0 / c),
)
_above_zero(
    stats.exponpow,
    (1.4,),
    lambda b, loc=0, scale=1: ((positive(b),), loc, scale),
    lambda z, b: 1.0 + np.log(b) + special.xlogy(b - 1.0, z) + np.power(z, b) - np.exp(np.power(z, b)),
    share=lambda z, b: -np.expm1(-np.expm1(np.power(z, b))),
    rest=lambda z, b: np.exp(-np.expm1(np.power(z, b))),
    quantile=lambda q, b: np.power(np.log1p(-np.log1p(-q)), 1.0 / b),
    upper_quantile=lambda q, b: np.power(np.log1p(-np.log(q)), 1.0 / b),
)
_above_zero(
    stats.gompertz,
    (1.4,),
    _c,
    lambda z, c: np.log(c) + z - c * np.expm1(z),
    share=lambda z, c: -np.expm1(-c * np.expm1(z)),
    rest=lambda z, c: np.exp(-c * np.expm1(z)),
    log_rest=lambda z, c: -c * np.expm1(z),
    quantile=lambda q, c: np.log1p(-np.log1p(-q) / c),
    upper_quantile=lambda q, c: np.log1p(-np.log(q) / c),
)
_above_zero(
    stats.foldnorm,
    (1.4,),
    lambda c, loc=0, scale=1: ((not_negative(c),), loc, scale),
    lambda z, c: -0.5 * (z * z + c * c) - HALF_LOG_TWO_PI + np.logaddexp(c * z, -c * z),
    share=lambda z, c: special.ndtr(z - c) - special.ndtr(-z - c),
    rest=lambda z, c: special.ndtr(c - z) + special.ndtr(-c - z),
    log_share=lambda z, c: log_normal_mass(-z - c, z - c),
)
_above_zero(
    stats.foldcauchy,
    (1.4,),
    lambda c, loc=0, scale=1: ((not_negative(c),), loc, scale),
    lambda z, c: np.log(1.0 / (1.0 + (z - c) ** 2) + 1.0 / (1.0 + (z + c) ** 2)) - LOG_PI,
    share=lambda z, c: np.arctan2(2.0 * z, 1.0 + c * c - z * z) / np.pi,
    rest=lambda z, c: (np.arctan2(1, z - c) + np.arctan2(1, z + c)) / np.pi,
)
_above_zero(
    stats.halfgennorm,
    (1.4,),
    lambda beta, loc=0, scale=1: ((positive(beta),), loc, scale),
    lambda z, beta: np.log(beta) - special.gammaln(1.0 / beta) - np.power(z, beta),
    share=lambda z, beta: special.gammainc(1.0 / beta, np.power(z, beta)),
    rest=lambda z, beta: special.gammaincc(1.0 / beta, np.power(z, beta)),
    quantile=lambda q, beta: np.power(special.gammaincinv(1.0 / beta, q), 1.0 / beta),
    upper_quantile=lambda q, beta: np.power(special.gammainccinv(1.0 / beta, q), 1.0 / beta),
)
_above_zero(
    stats.loglaplace,
    (1.4,),
    _c,
    lambda z, c: np.log(0.5 * c) - np.log(z) - c * np.abs(np.log(z)),
    is_open=True,
    share=lambda z, c: as_result(np.where(np.less(z, 1), 0.5 * np.power(z, c), 1.0 - 0.5 * np.power(z, -c))),
    rest=lambda z, c: as_result(np.where(np.less(z, 1), 1.0 - 0.5 * np.power(z, c), 0.5 * np.power(z, -c))),
    quantile=lambda q, c: np.where(np.less(q, 0.5), np.power(2 * q, 1.0 / c), np.power(2 - 2 * q, -1.0 / c)),
    upper_quantile=lambda q, c: np.where(np.less(q, 0.5), np.power(2 * q, -1.0 / c), np.power(2 - 2 * q, 1.0 / c)),
)
_above_zero(
    stats.powerlognorm,
    (2.5, 0.7),
    lambda c, s, loc=0, scale=1: ((positive(c), positive(s)), loc, scale),
    lambda z, c, s: (
        np.log(c)
        - np.log(z)
        - np.log(s)
        + log_normal_density(np.log(z) / s)
        + (c - 1.0) * special.log_ndtr(-np.log(z) / s)
    ),
    is_open=True,
    share=lambda z, c, s: -np.expm1(c * special.log_ndtr(-np.log(z) / s)),
    rest=lambda z, c, s: np.exp(c * special.log_ndtr(-np.log(z) / s)),
    log_rest=lambda z, c, s: c * special.log_ndtr(-np.log(z) / s),
    quantile=lambda q, c, s: np.exp(-s * special.ndtri(np.power(1.0 - q, 1.0 / c))),
    upper_quantile=lambda q, c, s: np.exp(-s * special.ndtri(np.power(q, 1.0 / c))),
)
_above_zero(
    stats.rice,
    (0.7,),
    lambda b, loc=0, scale=1: ((not_negative(b),), loc, scale),
    lambda z, b: np.log(z) - 0.5 * (z - b) ** 2 + np.log(special.i0e(z * b)),
    share=lambda z, b: noncentral_chi2(z * z, 2.0 + 0.0 * b, b * b),
    rest=lambda z, b: noncentral_chi2(z * z, 2.0 + 0.0 * b, b * b, special.gammaincc),
    exact_tails=False,
)


def _rest_of_kappa(z, a):
    far = np.greater(z, 1.0)
    beyond = -np.expm1(-np.log1p(a * np.power(np.where(far, z, 1.0), -a)) / a)
    return np.where(far, beyond, 1.0 - z * np.power(a + np.power(z, a), -1.0 / a))


_above_zero(
    stats.kappa3,
    (1.4,),
    lambda a, loc=0, scale=1: ((positive(a),), loc, scale),
    lambda z, a: np.log(a) - (a + 1.0) / a * np.log(a + np.power(z, a)),
    share=lambda z, a: z * np.power(a + np.power(z, a), -1.0 / a),
    rest=_rest_of_kappa,
    quantile=lambda q, a: np.power(a / (np.power(q, -a) - 1.0), 1.0 / a),
)
_above_zero(
    stats.alpha,
    (1.4,),
    lambda a, loc=0, scale=1: ((positive(a),), loc, scale),
    lambda z, a: log_normal_density(a - 1.0 / z) - 2 * np.log(z) - special.log_ndtr(a),
    is_open=True,
    share=lambda z, a: special.ndtr(a - 1.0 / z) / special.ndtr(a),
    rest=lambda z, a: np.exp(log_normal_mass(a - 1.0 / z, a) - special.log_ndtr(a)),
    log_share=lambda z, a: special.log_ndtr(a - 1.0 / z) - special.log_ndtr(a),
    log_rest=lambda z, a: log_normal_mass(a - 1.0 / z, a) - special.log_ndtr(a),
    quantile=lambda q, a: np.where(np.equal(q, 1), np.inf, 1.0 / (a - special.ndtri(q * special.ndtr(a)))),
)


def log1p_over(z, c):
    """``log1p(c * z) / c``, smooth where ``c`` is zero."""
    small = np.less(np.abs(c * z), 1e-4)
    series = z * (1.0 - c * z * (0.5 - c * z * (1.0 / 3.0 - c * z * (0.25 - 0.2 * c * z))))
    return np.where(small, series, np.log1p(c * z) / np.where(small, 1.0, c))


continuous(
    stats.genpareto,
    lambda c, loc=0, scale=1: ((c,), loc, scale),
    lambda z, c: -(c + 1.0) * log1p_over(z, c),
    support=lambda c: (0.0, np.where(np.less(c, 0), -1.0 / np.where(np.less(c, 0), c, 1.0), np.inf)),
    inner=lambda c: np.where(np.less(c, 0), -0.5 / np.where(np.less(c, 0), c, 1.0), 1.0),
    share=lambda z, c: -np.expm1(-log1p_over(z, c)),
    rest=lambda z, c: np.exp(-log1p_over(z, c)),
    log_rest=lambda z, c: -log1p_over(z, c),
    quantile=lambda q, c: -special.boxcox1p(-q, -c),
    upper_quantile=lambda q, c: -special.boxcox(q, -c),
    cases=[case(VALUES, 0.3, -0.3, 1.7), case(VALUES, np.array([-0.6, 0.0, 0.2]))],
    shares=[case(QUANTILES, np.array([0.3, -0.4]), 0.2, 1.7)],
)


def _reduced(z, c):
    return log1p_over(z, -c)


def _end(c, is_above):
    """The end of the support of an extreme value distribution, if it is above, or below."""
    bounded = np.greater(c, 0) if is_above else np.less(c, 0)
    return np.where(bounded, 1.0 / np.where(bounded, c, 1.0), np.inf if is_above else -np.inf)


continuous(
    stats.genextreme,
    lambda c, loc=0, scale=1: ((c,), loc, scale),
    lambda z, c: -(1.0 - c) * _reduced(z, c) - np.exp(-_reduced(z, c)),
    support=lambda c: (_end(c, False), _end(c, True)),
    inner=0.0,
    share=lambda z, c: np.exp(-np.exp(-_reduced(z, c))),
    rest=lambda z, c: -np.expm1(-np.exp(-_reduced(z, c))),
    log_share=lambda z, c: -np.exp(-_reduced(z, c)),
    quantile=lambda q, c: -special.boxcox(-np.log(q), c),
    upper_quantile=lambda q, c: -special.boxcox(-np.log1p(-q), c),
    cases=[case(VALUES, 0.3, -0.3, 1.7), case(VALUES, np.array([-0.6, 0.0, 0.2]))],
    shares=[case(QUANTILES, np.array([0.3, -0.4]), 0.2, 1.7)],
)
