"""More continuous distributions on the whole line, below zero, and between two numbers."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case
from adjoint.rules.scipy.stats.distributions.continuous.best_known import (
    HALF_LOG_TWO_PI,
    LOG_PI,
    LOG_TWO,
    ON_CIRCLE,
    QUANTILES,
    ROOT_TWO,
    log_normal_density,
    log_on_circle,
    no_shape,
    whole_line,
)
from adjoint.rules.scipy.stats.distributions.continuous.integrated import over_the_line
from adjoint.rules.scipy.stats.distributions.formulas import (
    by_cases,
    continuous,
    inside,
    not_negative,
    positive,
    unbounded,
    where_defined,
)

_TINY = np.finfo(float).tiny
VALUES = np.array([-1.3, 0.4, 0.7])


def declared(dist, shapes, parameters, log_density, *, support=unbounded, **formulas):
    """A distribution with examples for some shapes."""
    continuous(
        dist,
        parameters,
        log_density,
        support=support,
        cases=[case(VALUES, *shapes, -0.1, 1.7)],
        shares=[case(QUANTILES, *shapes, 0.2, 1.7)],
        **formulas,
    )


def _c(c, loc=0, scale=1):
    return (positive(c),), loc, scale


def _a_b(a, b, loc=0, scale=1):
    return (a, positive(b)), loc, scale


def chosen(condition, one, other):
    return as_result(np.where(condition, one, other))


# --- on the whole line ------------------------------------------------------------------------------------------------

declared(
    stats.hypsecant,
    (),
    no_shape,
    lambda z: LOG_TWO - LOG_PI - np.abs(z) - np.log1p(np.exp(-2 * np.abs(z))),
    share=lambda z: 2 / np.pi * np.arctan(np.exp(z)),
    rest=lambda z: 2 / np.pi * np.arctan(np.exp(-z)),
    quantile=lambda q: np.where(np.equal(q, 1), np.inf, np.log(np.tan(0.5 * np.pi * q))),
    upper_quantile=lambda q: np.where(np.equal(q, 1), -np.inf, -np.log(np.tan(0.5 * np.pi * q))),
)
declared(
    stats.moyal,
    (),
    no_shape,
    lambda z: -0.5 * (z + np.exp(-z)) - HALF_LOG_TWO_PI,
    share=lambda z: special.erfc(np.exp(-0.5 * z) / ROOT_TWO),
    rest=lambda z: special.erf(np.exp(-0.5 * z) / ROOT_TWO),
    quantile=lambda q: -np.log(2 * special.erfcinv(q) ** 2),
)
declared(
    stats.genlogistic,
    (1.4,),
    _c,
    lambda z, c: np.log(c) - z + (c + 1.0) * special.log_expit(z),
    share=lambda z, c: np.exp(c * special.log_expit(z)),
    rest=lambda z, c: -np.expm1(c * special.log_expit(z)),
    log_share=lambda z, c: c * special.log_expit(z),
    quantile=lambda q, c: -np.log(np.expm1(-np.log(q) / c)),
    upper_quantile=lambda q, c: -np.log(np.expm1(-np.log1p(-q) / c)),
    support=whole_line,
    inner=0.0,
)
declared(
    stats.johnsonsu,
    (0.3, 1.4),
    _a_b,
    lambda z, a, b: np.log(b) - 0.5 * np.log1p(z * z) + log_normal_density(a + b * np.arcsinh(z)),
    share=lambda z, a, b: special.ndtr(a + b * np.arcsinh(z)),
    rest=lambda z, a, b: special.ndtr(-a - b * np.arcsinh(z)),
    log_share=lambda z, a, b: special.log_ndtr(a + b * np.arcsinh(z)),
    log_rest=lambda z, a, b: special.log_ndtr(-a - b * np.arcsinh(z)),
    quantile=lambda q, a, b: np.sinh((special.ndtri(q) - a) / b),
    upper_quantile=lambda q, a, b: np.sinh((-special.ndtri(q) - a) / b),
)
declared(
    stats.powernorm,
    (1.4,),
    _c,
    lambda z, c: np.log(c) + log_normal_density(z) + (c - 1.0) * special.log_ndtr(-z),
    share=lambda z, c: -np.expm1(c * special.log_ndtr(-z)),
    rest=lambda z, c: np.exp(c * special.log_ndtr(-z)),
    log_rest=lambda z, c: c * special.log_ndtr(-z),
    quantile=lambda q, c: -special.ndtri(np.power(1.0 - q, 1.0 / c)),
    upper_quantile=lambda q, c: -special.ndtri(np.power(q, 1.0 / c)),
)
declared(
    stats.dgamma,
    (1.4,),
    lambda a, loc=0, scale=1: ((positive(a),), loc, scale),
    lambda z, a: special.xlogy(a - 1.0, np.abs(z)) - np.abs(z) - special.gammaln(a) - LOG_TWO,
    share=lambda z, a: chosen(
        np.greater(z, 0), 0.5 + 0.5 * special.gammainc(a, np.abs(z)), 0.5 * special.gammaincc(a, np.abs(z))
    ),
    rest=lambda z, a: chosen(
        np.greater(z, 0), 0.5 * special.gammaincc(a, np.abs(z)), 0.5 + 0.5 * special.gammainc(a, np.abs(z))
    ),
)
declared(
    stats.dweibull,
    (1.4,),
    _c,
    lambda z, c: np.log(0.5 * c) + special.xlogy(c - 1.0, np.abs(z)) - np.power(np.abs(z), c),
    share=lambda z, c: chosen(
        np.greater(z, 0), 1.0 - 0.5 * np.exp(-np.power(np.abs(z), c)), 0.5 * np.exp(-np.power(np.abs(z), c))
    ),
    rest=lambda z, c: chosen(
        np.greater(z, 0), 0.5 * np.exp(-np.power(np.abs(z), c)), 1.0 - 0.5 * np.exp(-np.power(np.abs(z), c))
    ),
)


def _share_below(kappa):
    return kappa / (kappa + 1.0 / kappa)


declared(
    stats.laplace_asymmetric,
    (1.4,),
    lambda kappa, loc=0, scale=1: ((positive(kappa),), loc, scale),
    lambda z, kappa: np.where(np.less(z, 0), z / kappa, -z * kappa) - np.log(kappa + 1.0 / kappa),
    share=by_cases(
        lambda z, kappa: np.where(
            np.less(z, 0),
            np.exp(np.minimum(z, 0.0) / kappa) * _share_below(kappa),
            1.0 - np.exp(-np.maximum(z, 0.0) * kappa) * (1.0 - _share_below(kappa)),
        )
    ),
    rest=by_cases(
        lambda z, kappa: np.where(
            np.less(z, 0),
            1.0 - np.exp(np.minimum(z, 0.0) / kappa) * _share_below(kappa),
            np.exp(-np.maximum(z, 0.0) * kappa) * (1.0 - _share_below(kappa)),
        )
    ),
    quantile=lambda q, kappa: np.where(
        np.less(q, _share_below(kappa)),
        np.log(q / _share_below(kappa)) * kappa,
        -np.log((1.0 - q) / (1.0 - _share_below(kappa))) / kappa,
    ),
)


def _rest_of_cauchy(z, a):
    side = 1.0 + a * np.sign(z)
    below = 1.0 - (1.0 - a) / np.pi * np.arctan2(side, -z)
    return chosen(np.greater(z, 0), (1.0 + a) / np.pi * np.arctan2(side, z), below)


declared(
    stats.skewcauchy,
    (0.3,),
    lambda a, loc=0, scale=1: ((where_defined(np.less(np.abs(a), 1), a),), loc, scale),
    lambda z, a: -LOG_PI - np.log1p((z / (1.0 + a * np.sign(z))) ** 2),
    share=lambda z, a: _rest_of_cauchy(-z, -a),
    rest=_rest_of_cauchy,
)


def _hyperbola(z):
    return np.sqrt(1.0 + z * z)


def _log_of_normal_mixture(z, a, b):
    waves = np.log(special.k1e(a * _hyperbola(z))) - np.log(_hyperbola(z))
    return np.log(a) - LOG_PI + np.sqrt(a * a - b * b) + b * z - a * _hyperbola(z) + waves


declared(
    stats.norminvgauss,
    (1.4, 0.3),
    lambda a, b, loc=0, scale=1: ((where_defined(np.less(np.abs(b), a), a), b), loc, scale),
    _log_of_normal_mixture,
    support=whole_line,
    inner=0.0,
    **over_the_line(_log_of_normal_mixture),
)

# --- below zero -------------------------------------------------------------------------------------------------------

declared(
    stats.levy_l,
    (),
    no_shape,
    lambda z: -HALF_LOG_TWO_PI - 1.5 * np.log(-z) + 0.5 / z,
    support=lambda: (-np.inf, -_TINY),
    inner=-1.0,
    share=lambda z: special.erf(np.sqrt(-0.5 / z)),
    rest=lambda z: special.erfc(np.sqrt(-0.5 / z)),
    quantile=lambda q: -0.5 * np.power(special.erfinv(q), -2.0),
    upper_quantile=lambda q: -np.power(special.ndtri(0.5 * q), -2.0),
)

# --- between two numbers ----------------------------------------------------------------------------------------------


def _between(low, high):
    return {"support": lambda *shapes: (low, high), "inner": 0.5 * (low + high)}


declared(
    stats.arcsine,
    (),
    no_shape,
    lambda z: -LOG_PI - 0.5 * np.log(z) - 0.5 * np.log1p(-z),
    share=lambda z: 2 / np.pi * np.arcsin(np.sqrt(z)),
    rest=lambda z: 2 / np.pi * np.arcsin(np.sqrt(1.0 - z)),
    quantile=lambda q: np.sin(0.5 * np.pi * q) ** 2,
    upper_quantile=lambda q: np.cos(0.5 * np.pi * q) ** 2,
    **_between(0.0, 1.0),
)
declared(
    stats.anglit,
    (),
    no_shape,
    lambda z: np.log(np.cos(2 * z)),
    share=lambda z: np.sin(z + 0.25 * np.pi) ** 2,
    rest=lambda z: np.cos(z + 0.25 * np.pi) ** 2,
    quantile=lambda q: np.arcsin(np.sqrt(q)) - 0.25 * np.pi,
    **_between(-0.25 * np.pi, 0.25 * np.pi),
)


def _above_its_sine(w):
    """``w - sin(w)``, of a small number by its series."""
    is_small, square = np.less(np.abs(w), 0.5), w * w
    term, series = w * square / 6.0, 0.0
    for k in (4.0, 6.0, 8.0, 10.0, 12.0, 14.0):
        series, term = series + term, -term * square / (k * (k + 1.0))
    return chosen(is_small, series, w - np.sin(w))


declared(
    stats.cosine,
    (),
    no_shape,
    lambda z: np.log1p(np.cos(z)) - LOG_TWO - LOG_PI,
    share=lambda z: _above_its_sine(np.pi + z) / (2 * np.pi),
    rest=lambda z: _above_its_sine(np.pi - z) / (2 * np.pi),
    **_between(-np.pi, np.pi),
)
declared(
    stats.semicircular,
    (),
    no_shape,
    lambda z: LOG_TWO - LOG_PI + 0.5 * np.log1p(-z * z),
    share=lambda z: _above_its_sine(4.0 * np.arcsin(np.sqrt(0.5 + 0.5 * z))) / (2 * np.pi),
    rest=lambda z: _above_its_sine(4.0 * np.arcsin(np.sqrt(0.5 - 0.5 * z))) / (2 * np.pi),
    **_between(-1.0, 1.0),
)
declared(
    stats.rdist,
    (2.5,),
    _c,
    lambda z, c: special.xlog1py(0.5 * c - 1.0, -z * z) - special.betaln(0.5, 0.5 * c),
    share=lambda z, c: special.betainc(0.5 * c, 0.5 * c, 0.5 * (z + 1.0)),
    rest=lambda z, c: special.betainc(0.5 * c, 0.5 * c, 0.5 * (1.0 - z)),
    quantile=lambda q, c: 2 * special.betaincinv(0.5 * c, 0.5 * c, q) - 1.0,
    **_between(-1.0, 1.0),
)
declared(
    stats.vonmises_line,
    (1.4,),
    lambda kappa, loc=0, scale=1: ((positive(kappa),), loc, scale),
    log_on_circle,
    **_between(-np.pi, np.pi),
    **ON_CIRCLE,
)
declared(
    stats.wrapcauchy,
    (0.3,),
    lambda c, loc=0, scale=1: ((inside(c, 0.0, 1.0),), loc, scale),
    lambda z, c: np.log1p(-c * c) - LOG_TWO - LOG_PI - np.log(1.0 + c * c - 2 * c * np.cos(z)),
    share=lambda z, c: np.arctan2((1.0 + c) * np.sin(0.5 * z), (1.0 - c) * np.cos(0.5 * z)) / np.pi,
    rest=lambda z, c: np.arctan2((1.0 + c) * np.sin(0.5 * z), (c - 1.0) * np.cos(0.5 * z)) / np.pi,
    quantile=lambda q, c: 2.0 * np.arctan2((1.0 - c) * np.sin(np.pi * q), (1.0 + c) * np.cos(np.pi * q)),
    **_between(0.0, 2 * np.pi),
)
declared(
    stats.bradford,
    (1.4,),
    _c,
    lambda z, c: np.log(c) - np.log(np.log1p(c)) - np.log1p(c * z),
    share=lambda z, c: np.log1p(c * z) / np.log1p(c),
    quantile=lambda q, c: np.expm1(q * np.log1p(c)) / c,
    **_between(0.0, 1.0),
)
declared(
    stats.johnsonsb,
    (0.3, 1.4),
    _a_b,
    lambda z, a, b: np.log(b) - np.log(z) - np.log1p(-z) + log_normal_density(a + b * special.logit(z)),
    share=lambda z, a, b: special.ndtr(a + b * special.logit(z)),
    rest=lambda z, a, b: special.ndtr(-a - b * special.logit(z)),
    log_share=lambda z, a, b: special.log_ndtr(a + b * special.logit(z)),
    log_rest=lambda z, a, b: special.log_ndtr(-a - b * special.logit(z)),
    quantile=lambda q, a, b: special.expit((special.ndtri(q) - a) / b),
    upper_quantile=lambda q, a, b: special.expit((-special.ndtri(q) - a) / b),
    support=lambda a, b: (0.0, np.nextafter(1.0, 0.0)),
    inner=0.5,
    is_open=True,
)


def _nonzero(x):
    return np.where(np.equal(x, 0), 1.0, x)


declared(
    stats.triang,
    (0.3,),
    lambda c, loc=0, scale=1: ((inside(c, 0.0, 1.0),), loc, scale),
    lambda z, c: LOG_TWO + chosen(np.less(z, c), np.log(z / _nonzero(c)), np.log((1.0 - z) / _nonzero(1.0 - c))),
    share=lambda z, c: chosen(np.less(z, c), z * z / _nonzero(c), (z * (2.0 - z) - c) / _nonzero(1.0 - c)),
    rest=lambda z, c: chosen(np.less(z, c), (c - z * z) / _nonzero(c), (1.0 - z) ** 2 / _nonzero(1.0 - c)),
    quantile=lambda q, c: np.where(np.less(q, c), np.sqrt(c * q), 1.0 - np.sqrt((1.0 - c) * (1.0 - q))),
    **_between(0.0, 1.0),
)


def _log_of_trapezoid(z, c, d):
    sides = np.where(np.less(z, c), np.log(z / _nonzero(c)), np.log((1.0 - z) / _nonzero(1.0 - d)))
    flat = np.logical_and(np.greater_equal(z, c), np.less_equal(z, d))
    return LOG_TWO - np.log(d - c + 1.0) + chosen(flat, 0.0, sides)


def _share_of_trapezoid(z, c, d):
    height = d - c + 1.0
    sides = chosen(np.less(z, c), z * z / _nonzero(c) / height, 1.0 - (1.0 - z) ** 2 / height / _nonzero(1.0 - d))
    flat = np.logical_and(np.greater_equal(z, c), np.less_equal(z, d))
    return chosen(flat, (2.0 * z - c) / height, sides)


declared(
    stats.trapezoid,
    (0.3, 0.6),
    lambda c, d, loc=0, scale=1: ((inside(c, 0.0, 1.0), inside(d, c, 1.0)), loc, scale),
    _log_of_trapezoid,
    share=_share_of_trapezoid,
    rest=lambda z, c, d: _share_of_trapezoid(1.0 - z, 1.0 - d, 1.0 - c),
    **_between(0.0, 1.0),
)
declared(
    stats.truncexpon,
    (1.4,),
    lambda b, loc=0, scale=1: ((positive(b),), loc, scale),
    lambda z, b: -z - np.log(-np.expm1(-b)),
    support=lambda b: (0.0, b),
    inner=lambda b: 0.5 * b,
    share=lambda z, b: np.expm1(-z) / np.expm1(-b),
    rest=lambda z, b: np.exp(-z) * np.expm1(z - b) / np.expm1(-b),
    quantile=lambda q, b: -np.log1p(q * np.expm1(-b)),
)
declared(
    stats.truncpareto,
    (1.4, 2.5),
    lambda b, c, loc=0, scale=1: (
        (where_defined(np.not_equal(b, 0), b), where_defined(np.greater(c, 1), c)),
        loc,
        scale,
    ),
    lambda z, b, c: np.log(b / -np.expm1(-b * np.log(c))) - (b + 1.0) * np.log(z),
    support=lambda b, c: (1.0, c),
    inner=lambda b, c: 0.5 * (1.0 + c),
    share=lambda z, b, c: np.expm1(-b * np.log(z)) / np.expm1(-b * np.log(c)),
    rest=lambda z, b, c: np.power(z, -b) * np.expm1(b * np.log(z / c)) / np.expm1(-b * np.log(c)),
    quantile=lambda q, b, c: np.power(1.0 + q * np.expm1(-b * np.log(c)), -1.0 / b),
)


def _log_power_mass(low, high, c):
    """The logarithm of the Weibull probability between two numbers."""
    less = np.power(high, c) - np.power(low, c)
    return -np.power(low, c) + np.log(-np.expm1(-less))


declared(
    stats.truncweibull_min,
    (1.4, 0.2, 2.5),
    lambda c, a, b, loc=0, scale=1: ((positive(c), not_negative(a), where_defined(np.less(a, b), b)), loc, scale),
    lambda z, c, a, b: np.log(c) + special.xlogy(c - 1.0, z) - np.power(z, c) - _log_power_mass(a, b, c),
    support=lambda c, a, b: (a, b),
    inner=lambda c, a, b: 0.5 * (a + np.minimum(b, a + 100.0)),
    share=lambda z, c, a, b: np.exp(_log_power_mass(a, z, c) - _log_power_mass(a, b, c)),
    rest=lambda z, c, a, b: np.exp(_log_power_mass(z, b, c) - _log_power_mass(a, b, c)),
    log_share=lambda z, c, a, b: _log_power_mass(a, z, c) - _log_power_mass(a, b, c),
    log_rest=lambda z, c, a, b: _log_power_mass(z, b, c) - _log_power_mass(a, b, c),
    is_open=True,
)
