"""Definitions of distributions of ``scipy.stats``: densities, probabilities and quantiles, by their formulas."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.declare import case, definition, sample

HALF_LOG_TWO_PI = 0.9189385332046727
LOG_PI = 1.1447298858494002


def _standard(x, loc, scale):
    """Where the scale is not positive, nothing is defined."""
    return (x - loc) / np.where(np.greater(scale, 0), scale, np.nan)


def _norm_logpdf(x, loc=0, scale=1):
    z = _standard(x, loc, scale)
    return -0.5 * z * z - HALF_LOG_TWO_PI - np.log(scale)


def _norm_ppf(q, loc=0, scale=1):
    return loc + special.ndtri(q) * np.where(np.greater(scale, 0), scale, np.nan)


PLACES = [
    case(sample(3)),
    case(sample(3), 0.3),
    case(sample(3), sample(3), scale=sample(3, kind="positive")),
    case(0.7, 0.2, 1.5),
]
SHARES = [case(np.array([0.1, 0.7])), case(np.array([0.1, 0.7]), 0.3, sample(2, kind="positive"))]
definition(stats.norm.logpdf, _norm_logpdf, cases=PLACES)
definition(stats.norm.pdf, lambda x, loc=0, scale=1: np.exp(_norm_logpdf(x, loc, scale)), cases=PLACES)
definition(stats.norm.cdf, lambda x, loc=0, scale=1: special.ndtr(_standard(x, loc, scale)), cases=PLACES)
definition(stats.norm.logcdf, lambda x, loc=0, scale=1: special.log_ndtr(_standard(x, loc, scale)), cases=PLACES)
definition(stats.norm.sf, lambda x, loc=0, scale=1: special.ndtr(-_standard(x, loc, scale)), cases=PLACES)
definition(stats.norm.logsf, lambda x, loc=0, scale=1: special.log_ndtr(-_standard(x, loc, scale)), cases=PLACES)
definition(stats.norm.ppf, _norm_ppf, cases=SHARES)
definition(stats.norm.isf, lambda q, loc=0, scale=1: _norm_ppf(1 - q, loc, scale), cases=SHARES)


def _where(inside, density):
    """A logarithm of a density, minus infinity outside of its support."""
    found = np.where(inside, density, -np.inf)
    return found if np.ndim(found) > 0 else found[()]


def _expon_logpdf(x, loc=0, scale=1):
    z = _standard(x, loc, scale)
    return _where(np.greater_equal(z, 0), -z - np.log(scale))


def _laplace_logpdf(x, loc=0, scale=1):
    return -np.abs(_standard(x, loc, scale)) - np.log(2 * scale)


def _cauchy_logpdf(x, loc=0, scale=1):
    z = _standard(x, loc, scale)
    return -LOG_PI - np.log1p(z * z) - np.log(scale)


def _logistic_logpdf(x, loc=0, scale=1):
    z = _standard(x, loc, scale)
    return special.log_expit(z) + special.log_expit(-z) - np.log(scale)


def _t_logpdf(x, df, loc=0, scale=1):
    z = _standard(x, loc, scale)
    constant = special.gammaln(0.5 * (df + 1)) - special.gammaln(0.5 * df) - 0.5 * (np.log(df) + LOG_PI)
    return constant - 0.5 * (df + 1) * np.log1p(z * z / df) - np.log(scale)


def _gamma_logpdf(x, a, loc=0, scale=1):
    z = _standard(x, loc, scale)
    return _where(np.greater_equal(z, 0), special.xlogy(a - 1.0, z) - z - special.gammaln(a) - np.log(scale))


def _beta_logpdf(x, a, b, loc=0, scale=1):
    z = _standard(x, loc, scale)
    density = special.xlogy(a - 1.0, z) + special.xlog1py(b - 1.0, -z) - special.betaln(a, b) - np.log(scale)
    return _where(np.logical_and(np.greater_equal(z, 0), np.less_equal(z, 1)), density)


def _poisson_logpmf(k, mu, loc=0):
    count = k - loc
    whole = np.logical_and(np.greater_equal(count, 0), np.equal(np.floor(count), count))
    return _where(whole, special.xlogy(count, mu) - special.gammaln(count + 1.0) - mu)


SCALED = [
    case(sample(3, kind="positive")),
    case(sample(3, kind="positive"), loc=-0.3, scale=sample(3, kind="positive")),
    case(np.array([-1.0, 0.4]), 0.1, 2.0),
]
definition(stats.expon.logpdf, _expon_logpdf, cases=SCALED)
definition(stats.expon.pdf, lambda x, loc=0, scale=1: np.exp(_expon_logpdf(x, loc, scale)), cases=SCALED)
definition(stats.laplace.logpdf, _laplace_logpdf, cases=PLACES)
definition(stats.cauchy.logpdf, _cauchy_logpdf, cases=PLACES)
definition(stats.logistic.logpdf, _logistic_logpdf, cases=PLACES)
definition(
    stats.t.logpdf, _t_logpdf, cases=[case(sample(3), 4.5), case(sample(3), sample(3, kind="positive"), 0.3, 1.2)]
)
definition(
    stats.gamma.logpdf,
    _gamma_logpdf,
    cases=[
        case(sample(3, kind="positive"), 2.5),
        case(sample(3, kind="positive"), sample(3, kind="positive"), scale=2.0),
    ],
)
definition(
    stats.beta.logpdf,
    _beta_logpdf,
    cases=[
        case(np.array([0.2, 0.7, 0.9]), 2.5, sample(3, kind="positive")),
        case(np.array([-0.1, 0.7, 1.3]), 2.5, 1.5),
        case(np.array([0.2]), 1.5, 0.7, 0.1, 2.0),
    ],
)
definition(
    stats.poisson.logpmf,
    _poisson_logpmf,
    arrays=("k", "mu", "loc"),
    cases=[
        case(np.array([0, 1, 4]), sample(3, kind="positive")),
        case(np.array([0.0, 1.5, -1.0]), 1.3),
    ],
)
