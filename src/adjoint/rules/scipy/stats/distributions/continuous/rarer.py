"""Distributions that are asked for in one field each: of energies, of waiting times, of skewed data, of tails."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, elementwise
from adjoint.rules.scipy.stats.distributions.continuous.above_zero import log1p_over
from adjoint.rules.scipy.stats.distributions.continuous.best_known import (
    HALF_LOG_TWO_PI,
    LOG_PI,
    LOG_TWO,
    half_line,
    whole_line,
)
from adjoint.rules.scipy.stats.distributions.continuous.elsewhere import chosen, declared
from adjoint.rules.scipy.stats.distributions.continuous.integrated import (
    REACH,
    above_zero,
    integrated,
    log_area,
    log_odds,
    over_the_line,
)
from adjoint.rules.scipy.stats.distributions.formulas import by_cases, column, positive, where_defined, whole_number
from adjoint.runtime.numerical_methods.special.splines import cardinal_spline

_ROOT_TWO_PI = 2.5066282746310002


# --- above zero, and between two numbers ------------------------------------------------------------------------------


def _area_below(chi):
    return 0.5 * special.gammainc(1.5, 0.5 * chi * chi)


def _log_of_argus_odds(u, chi):
    """The logarithm of the density by the logarithm of the odds."""
    z, above = special.expit(u), special.log_expit(-u)
    constant = 3.0 * np.log(chi) - HALF_LOG_TWO_PI - np.log(_area_below(chi))
    left = np.exp(above) * (1.0 + z)
    return constant + 2.0 * special.log_expit(u) + 1.5 * above + 0.5 * np.log1p(z) - 0.5 * chi * chi * left


declared(
    stats.argus,
    (1.4,),
    lambda chi, loc=0, scale=1: ((positive(chi),), loc, scale),
    lambda z, chi: (
        3.0 * np.log(chi)
        - HALF_LOG_TWO_PI
        - np.log(_area_below(chi))
        + np.log(z)
        + 0.5 * np.log1p(-z * z)
        - 0.5 * chi * chi * (1.0 - z * z)
    ),
    support=lambda chi: (0.0, 1.0),
    inner=0.5,
    share=lambda z, chi: 1.0 - _area_below(chi * np.sqrt(1.0 - z * z)) / _area_below(chi),
    rest=lambda z, chi: _area_below(chi * np.sqrt(1.0 - z * z)) / _area_below(chi),
    log_share=integrated(_log_of_argus_odds, log_odds, lambda u: u, lambda u: 0.0 * u)["log_share"],
    is_open=True,
)


def _rate_of_growth(z, a, b, c):
    return -(a + b) * z - b * np.expm1(-c * z) / c


declared(
    stats.genexpon,
    (1.4, 0.7, 2.1),
    lambda a, b, c, loc=0, scale=1: ((positive(a), positive(b), positive(c)), loc, scale),
    lambda z, a, b, c: np.log(a - b * np.expm1(-c * z)) + _rate_of_growth(z, a, b, c),
    support=half_line,
    inner=1.0,
    share=lambda z, a, b, c: -np.expm1(_rate_of_growth(z, a, b, c)),
    rest=lambda z, a, b, c: np.exp(_rate_of_growth(z, a, b, c)),
    log_rest=_rate_of_growth,
)
declared(
    stats.genhalflogistic,
    (0.4,),
    lambda c, loc=0, scale=1: ((positive(c),), loc, scale),
    lambda z, c: LOG_TWO + (1.0 / c - 1.0) * np.log1p(-c * z) - 2.0 * np.log1p(np.power(1.0 - c * z, 1.0 / c)),
    support=lambda c: (0.0, 1.0 / c),
    inner=lambda c: 0.5 / c,
    share=lambda z, c: (1.0 - np.power(1.0 - c * z, 1.0 / c)) / (1.0 + np.power(1.0 - c * z, 1.0 / c)),
    rest=lambda z, c: 2.0 * np.power(1.0 - c * z, 1.0 / c) / (1.0 + np.power(1.0 - c * z, 1.0 / c)),
    quantile=lambda q, c: (1.0 - np.power((1.0 - q) / (1.0 + q), c)) / c,
)


def _log_of_resonance(z, rho):
    root = np.sqrt(1.0 + 1.0 / (rho * rho))
    constant = 0.5 * (LOG_TWO + 2.0 * np.log(root) - np.log1p(root)) + LOG_TWO - LOG_PI
    return constant - np.log1p(((z - rho) * (z + rho) / rho) ** 2)


def _share_of_resonance(z, rho):
    width = 1j / rho
    constant = 2.0 * np.sqrt(2.0 / (1.0 + np.sqrt(1.0 + 1.0 / (rho * rho)))) / np.pi
    return constant * np.imag(np.sqrt(-1.0 + width) * np.arctan(z / (rho * np.sqrt(-1.0 - width))))


declared(
    stats.rel_breitwigner,
    (1.4,),
    lambda rho, loc=0, scale=1: ((positive(rho),), loc, scale),
    _log_of_resonance,
    support=half_line,
    inner=1.0,
    share=_share_of_resonance,
    exact_tails=False,
)


def _log_of_inverse_gauss(z, p, b):
    return (p - 1.0) * np.log(z) - 0.5 * b * (z + 1.0 / z) - LOG_TWO - np.log(special.kve(p, b)) + b


declared(
    stats.geninvgauss,
    (1.4, 0.7),
    lambda p, b, loc=0, scale=1: ((p, positive(b)), loc, scale),
    _log_of_inverse_gauss,
    support=half_line,
    is_open=True,
    inner=1.0,
    **above_zero(_log_of_inverse_gauss),
)

# --- on the whole line ------------------------------------------------------------------------------------------------


def _tail_of_ball(z, beta, m):
    """What the power of the tail is taken of."""
    return m / beta - beta - np.minimum(z, -beta)


def _weight_of_tail(beta, m):
    return m / beta / (m - 1.0) * np.exp(-0.5 * beta * beta)


def _log_of_ball(z, beta, m):
    whole = np.log(_weight_of_tail(beta, m) + _ROOT_TWO_PI * special.ndtr(beta))
    tail = m * np.log(m / beta) - 0.5 * beta * beta - m * np.log(_tail_of_ball(z, beta, m))
    return as_result(np.where(np.greater(z, -beta), -0.5 * z * z, tail)) - whole


def _share_of_ball(z, beta, m):
    below = _weight_of_tail(beta, m)
    tail = below * np.power(_tail_of_ball(z, beta, m) * beta / m, 1.0 - m)
    core = below + _ROOT_TWO_PI * (special.ndtr(z) - special.ndtr(-beta))
    whole = below + _ROOT_TWO_PI * special.ndtr(beta)
    return as_result(np.where(np.greater(z, -beta), core, tail)) / whole


def _rest_of_ball(z, beta, m):
    whole = _weight_of_tail(beta, m) + _ROOT_TWO_PI * special.ndtr(beta)
    core = _ROOT_TWO_PI * special.ndtr(-z) / whole
    return as_result(np.where(np.greater(z, -beta), core, 1.0 - _share_of_ball(z, beta, m)))


declared(
    stats.crystalball,
    (0.6, 2.5),
    lambda beta, m, loc=0, scale=1: ((positive(beta), where_defined(np.greater(m, 1), m)), loc, scale),
    by_cases(_log_of_ball),
    share=by_cases(_share_of_ball),
    rest=by_cases(_rest_of_ball),
)


def _log_of_hyperbolic(z, p, a, b):
    rate = np.sqrt((a - b) * (a + b))
    distance = np.sqrt(1.0 + z * z)
    constant = p * np.log(rate) - HALF_LOG_TWO_PI - (p - 0.5) * np.log(a) - np.log(special.kve(p, rate)) + rate
    waves = np.log(special.kve(p - 0.5, a * distance)) - a * distance
    return constant + (p - 0.5) * np.log(distance) + waves + b * z


declared(
    stats.genhyperbolic,
    (0.7, 1.4, 0.3),
    lambda p, a, b, loc=0, scale=1: ((p, where_defined(np.less(np.abs(b), a), a), b), loc, scale),
    _log_of_hyperbolic,
    support=whole_line,
    inner=0.0,
    **over_the_line(_log_of_hyperbolic),
)


def _towards_one(z, a, b):
    return z / np.sqrt(a + b + z * z)


def _odds_of_skew(z, a, b):
    """``0.5 + 0.5 * _towards_one``, far below zero too."""
    root = np.sqrt(a + b + z * z)
    return chosen(np.less(z, 0.0), 0.5 * (a + b) / (root * (root + np.abs(z))), 0.5 + 0.5 * z / root)


def _from_share(share, a, b):
    return (2.0 * share - 1.0) * np.sqrt(a + b) / (2.0 * np.sqrt(share * (1.0 - share)))


declared(
    stats.jf_skew_t,
    (1.4, 2.1),
    lambda a, b, loc=0, scale=1: ((positive(a), positive(b)), loc, scale),
    lambda z, a, b: (
        (a + 0.5) * np.log1p(_towards_one(z, a, b))
        + (b + 0.5) * np.log1p(-_towards_one(z, a, b))
        - (a + b - 1.0) * LOG_TWO
        - special.betaln(a, b)
        - 0.5 * np.log(a + b)
    ),
    share=lambda z, a, b: special.betainc(a, b, _odds_of_skew(z, a, b)),
    rest=lambda z, a, b: special.betainc(b, a, _odds_of_skew(-z, a, b)),
    support=whole_line,
    quantile=lambda q, a, b: _from_share(special.betaincinv(a, b, q), a, b),
    upper_quantile=lambda q, a, b: _from_share(special.betainccinv(a, b, q), a, b),
)


def _reduced(z, k):
    return log1p_over(z, -k)


def _fallen(z, h, k):
    """Minus the logarithm of the probability of less."""
    return log1p_over(np.exp(-_reduced(z, k)), -h)


def _ends_of_kappa(h, k):
    above = np.greater(h, 0.0)
    low = np.where(above, special.boxcox(np.where(above, h, 1.0), -k), -np.inf)
    bounded = np.logical_and(np.logical_not(above), np.less(k, 0.0))
    low = np.where(bounded, 1.0 / np.where(bounded, k, 1.0), low)
    is_short = np.greater(k, 0.0)
    return low, np.where(is_short, 1.0 / np.where(is_short, k, 1.0), np.inf)


declared(
    stats.kappa4,
    (0.3, 0.1),
    lambda h, k, loc=0, scale=1: ((h, k), loc, scale),
    lambda z, h, k: -(1.0 - k) * _reduced(z, k) - (1.0 - h) * _fallen(z, h, k),
    support=_ends_of_kappa,
    is_open=True,
    inner=lambda h, k: -special.boxcox(-special.boxcox(0.5, h), k),
    share=lambda z, h, k: np.exp(-_fallen(z, h, k)),
    rest=lambda z, h, k: -np.expm1(-_fallen(z, h, k)),
    log_share=lambda z, h, k: -_fallen(z, h, k),
    quantile=lambda q, h, k: -special.boxcox(-special.boxcox(q, h), k),
)


def _normal_tails(z, s, a, b):
    """The logarithm of the normal density by its tails from two numbers on: of one beyond, and of the other."""
    beyond, before = a * s - z, b * s + z
    return (
        special.log_ndtr(-beyond) + 0.5 * (beyond * beyond - z * z),
        special.log_ndtr(-before) + 0.5 * (before * before - z * z),
    )


def _log_of_two_powers(y, u, s, a, b):
    beyond, before = _normal_tails((np.log(y) - u) / s, s, a, b)
    return np.log(a) + np.log(b) - np.log(a + b) - np.log(y) + np.logaddexp(beyond, before)


def _moved_by_powers(y, u, s, a, b):
    beyond, before = _normal_tails((np.log(y) - u) / s, s, a, b)
    return (b * np.exp(beyond) - a * np.exp(before)) / (a + b)


declared(
    stats.dpareto_lognorm,
    (0.2, 0.7, 1.4, 2.1),
    lambda u, s, a, b, loc=0, scale=1: ((u, positive(s), positive(a), positive(b)), loc, scale),
    _log_of_two_powers,
    support=half_line,
    is_open=True,
    inner=1.0,
    share=lambda y, u, s, a, b: special.ndtr((np.log(y) - u) / s) - _moved_by_powers(y, u, s, a, b),
    rest=lambda y, u, s, a, b: special.ndtr((u - np.log(y)) / s) + _moved_by_powers(y, u, s, a, b),
    **{name: above_zero(_log_of_two_powers)[name] for name in ("log_share", "log_rest")},
)


def _log_of_hypergeometric(a, b, c, z):
    return special.betaln(a, b) + np.log(special.hyp2f1(c, a, a + b, -z))


def _log_of_hypergeometric_odds(u, a, b, c, z):
    powers = a * special.log_expit(u) + b * special.log_expit(-u) - c * np.log1p(z * special.expit(u))
    return powers - _log_of_hypergeometric(a, b, c, z)


declared(
    stats.gausshyper,
    (1.4, 2.1, 0.7, 0.6),
    lambda a, b, c, z, loc=0, scale=1: (
        (positive(a), positive(b), c, where_defined(np.greater(z, -1.0), z)),
        loc,
        scale,
    ),
    lambda x, a, b, c, z: (
        special.xlogy(a - 1.0, x)
        + special.xlog1py(b - 1.0, -x)
        - c * np.log1p(z * x)
        - _log_of_hypergeometric(a, b, c, z)
    ),
    support=lambda a, b, c, z: (0.0, 1.0),
    inner=0.5,
    is_open=True,
    **integrated(_log_of_hypergeometric_odds, log_odds, lambda u: u, lambda u: 0.0 * u),
)
elementwise(
    cardinal_spline,
    lambda order, n, x, y: (None, 0.0 * x, cardinal_spline(order + 1, n, x)),  # numbers that vary are no whole ones
    cases=[case(0, 4, 1.3), case(-1, 5, np.array([0.3, 2.2, 4.9]))],
)
declared(
    stats.irwinhall,
    (4,),
    lambda n, loc=0, scale=1: ((whole_number(positive(n)),), loc, scale),
    lambda z, n: np.log(cardinal_spline(0, n, z)),
    support=lambda n: (0.0, n),
    inner=lambda n: 0.5 * n,
    share=lambda z, n: cardinal_spline(-1, n, z),
    rest=lambda z, n: cardinal_spline(-1, n, n - z),
)

# --- of what fast particles lose --------------------------------------------------------------------------------------


def _log_of_angle(u):
    """The logarithm of what Nolan (1997) calls V, by the logarithm of the odds of the angle."""
    below = np.less(u, 0.0)
    angle, left = np.pi * special.expit(u), np.pi * special.expit(-u)
    sine = np.where(below, np.sin(angle), np.sin(left))
    cosine = np.where(below, np.cos(angle), -np.cos(left))
    return LOG_TWO - LOG_PI + np.log(angle / sine) - angle * cosine / sine


FARTHEST = 1e5
"""Beyond it the slope of the density of Landau is lost in rounding: it is not a number."""


def _log_of_landau(z):
    z = z * np.where(np.greater(z, FARTHEST), np.nan, 1.0)
    shift = -0.5 * np.pi * column(z)

    def of(shift):
        def logs(u):
            power = _log_of_angle(u) + shift
            return power - np.exp(np.minimum(power, 2.0 * REACH)) + special.log_expit(u) + special.log_expit(-u)

        return logs

    area = log_area(of(shift), of(stop_gradient(shift)), -REACH, np.full(np.shape(shift), REACH))
    return area + LOG_PI - LOG_TWO


def less_than_landau(z):
    """The probability of less, as SciPy computes it."""
    return stats.landau.cdf(z)


def more_than_landau(z):
    """The probability of more."""
    return stats.landau.sf(z)


LOSSES = [case(np.array([-1.3, 0.4, 5.0]))]
elementwise(less_than_landau, lambda z, y: np.exp(_log_of_landau(z)), cases=LOSSES)
elementwise(more_than_landau, lambda z, y: -np.exp(_log_of_landau(z)), cases=LOSSES)
declared(
    stats.landau,
    (),
    lambda loc=0, scale=1: ((), loc, scale),
    _log_of_landau,
    share=less_than_landau,
    rest=more_than_landau,
    support=whole_line,
    inner=0.0,
)
