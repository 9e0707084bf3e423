"""Distributions that are asked for in one field each: of energies, of waiting times, of skewed data, of tails."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.declare import case
from adjoint.rules.results import as_result
from adjoint.rules.scipy.stats.distributions.continuous import HALF_LOG_TWO_PI, LOG_PI, LOG_TWO
from adjoint.rules.scipy.stats.distributions.elsewhere import declared
from adjoint.rules.scipy.stats.distributions.formulas import discrete, inside, positive

_ROOT_TWO_PI = 2.5066282746310002
COUNTS = np.array([1, 2, 5])


# --- above zero, and between two numbers ------------------------------------------------------------------------------


def _half_line(*shapes):
    return 0.0, np.inf


def _area_below(chi):
    return 0.5 * special.gammainc(1.5, 0.5 * chi * chi)


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
    exact_tails=False,
)


def _rate_of_growth(z, a, b, c):
    return -(a + b) * z - b * np.expm1(-c * z) / c


declared(
    stats.genexpon,
    (1.4, 0.7, 2.1),
    lambda a, b, c, loc=0, scale=1: ((positive(a), positive(b), positive(c)), loc, scale),
    lambda z, a, b, c: np.log(a - b * np.expm1(-c * z)) + _rate_of_growth(z, a, b, c),
    support=_half_line,
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


declared(
    stats.rel_breitwigner,
    (1.4,),
    lambda rho, loc=0, scale=1: ((positive(rho),), loc, scale),
    _log_of_resonance,
    support=_half_line,
    inner=1.0,
)
declared(
    stats.geninvgauss,
    (1.4, 0.7),
    lambda p, b, loc=0, scale=1: ((p, positive(b)), loc, scale),
    lambda z, p, b: (p - 1.0) * np.log(z) - 0.5 * b * (z + 1.0 / z) - LOG_TWO - np.log(special.kve(p, b)) + b,
    support=_half_line,
    is_open=True,
    inner=1.0,
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


declared(
    stats.crystalball,
    (0.6, 2.5),
    lambda beta, m, loc=0, scale=1: ((positive(beta), np.where(np.greater(m, 1), m, np.nan)), loc, scale),
    _log_of_ball,
    share=_share_of_ball,
    exact_tails=False,
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
    lambda p, a, b, loc=0, scale=1: ((p, np.where(np.less(np.abs(b), a), a, np.nan), b), loc, scale),
    _log_of_hyperbolic,
)


def _towards_one(z, a, b):
    return z / np.sqrt(a + b + z * z)


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
    share=lambda z, a, b: special.betainc(a, b, 0.5 * (1.0 + _towards_one(z, a, b))),
    rest=lambda z, a, b: special.betaincc(a, b, 0.5 * (1.0 + _towards_one(z, a, b))),
    support=lambda a, b: (-np.inf, np.inf),
    exact_tails=False,
    quantile=lambda q, a, b: _from_share(special.betaincinv(a, b, q), a, b),
    upper_quantile=lambda q, a, b: _from_share(special.betainccinv(a, b, q), a, b),
)

# --- whole numbers ----------------------------------------------------------------------------------------------------


def _naturals(*shapes):
    return 0.0, np.inf


def _whole(number):
    """The number, or what is not a number where it is not whole."""
    return np.where(np.equal(np.floor(number), number), number, np.nan)


discrete(
    stats.planck,
    lambda lambda_, loc=0: ((positive(lambda_),), loc),
    lambda k, rate: np.log(-np.expm1(-rate)) - rate * k,
    support=_naturals,
    share=lambda k, rate: -np.expm1(-rate * (k + 1.0)),
    rest=lambda k, rate: np.exp(-rate * (k + 1.0)),
    cases=[case(COUNTS, np.array([0.3, 0.7, 1.9])), case(3, 0.7)],
)
discrete(
    stats.boltzmann,
    lambda lambda_, N, loc=0: ((positive(lambda_), N), loc),
    lambda k, rate, n: np.log(-np.expm1(-rate)) - np.log(-np.expm1(-rate * n)) - rate * k,
    support=lambda rate, n: (0.0, n - 1.0),
    share=lambda k, rate, n: np.expm1(-rate * (k + 1.0)) / np.expm1(-rate * n),
    rest=lambda k, rate, n: np.exp(-rate * (k + 1.0)) * np.expm1(-rate * (n - k - 1.0)) / np.expm1(-rate * n),
    cases=[case(COUNTS, np.array([0.3, 0.7, 1.9]), 8), case(3, 0.7, 8)],
)
discrete(
    stats.randint,
    lambda low, high, loc=0: ((_whole(low), _whole(np.where(np.greater(high, low), high, np.nan))), loc),
    lambda k, low, high: 0.0 * k - np.log(high - low),
    support=lambda low, high: (low, high - 1.0),
    share=lambda k, low, high: (k - low + 1.0) / (high - low),
    rest=lambda k, low, high: (high - 1.0 - k) / (high - low),
    cases=[case(COUNTS, 0, 8), case(3, 1, 8)],
)
discrete(
    stats.betanbinom,
    lambda n, a, b, loc=0: ((n, positive(a), positive(b)), loc),
    lambda k, n, a, b: (
        -np.log(n + k) - special.betaln(n, k + 1.0) - special.betaln(a, b) + special.betaln(a + n, b + k)
    ),
    support=_naturals,
    cases=[case(COUNTS, 4, np.array([0.3, 0.7, 1.9]), 1.5), case(3, 5, 0.3, 2.0)],
)
discrete(
    stats.yulesimon,
    lambda alpha, loc=0: ((positive(alpha),), loc),
    lambda k, alpha: np.log(alpha) + special.betaln(k, alpha + 1.0),
    support=lambda alpha: (1.0, np.inf),
    cases=[case(COUNTS, np.array([0.3, 0.7, 1.9])), case(3, 0.7)],
)


def _log_of_difference(k, mu1, mu2):
    far = 2.0 * np.sqrt(mu1 * mu2)
    return 0.5 * k * np.log(mu1 / mu2) + np.log(special.ive(np.abs(k), far)) + far - mu1 - mu2


discrete(
    stats.skellam,
    lambda mu1, mu2, loc=0: ((positive(mu1), positive(mu2)), loc),
    _log_of_difference,
    support=lambda mu1, mu2: (-1e9, 1e9),
    cases=[case(np.array([-2, 0, 3]), np.array([0.3, 0.7, 1.9]), 1.5), case(3, 0.7, 0.4)],
)


def _log_ways(n, k):
    """The logarithm of a binomial coefficient."""
    return -special.betaln(n - k + 1.0, k + 1.0) - np.log(n + 1.0)


discrete(
    stats.hypergeom,
    lambda M, n, N, loc=0: ((_whole(M), _whole(inside(n, 0, M)), _whole(inside(N, 0, M))), loc),
    lambda k, whole, good, drawn: _log_ways(good, k) + _log_ways(whole - good, drawn - k) - _log_ways(whole, drawn),
    support=lambda whole, good, drawn: (np.maximum(0.0, drawn - whole + good), np.minimum(good, drawn)),
    cases=[case(COUNTS, 20, 7, 9), case(3, 20, 7, 9)],
)
