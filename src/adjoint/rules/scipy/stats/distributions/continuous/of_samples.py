"""Distributions of what is computed from samples: of Pearson, Tukey and Kolmogorov, of a noncentral t, of counts."""

# mypy: allow-untyped-defs, allow-untyped-calls

import warnings

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, definition, elementwise, sample
from adjoint.rules.scipy.special.probabilities.inverses_of_noncentral import noncentral_t_slopes
from adjoint.rules.scipy.special.probabilities.of_counts import smirnov_slope
from adjoint.rules.scipy.stats.distributions.continuous.best_known import HALF_LOG_TWO_PI, whole_line
from adjoint.rules.scipy.stats.distributions.continuous.elsewhere import declared
from adjoint.rules.scipy.stats.distributions.formulas import (
    by_cases,
    continuous,
    discrete,
    freezable,
    not_negative,
    positive,
    terms_between,
    where_defined,
    whole_number,
)
from adjoint.runtime.numerical_methods.special.kolmogorov import kolmogorov_rest, kolmogorov_share

# --- on the line ------------------------------------------------------------------------------------------------------


def _noncentral_t_density(z, df, nc):
    """By the sum of central ones; at zero by the first two terms of its own (Johnson, Kotz, Balakrishnan, 31.5)."""
    is_zero = np.equal(z, 0.0)
    logs = special.gammaln(0.5 * (df + 1.0)) - special.gammaln(0.5 * df) - 0.5 * np.log(np.pi * df) - 0.5 * nc * nc
    growth = nc * np.sqrt(2.0 / df) * np.exp(special.gammaln(0.5 * df + 1.0) - special.gammaln(0.5 * (df + 1.0)))
    elsewhere = noncentral_t_slopes(df, nc, np.where(is_zero, 1.0, z))[2]
    return np.where(is_zero, np.exp(logs) * (1.0 + growth * z), elsewhere)


declared(
    stats.nct,
    (4.5, 0.8),
    lambda df, nc, loc=0, scale=1: ((positive(df), nc), loc, scale),
    lambda z, df, nc: np.log(_noncentral_t_density(z, df, nc)),
    share=lambda z, df, nc: special.nctdtr(df, nc, z),
    rest=lambda z, df, nc: 1.0 - special.nctdtr(df, nc, z),
    exact_tails=False,
    support=whole_line,
    inner=0.3,
    quantile=lambda q, df, nc: np.where(np.equal(q, 0.0), -np.inf, special.nctdtrit(df, nc, q)),
)

SYMMETRIC = 0.000016
"""Below this skewness SciPy takes the distribution of Pearson for the normal one."""


def _as_gamma(z, skew):
    """The shape of the gamma distribution that it is, and where."""
    is_normal = np.less(np.abs(skew), SYMMETRIC)
    beta = 2.0 / np.where(is_normal, 1.0, skew)
    return is_normal, beta, beta * beta, np.where(is_normal, 1.0, beta * (z + beta))


def _log_of_pearson(z, skew):
    is_normal, beta, alpha, t = _as_gamma(z, skew)
    is_there = np.logical_not(np.less_equal(t, 0.0))
    t = np.where(is_there, t, 1.0)
    found = np.log(np.abs(beta)) + (alpha - 1.0) * np.log(t) - t - special.gammaln(alpha)
    towards = (skew - stop_gradient(skew)) * z * (z * z - 3.0) / 6.0
    return np.where(is_normal, towards - 0.5 * z * z - HALF_LOG_TWO_PI, np.where(is_there, found, -np.inf))


def _share_of_pearson(z, skew):
    is_normal, _, alpha, t = _as_gamma(z, skew)
    t = np.maximum(t, 0.0)
    found = np.where(np.greater(skew, 0.0), special.gammainc(alpha, t), special.gammaincc(alpha, t))
    towards = (skew - stop_gradient(skew)) * (1.0 - z * z) * np.exp(-0.5 * z * z - HALF_LOG_TWO_PI) / 6.0
    return np.where(is_normal, special.ndtr(z) + towards, found)


def _quantile_of_pearson(q, skew):
    beta = 2.0 / skew
    share = np.where(np.less(skew, 0.0), 1.0 - q, q)
    return special.gammaincinv(beta * beta, share) / beta - beta


