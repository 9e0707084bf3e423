"""Inverses of probabilities of counts by a count, which is a real number there, and distances of samples."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, elementwise, no_derivative
from adjoint.rules.scipy.special.gamma_beta import _gamma_density, beta_density, slopes_of_inverse
from adjoint.runtime.arithmetic.numbers import choose
from adjoint.runtime.numerical_methods.special.incomplete import betainc_slope, gammainc_slope

SHARES = np.array([0.2, 0.5, 0.9])

# --- counts -----------------------------------------------------------------------------------------------------------


def _above_none(slopes, count):
    """Zero where none is as likely as the probability that is given, or more: the count stays none."""
    return tuple([choose(np.greater(count, 0.0), slope, 0.0) for slope in slopes])


# of the binomial distribution: betainc(n - k, k + 1, 1 - p)


def _of_binomial(k, n, p):
    """The derivatives of the probability by all arguments, as below."""
    by_failures = betainc_slope(1, 0, n - k, k + 1.0, 1.0 - p)
    by_k = betainc_slope(0, 1, n - k, k + 1.0, 1.0 - p) - by_failures
    return by_k, by_failures, -beta_density(n - k, k + 1.0, 1.0 - p)


elementwise(
    special.bdtrik,
    lambda share, draws, p, y: _above_none(slopes_of_inverse(_of_binomial(y, draws, p), 0), y),
    cases=[case(0.6, 7.5, 0.3), case(SHARES, 9.0, 0.4)],
)
elementwise(
    special.bdtrin,
    lambda count, share, p, y: slopes_of_inverse(_of_binomial(count, y, p), 1),
    cases=[case(2.5, 0.6, 0.3), case(3.0, SHARES, 0.4)],
)

# of failures before the n-th success: betainc(n, k + 1, p)


def _of_failures(k, n, p):
    return betainc_slope(0, 1, n, k + 1.0, p), betainc_slope(1, 0, n, k + 1.0, p), beta_density(n, k + 1.0, p)


elementwise(
    special.nbdtrik,
    lambda share, wanted, p, y: _above_none(slopes_of_inverse(_of_failures(y, wanted, p), 0), y),
    cases=[case(0.6, 3.5, 0.3), case(SHARES, 4.0, 0.4)],
)
elementwise(
    special.nbdtrin,
    lambda count, share, p, y: slopes_of_inverse(_of_failures(count, y, p), 1),
    cases=[case(2.5, 0.6, 0.3), case(3.0, SHARES, 0.4)],
)

# of rare events: gammaincc(k + 1, m)


def _of_rare(k, m):
    return -gammainc_slope(1, k + 1.0, m), -_gamma_density(k + 1.0, m)


elementwise(
    special.pdtrik,
    lambda p, m, y: _above_none(slopes_of_inverse(_of_rare(y, m), 0), y),
    cases=[case(0.6, 2.5), case(SHARES, 4.0)],
)

# the degrees of freedom of the ratio of Fisher: betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


def _fisher(dfn, dfd, x):
    """The derivatives of the probability by all arguments."""
    whole = dfd + dfn * x
    share = dfn * x / whole
    density = beta_density(0.5 * dfn, 0.5 * dfd, share) / (whole * whole)
    by_dfn = 0.5 * betainc_slope(1, 0, 0.5 * dfn, 0.5 * dfd, share) + density * x * dfd
    by_dfd = 0.5 * betainc_slope(0, 1, 0.5 * dfn, 0.5 * dfd, share) - density * x * dfn
    return by_dfn, by_dfd, density * dfn * dfd


elementwise(
    special.fdtridfd,
    lambda dfn, p, x, y: slopes_of_inverse(_fisher(dfn, y, x), 1),
    cases=[case(2.5, 0.6, 1.9), case(2.5, np.array([0.55, 0.65]), 1.9)],
)

# --- the greatest distances between a sample and its distribution -----------------------------------------------------


def smirnov_slope(n, d):
    """The derivative of ``scipy.special.smirnov`` by the distance, of its sum term by term (Birnbaum & Tingey 1951)."""
    count, distance = np.asarray(n, float)[..., None], np.asarray(d)[..., None]
    j = np.arange(np.max(np.where(np.isnan(n), 1.0, n)) + 1.0)
    above = 1.0 - distance - j / count
    is_there = np.logical_and(above > 0.0, j <= count)
    rest, below, left = np.where(is_there, above, 0.5), distance + j / count, np.maximum(count - j, 0.0)
    logs = special.gammaln(count + 1.0) - special.gammaln(j + 1.0) - special.gammaln(left + 1.0)
    whole = np.exp(logs + (j - 1.0) * np.log(below) + left * np.log(rest))
    terms = whole * (1.0 + distance * ((j - 1.0) / below - left / rest))
    return as_result(np.sum(np.where(is_there, terms, 0.0), axis=-1))


DISTANCES = [case(5, 0.33), case(7, np.array([0.1, 0.35, 0.62])), case(np.array([1, 3, 8]), 0.27)]
elementwise(special.smirnov, lambda n, d, y: (None, smirnov_slope(n, d)), fixed=(0,), cases=DISTANCES)
elementwise(special.smirnovi, lambda n, p, y: (None, 1.0 / smirnov_slope(n, y)), fixed=(0,), cases=DISTANCES)

# --- numbers of combinatorics, and rounding ---------------------------------------------------------------------------

no_derivative(special.bernoulli, special.euler)
