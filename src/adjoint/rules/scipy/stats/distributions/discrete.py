"""Distributions of whole numbers."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, definition, sample
from adjoint.rules.scipy.special.probabilities.by_value import binomial_rest, binomial_share
from adjoint.rules.scipy.special.probabilities.noncentral import noncentral_chi2
from adjoint.rules.scipy.stats.distributions.continuous.integrated import REACH, log_area
from adjoint.rules.scipy.stats.distributions.formulas import (
    column,
    count_from,
    discrete,
    freezable,
    inside,
    not_negative,
    nothing,
    positive,
    quantile_at,
    terms_between,
    where_defined,
    whole_number,
)

COUNTS = np.array([0, 1, 4])
ODD = np.array([0.0, 1.5, -1.0, 2.0])
SHARES = np.array([0.2, 0.5, 0.9])


def _naturals(*shapes):
    return 0.0, np.inf


def _log_binomial(n, k):
    return special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)


discrete(
    stats.poisson,
    lambda mu, loc=0: ((not_negative(mu),), loc),
    lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1.0) - mu,
    support=_naturals,
    share=lambda k, mu: special.pdtr(k, mu),
    rest=lambda k, mu: special.pdtrc(k, mu),
    cases=[case(COUNTS, sample(3, kind="positive")), case(ODD, 1.3), case(3, 1.3, loc=1)],
)
discrete(
    stats.bernoulli,
    lambda p, loc=0: ((inside(p, 0.0, 1.0),), loc),
    lambda k, p: special.xlogy(k, p) + special.xlog1py(1.0 - k, -p),
    support=lambda p: (0.0, 1.0),
    share=lambda k, p: 1.0 - p,
    rest=lambda k, p: p,
    cases=[case(np.array([0, 1, 1]), SHARES), case(ODD, 0.3), case(1, 0.3)],
)
discrete(
    stats.binom,
    lambda n, p, loc=0: ((count_from(0, n), inside(p, 0.0, 1.0)), loc),
    lambda k, n, p: _log_binomial(n, k) + special.xlogy(k, p) + special.xlog1py(n - k, -p),
    support=lambda n, p: (0.0, n),
    share=lambda k, n, p: binomial_share(k, n, p),
    rest=lambda k, n, p: binomial_rest(k, n, p),
    cases=[case(COUNTS, 4, SHARES), case(ODD, 5, 0.3), case(3, 5, 0.3, loc=1)],
)
discrete(
    stats.nbinom,
    lambda n, p, loc=0: ((positive(n), positive(inside(p, 0.0, 1.0))), loc),
    lambda k, n, p: (
        special.gammaln(n + k) - special.gammaln(k + 1.0) - special.gammaln(n) + n * np.log(p) + special.xlog1py(k, -p)
    ),
    support=_naturals,
    share=lambda k, n, p: special.betainc(n, k + 1.0, p),
    rest=lambda k, n, p: special.betaincc(n, k + 1.0, p),
    cases=[
        case(COUNTS, 4, SHARES),
        case(COUNTS, sample(3, kind="positive"), 0.3),
        case(ODD, 2.5, 0.3),
        case(3, 5.5, 0.3, loc=1),
    ],
)
discrete(
    stats.geom,
    lambda p, loc=0: ((positive(inside(p, 0.0, 1.0)),), loc),
    lambda k, p: special.xlog1py(k - 1.0, -p) + np.log(p),
    support=lambda p: (1.0, np.inf),
    share=lambda k, p: -np.expm1(k * np.log1p(-p)),
    rest=lambda k, p: np.exp(k * np.log1p(-p)),
    cases=[case(np.array([1, 2, 5]), SHARES), case(ODD, 0.3), case(3, 0.3, loc=1)],
)
discrete(
    stats.betabinom,
    lambda n, a, b, loc=0: ((count_from(0, n), positive(a), positive(b)), loc),
    lambda k, n, a, b: _log_binomial(n, k) + special.betaln(k + a, n - k + b) - special.betaln(a, b),
    support=lambda n, a, b: (0.0, n),
    cases=[case(COUNTS, 7, sample(3, kind="positive"), 1.5), case(ODD, 5, 0.3, 2.0)],
)
discrete(
    stats.zipf,
    lambda a, loc=0: ((where_defined(np.greater(a, 1), a),), loc),
    lambda k, a: -a * np.log(k) - np.log(special.zeta(a, 1.0)),
    share=lambda k, a: 1.0 - special.zeta(a, k + 1.0) / special.zeta(a, 1.0),
    rest=lambda k, a: special.zeta(a, k + 1.0) / special.zeta(a, 1.0),
    support=lambda a: (1.0, np.inf),
    cases=[case(np.array([1, 2, 5]), np.array([1.5, 2.0, 3.5])), case(3, 2.5)],
)
discrete(
    stats.logser,
    lambda p, loc=0: ((positive(where_defined(np.less(p, 1), p)),), loc),
    lambda k, p: k * np.log(p) - np.log(k) - np.log(-np.log1p(-p)),
    support=lambda p: (1.0, np.inf),
    cases=[case(np.array([1, 2, 5]), SHARES), case(3, 0.3)],
)


# --- of energies, waiting times and draws -----------------------------------------------------------------------------

GIVEN = np.array([1, 2, 5])


discrete(
    stats.planck,
    lambda lambda_, loc=0: ((positive(lambda_),), loc),
    lambda k, rate: np.log(-np.expm1(-rate)) - rate * k,
    support=_naturals,
    share=lambda k, rate: -np.expm1(-rate * (k + 1.0)),
    rest=lambda k, rate: np.exp(-rate * (k + 1.0)),
    cases=[case(GIVEN, np.array([0.3, 0.7, 1.9])), case(3, 0.7)],
)
discrete(
    stats.boltzmann,
    lambda lambda_, N, loc=0: ((positive(lambda_), count_from(1, N)), loc),
    lambda k, rate, n: np.log(-np.expm1(-rate)) - np.log(-np.expm1(-rate * n)) - rate * k,
    support=lambda rate, n: (0.0, n - 1.0),
    share=lambda k, rate, n: np.expm1(-rate * (k + 1.0)) / np.expm1(-rate * n),
    rest=lambda k, rate, n: np.exp(-rate * (k + 1.0)) * np.expm1(-rate * (n - k - 1.0)) / np.expm1(-rate * n),
    cases=[case(GIVEN, np.array([0.3, 0.7, 1.9]), 8), case(3, 0.7, 8)],
)
discrete(
    stats.randint,
    lambda low, high, loc=0: ((whole_number(low), whole_number(where_defined(np.greater(high, low), high))), loc),
    lambda k, low, high: 0.0 * k - np.log(high - low),
    support=lambda low, high: (low, high - 1.0),
    share=lambda k, low, high: (k - low + 1.0) / (high - low),
    rest=lambda k, low, high: (high - 1.0 - k) / (high - low),
    cases=[case(GIVEN, 0, 8), case(3, 1, 8)],
)
discrete(
    stats.betanbinom,
    lambda n, a, b, loc=0: ((count_from(0, n), positive(a), positive(b)), loc),
    lambda k, n, a, b: (
        -np.log(n + k) - special.betaln(n, k + 1.0) - special.betaln(a, b) + special.betaln(a + n, b + k)
    ),
    support=_naturals,
    cases=[case(GIVEN, 4, np.array([0.3, 0.7, 1.9]), 1.5), case(3, 5, 0.3, 2.0)],
)
discrete(
    stats.yulesimon,
    lambda alpha, loc=0: ((positive(alpha),), loc),
    lambda k, alpha: np.log(alpha) + special.betaln(k, alpha + 1.0),
    share=lambda k, alpha: 1.0 - k * special.beta(k, alpha + 1.0),
    rest=lambda k, alpha: k * special.beta(k, alpha + 1.0),
    support=lambda alpha: (1.0, np.inf),
    cases=[case(GIVEN, np.array([0.3, 0.7, 1.9])), case(3, 0.7)],
)


def _log_of_difference(k, mu1, mu2):
    far = 2.0 * np.sqrt(mu1 * mu2)
    return 0.5 * k * np.log(mu1 / mu2) + np.log(special.ive(np.abs(k), far)) + far - mu1 - mu2


def _less_of_difference(k, mu1, mu2, below, above):
    """By noncentral distributions of squares (Johnson 1959)."""
    negative = np.less(k, 0.0)
    of_less = noncentral_chi2(2.0 * mu2 + 0.0 * k, np.where(negative, -2.0 * k, 2.0), 2.0 * mu1, below)
    of_more = noncentral_chi2(2.0 * mu1 + 0.0 * k, np.where(negative, 2.0, 2.0 * (k + 1.0)), 2.0 * mu2, above)
    return np.where(negative, of_less, of_more)


discrete(
    stats.skellam,
    lambda mu1, mu2, loc=0: ((positive(mu1), positive(mu2)), loc),
    _log_of_difference,
    support=lambda mu1, mu2: (-1e9, 1e9),
    share=lambda k, mu1, mu2: _less_of_difference(k, mu1, mu2, special.gammainc, special.gammaincc),
    rest=lambda k, mu1, mu2: _less_of_difference(k, mu1, mu2, special.gammaincc, special.gammainc),
    cases=[case(np.array([-2, 0, 3]), np.array([0.3, 0.7, 1.9]), 1.5), case(3, 0.7, 0.4)],
)


def _log_ways(n, k):
    """The logarithm of a binomial coefficient."""
    return -special.betaln(n - k + 1.0, k + 1.0) - np.log(n + 1.0)


discrete(
    stats.hypergeom,
    lambda M, n, N, loc=0: ((whole_number(M), whole_number(inside(n, 0, M)), whole_number(inside(N, 0, M))), loc),
    lambda k, whole, good, drawn: _log_ways(good, k) + _log_ways(whole - good, drawn - k) - _log_ways(whole, drawn),
    support=lambda whole, good, drawn: (np.maximum(0.0, drawn - whole + good), np.minimum(good, drawn)),
    cases=[case(GIVEN, 20, 7, 9), case(3, 20, 7, 9)],
)
discrete(
    stats.nhypergeom,
    lambda M, n, r, loc=0: ((whole_number(M), whole_number(inside(n, 0, M)), whole_number(inside(r, 0, M - n))), loc),
    lambda k, whole, good, bad: (
        _log_ways(k + bad - 1.0, k) + _log_ways(whole - bad - k, good - k) - _log_ways(whole, good)
    ),
    support=lambda whole, good, bad: (0.0, good),
    cases=[case(GIVEN, 20, 7, 9), case(3, 20, 7, 9)],
)


# --- of draws with odds -----------------------------------------------------------------------------------------------


def _drawn(M, n, N, odds, loc=0):
    return (whole_number(M), whole_number(inside(n, 0, M)), whole_number(inside(N, 0, M)), positive(odds)), loc


def _ends_of_draws(whole, good, drawn, odds):
    return np.maximum(0.0, drawn - whole + good), np.minimum(good, drawn)


def _log_of_odds(k, whole, good, drawn, odds):
    return _log_ways(good, k) + _log_ways(whole - good, drawn - k) + special.xlogy(k, odds)


def _log_of_fisher(k, whole, good, drawn, odds):
    shapes = (whole, good, drawn, odds)
    terms = terms_between(*_ends_of_draws(*shapes))
    low, high = _ends_of_draws(*[column(shape) for shape in shapes])
    is_there = np.logical_and(np.greater_equal(terms, low), np.less_equal(terms, high))
    logs = _log_of_odds(np.where(is_there, terms, low), *[column(shape) for shape in shapes])
    return _log_of_odds(k, *shapes) - special.logsumexp(np.where(is_there, logs, -np.inf), axis=-1)


discrete(
    stats.nchypergeom_fisher,
    _drawn,
    _log_of_fisher,
    support=_ends_of_draws,
    cases=[case(GIVEN, 20, 7, 9, 0.7), case(3, 20, 7, np.array([8, 9]), 1.4)],
)


def _log_of_wallenius(k, whole, good, drawn, odds):
    """By the integral over the time at which the last one is drawn (Fog 2008), by the logarithm of its odds."""
    k = k + 0.0 * (whole + good + drawn + odds)
    others = drawn - k
    left = column(odds * (good - k) + (whole - good - others))
    first, second, rate = column(k), column(others), column(odds)

    def of(rate, left):
        def logs(u):
            time = special.log_expit(u) / left
            misses = special.xlogy(first, -np.expm1(rate * time)) + special.xlogy(second, -np.expm1(time))
            return misses + special.log_expit(u) + special.log_expit(-u)

        return logs

    end = np.full(np.shape(first), REACH)
    area = log_area(of(rate, left), of(stop_gradient(rate), stop_gradient(left)), -REACH, end)
    return _log_ways(good, k) + _log_ways(whole - good, others) + area


discrete(
    stats.nchypergeom_wallenius,
    _drawn,
    _log_of_wallenius,
    support=_ends_of_draws,
    cases=[case(GIVEN, 20, 7, 9, 0.7), case(3, 20, 7, np.array([8, 9]), 1.4)],
)


# --- of trials that differ --------------------------------------------------------------------------------------------


def _known_trials(p):
    """A number, which is none where a probability is none."""
    return np.sum(inside(np.asarray(p) + 0.0, 0.0, 1.0), axis=-1)


def _masses(p):
    """The probabilities of all counts, from trial to trial; ``p`` has one for each trial in its last axis."""
    p = np.asarray(p) + 0.0
    p = inside(p, 0.0, 1.0)
    trials = np.shape(p)[-1]
    masses = np.ones((*np.shape(p)[:-1], 1)) * np.equal(np.arange(trials + 1.0), 0.0)
    for j in range(trials):
        hit = p[..., j : j + 1]
        one_more = np.concatenate([np.zeros((*np.shape(p)[:-1], 1)), masses[..., :-1]], axis=-1)
        masses = masses * (1.0 - hit) + one_more * hit
    return masses


def _counted(counts):
    """The sum of the probabilities of the counts that count: ``counts(terms, k)``."""

    def probability(k, p, loc=0):
        masses = _masses(p)
        zero = nothing(_known_trials(p), loc)
        place = column(k - loc)
        found = np.sum(np.where(counts(np.arange(np.shape(masses)[-1]) + 0.0, place), masses, 0.0), axis=-1)
        return np.where(np.isnan(place[..., 0]), np.nan, found + zero)[()]

    return probability


def _logarithm(probability):
    return lambda k, p, loc=0: np.log(probability(k, p, loc))


_TRIALS = np.array([0.2, 0.5, 0.9])
for _names, _probability in (
    (("pmf", "logpmf"), _counted(lambda terms, k: np.equal(terms, k))),
    (("cdf", "logcdf"), _counted(lambda terms, k: np.less_equal(terms, k))),
    (("sf", "logsf"), _counted(lambda terms, k: np.greater(terms, k))),
):
    for _name, _means in zip(_names, (_probability, _logarithm(_probability)), strict=True):
        definition(
            getattr(stats.poisson_binom, _name),
            _means,
            arrays=("k",),
            cases=[case(np.array([0, 1, 2]), _TRIALS), case(1, np.array([0.3, 0.6]), 1)],
        )
for _method in (stats.poisson_binom.ppf, stats.poisson_binom.isf):
    definition(
        _method,
        lambda q, p, loc=0, method=_method: loc + nothing(_known_trials(p), loc) + quantile_at(method, q, p),
        arrays=("q",),
        cases=[case(np.array([0.2, 0.7]), _TRIALS)],
    )
freezable(stats.poisson_binom)