declared(
    stats.pearson3,
    (0.7,),
    lambda skew, loc=0, scale=1: ((skew,), loc, scale),
    _log_of_pearson,
    share=by_cases(_share_of_pearson),
    rest=by_cases(lambda z, skew: _share_of_pearson(-z, -skew)),
    quantile=_quantile_of_pearson,
)


def _ends_of_tukey(lam):
    end = np.where(np.greater(lam, 0.0), 1.0 / np.where(np.greater(lam, 0.0), lam, 1.0), np.inf)
    return -end, end


def _log_of_tukey(z, lam):
    share = special.tklmbda(z, lam)
    return -np.log(share ** (lam - 1.0) + (1.0 - share) ** (lam - 1.0))


declared(
    stats.tukeylambda,
    (0.3,),
    lambda lam, loc=0, scale=1: ((lam,), loc, scale),
    _log_of_tukey,
    support=_ends_of_tukey,
    inner=0.1,
    share=lambda z, lam: special.tklmbda(z, lam),
    rest=lambda z, lam: special.tklmbda(-z, lam),
    exact_tails=False,
    quantile=lambda q, lam: special.boxcox(q, lam) - special.boxcox1p(-q, lam),
)


def _count(n):
    """The size of a sample, or what is not a number where it is none."""
    return whole_number(where_defined(np.greater_equal(n, 1.0), n))


continuous(
    stats.ksone,
    lambda n, loc=0, scale=1: ((_count(n),), loc, scale),
    lambda z, n: np.log(-smirnov_slope(n, z)),
    support=lambda n: (0.0, 1.0),
    inner=0.3,
    share=lambda z, n: 1.0 - special.smirnov(n, z),
    rest=lambda z, n: special.smirnov(n, z),
    exact_tails=False,
    quantile=lambda q, n: special.smirnovi(n, 1.0 - q),
    cases=[case(np.array([0.17, 0.33, 0.55]), 5, -0.1, 1.2)],
    shares=[case(np.array([0.2, 0.5, 0.9]), 5, 0.2, 1.7)],
)

for _one in (kolmogorov_share, kolmogorov_rest):
    elementwise(
        _one,
        lambda order, n, d, y, one=_one: (None, None, one(order + 1, n, d)),
        fixed=(0, 1),
        cases=[case(0, 4, 0.4), case(1, np.array([5, 3, 9]), np.array([0.33, 0.62, 0.41]))],
    )
continuous(
    stats.kstwo,
    lambda n, loc=0, scale=1: ((_count(n),), loc, scale),
    lambda d, n: np.log(kolmogorov_share(1, n, d)),
    support=lambda n: (0.5 / n, 1.0),
    is_open=True,
    inner=lambda n: np.minimum(0.75, 0.87 / np.sqrt(n)),
    share=lambda d, n: kolmogorov_share(0, stop_gradient(n), d),
    rest=lambda d, n: kolmogorov_rest(0, stop_gradient(n), d),
    cases=[case(np.array([0.17, 0.33, 0.55]), 5, -0.1, 1.2)],
    shares=[case(np.array([0.2, 0.5, 0.9]), 5, 0.2, 1.7)],
)

# --- whole numbers ----------------------------------------------------------------------------------------------------


def _share_of_two_sides(k, a):
    far = np.exp(-a * np.where(np.greater_equal(k, 0.0), k, -(k + 1.0))) / (np.exp(a) + 1.0)
    return np.where(np.greater_equal(k, 0.0), 1.0 - far, far)


discrete(
    stats.dlaplace,
    lambda a, loc=0: ((positive(a),), loc),
    lambda k, a: np.log(np.tanh(0.5 * a)) - a * np.abs(k),
    support=lambda a: (-1e9, 1e9),
    share=_share_of_two_sides,
    rest=lambda k, a: 1.0 - _share_of_two_sides(k, a),
    cases=[case(np.array([-2, 0, 3]), np.array([0.3, 0.7, 1.9])), case(3, 0.7)],
)


def _sum_of_powers(a, n):
    terms = terms_between(1.0, n)
    powers = np.where(np.less_equal(terms, np.asarray(n)[..., None]), terms ** -np.asarray(a)[..., None], 0.0)
    return np.sum(powers, axis=-1)


discrete(
    stats.zipfian,
    lambda a, n, loc=0: ((not_negative(a), whole_number(where_defined(np.greater_equal(n, 1), n))), loc),
    lambda k, a, n: -a * np.log(k) - np.log(_sum_of_powers(a, n)),
    support=lambda a, n: (1.0, n),
    cases=[case(np.array([1, 2, 5]), np.array([0.3, 0.7, 1.9]), 8), case(3, 1.4, 8)],
)

# --- of vectors -------------------------------------------------------------------------------------------------------


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    _IS_COMPLETED = bool(np.isfinite(stats.multinomial.logpmf([1, 0], 1, [0.5, 0.1])))
"""Whether the last probability is what the others leave where they do not sum to one: until SciPy 1.18."""


def _multinomial_logpmf(x, n, p):
    x, n, p = np.asarray(x), np.asarray(n), np.asarray(p)
    left = 1.0 - np.sum(p[..., :-1], axis=-1)
    last = np.where(np.greater(np.abs(left), 2.220446049250313e-15), left, p[..., -1])
    are_known = np.all((p[..., :-1] >= 0.0) & (p[..., :-1] <= 1.0), axis=-1) & (last >= 0.0) & (last <= 1.0) & (n >= 0)
    if not _IS_COMPLETED:
        are_known = are_known & (np.abs(1.0 - np.sum(p, axis=-1)) <= 2.220446049250313e-15)
    are_counts = np.all((x >= 0) & np.equal(np.floor(x), x), axis=-1) & np.equal(np.sum(x, axis=-1), n)
    k = np.where(are_counts[..., None], x, 0)
    logs = np.sum(special.xlogy(k[..., :-1], p[..., :-1]), axis=-1) + special.xlogy(k[..., -1], last)
    found = special.gammaln(n + 1.0) - np.sum(special.gammaln(k + 1.0), axis=-1) + logs
    return np.asarray(where_defined(are_known, np.where(are_counts, found, -np.inf)))


OF_COUNTS = [case(np.array([1, 2, 4]), 7, np.array([0.2, 0.3, 0.5]))]
definition(stats.multinomial.logpmf, _multinomial_logpmf, cases=OF_COUNTS)
definition(stats.multinomial.pmf, lambda x, n, p: np.exp(_multinomial_logpmf(x, n, p)), cases=OF_COUNTS)


def _inverse_gamma_logpdf(x, s2, mu=0, lmbda=1, a=1, b=1):
    lmbda, a, b = positive(lmbda), positive(a), positive(b)
    is_inside = np.greater(s2, 0)
    s2 = np.where(is_inside, s2, 1.0)
    constant = 0.5 * np.log(lmbda) - HALF_LOG_TWO_PI + a * np.log(b) - special.gammaln(a)
    found = constant - (a + 1.5) * np.log(s2) - (b + 0.5 * lmbda * (x - mu) ** 2) / s2
    return as_result(where_defined(np.isfinite(lmbda + a + b), np.where(is_inside, found, -np.inf)))


PAIRS = [case(0.7, 1.3, 0.2, 1.5, 2.5, 0.8), case(sample(3), sample(3, kind="positive"))]
definition(stats.normal_inverse_gamma.logpdf, _inverse_gamma_logpdf, cases=PAIRS)
definition(
    stats.normal_inverse_gamma.pdf,
    lambda x, s2, mu=0, lmbda=1, a=1, b=1: np.exp(_inverse_gamma_logpdf(x, s2, mu, lmbda, a, b)),
    cases=PAIRS,
)


def _fisher_logpdf(x, mu=None, kappa=1):
    half = 0.5 * np.shape(mu)[0]
    constant = (half - 1.0) * np.log(kappa) - 2.0 * half * HALF_LOG_TWO_PI
    return as_result(constant - np.log(special.ive(half - 1.0, kappa)) - kappa + kappa * np.sum(x * mu, axis=-1))


DIRECTIONS = [case(np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.0, 0.0]), 1.7)]
definition(stats.vonmises_fisher.logpdf, _fisher_logpdf, cases=DIRECTIONS)
definition(
    stats.vonmises_fisher.pdf, lambda x, mu=None, kappa=1: np.exp(_fisher_logpdf(x, mu, kappa)), cases=DIRECTIONS
)
for _dist in (stats.multinomial, stats.normal_inverse_gamma, stats.vonmises_fisher):
    freezable(_dist)
