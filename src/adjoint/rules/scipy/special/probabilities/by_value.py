"""Rules of probabilities and quantiles of ``scipy.special``; counts are taken as given."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
from scipy import special

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, definition, elementwise, number, sample
from adjoint.rules.scipy.special.gamma_beta import beta_density
from adjoint.runtime.numerical_methods.special.incomplete import betainc_slope
from adjoint.runtime.numerical_methods.special.student import stdtr_slope, student_slope

SHARES = np.array([0.2, 0.5, 0.9])
POINTS = sample(3, kind="positive")

# --- of real variables ------------------------------------------------------------------------------------------------

OF_CHI = [case(2.5, number()), case(number(), POINTS)]
definition(special.chdtr, lambda x1, x2: special.gammainc(0.5 * x1, 0.5 * x2), cases=OF_CHI)
definition(special.chdtrc, lambda x1, x2: special.gammaincc(0.5 * x1, 0.5 * x2), cases=OF_CHI)
definition(special.chdtri, lambda x1, x2: 2 * special.gammainccinv(0.5 * x1, x2), cases=[case(number(), SHARES)])
OF_THREE = [case(1.5, number(), POINTS), case(POINTS, 2.5, 0.7)]
definition(special.gdtr, lambda x1, x2, x3: special.gammainc(x2, x1 * x3), cases=OF_THREE)
definition(special.gdtrc, lambda x1, x2, x3: special.gammaincc(x2, x1 * x3), cases=OF_THREE)
definition(
    special.fdtr,
    lambda x1, x2, x3: special.betainc(0.5 * x1, 0.5 * x2, x1 * x3 / (x2 + x1 * x3)),
    cases=OF_THREE,
)
definition(
    special.fdtrc,
    lambda x1, x2, x3: special.betainc(0.5 * x2, 0.5 * x1, x2 / (x2 + x1 * x3)),
    cases=OF_THREE,
)


def _f_quantile(dfn, dfd, y):
    """By the share of the beta distribution that belongs to a quantile."""
    whole = dfd + dfn * y
    share = dfn * y / whole
    density = beta_density(0.5 * dfn, 0.5 * dfd, share)
    factor = whole * whole / (dfn * dfd)
    by_dfn = 0.5 * betainc_slope(1, 0, 0.5 * dfn, 0.5 * dfd, share) / density * factor + y / dfn
    by_dfd = 0.5 * betainc_slope(0, 1, 0.5 * dfn, 0.5 * dfd, share) / density * factor - y / dfd
    return (-by_dfn, -by_dfd, factor / density)


elementwise(
    special.fdtri,
    lambda dfn, dfd, p, y: _f_quantile(dfn, dfd, y),
    cases=[case(1.5, number(), SHARES), case(sample(3, kind="positive"), 2.5, 0.7)],
)


# --- the distribution of Student --------------------------------------------------------------------------------------


def _student_by_place(n, df, t):
    """Of the density the logarithm has the derivative ``-(df + 1) * t / (df + t * t)``."""
    whole = df + t * t
    found = -student_slope(n, df, t) * (df + 1.0) * t / whole
    for k in range(1, n + 1):
        factor = t * (t * t - 1.0) * math.factorial(n) / math.factorial(n - k) * (-1.0) ** k
        found = found + factor * student_slope(n - k, df, t) / whole ** (k + 1)
    return found


OF_T = [case(number(), sample(3)), case(sample(3, kind="positive"), 0.7), case(2.5, np.array([-30.0, 0.0, 4.0]))]
elementwise(special.stdtr, lambda df, t, y: (stdtr_slope(1, df, t), student_slope(0, df, t)), cases=OF_T)
elementwise(
    special.stdtrit,
    lambda df, p, y: (-stdtr_slope(1, df, y) / student_slope(0, df, y), 1.0 / student_slope(0, df, y)),
    cases=[case(number(), SHARES), case(sample(3, kind="positive"), 0.7)],
)
BY_DEGREES = [case(n, *call.args) for n in (1, 2) for call in OF_T]
elementwise(
    stdtr_slope, lambda n, df, t, y: (None, stdtr_slope(n + 1, df, t), student_slope(n, df, t)), cases=BY_DEGREES
)
elementwise(
    student_slope,
    lambda n, df, t, y: (None, student_slope(n + 1, df, t), _student_by_place(n, df, t)),
    cases=BY_DEGREES,
)

# --- of counts --------------------------------------------------------------------------------------------------------


def _binomial(k, n, p):
    return beta_density(n - np.floor(k), np.floor(k) + 1.0, 1 - p)


COUNTS = np.array([0.0, 2.0, 4.0])
OF_COUNTS = [case(2.0, 5, 0.3), case(COUNTS, 4, SHARES)]


def binomial_share(k, n, p):
    """``bdtr`` of counts that are floats, of which SciPy warns; one that is not a number is some other one."""
    return special.bdtr(k, np.nan_to_num(n).astype(np.int64), p)


def binomial_rest(k, n, p):
    """``bdtrc``, so."""
    return special.bdtrc(k, np.nan_to_num(n).astype(np.int64), p)


for _share, _rest in ((special.bdtr, special.bdtrc), (binomial_share, binomial_rest)):
    elementwise(_share, lambda k, n, p, y: (None, None, -_binomial(k, n, p)), fixed=(0, 1), cases=OF_COUNTS)
    elementwise(_rest, lambda k, n, p, y: (None, None, _binomial(k, n, p)), fixed=(0, 1), cases=OF_COUNTS)
elementwise(
    special.bdtri,
    lambda k, n, p, y: (None, None, -1.0 / _binomial(k, n, y)),
    fixed=(0, 1),
    cases=[case(2.0, 5, SHARES)],
)
FAILURES = [case(2, 5, 0.3), case(np.array([0, 2, 4]), 4, SHARES)]
elementwise(special.nbdtr, lambda k, n, p, y: (None, None, beta_density(n, k + 1.0, p)), fixed=(0, 1), cases=FAILURES)
elementwise(special.nbdtrc, lambda k, n, p, y: (None, None, -beta_density(n, k + 1.0, p)), fixed=(0, 1), cases=FAILURES)
elementwise(
    special.nbdtri,
    lambda k, n, p, y: (None, None, 1.0 / beta_density(n, k + 1.0, y)),
    fixed=(0, 1),
    cases=FAILURES,
)


def _poisson(k, m):
    return np.exp(special.xlogy(np.floor(k), m) - m - special.gammaln(np.floor(k) + 1.0))


OF_MEANS = [case(2.0, number()), case(COUNTS, POINTS)]
elementwise(special.pdtr, lambda k, m, y: (None, -_poisson(k, m)), fixed=(0,), cases=OF_MEANS)
elementwise(special.pdtrc, lambda k, m, y: (None, _poisson(k, m)), fixed=(0,), cases=OF_MEANS)
elementwise(
    special.pdtri,
    lambda k, p, y: (None, -1.0 / _poisson(k, y)),
    fixed=(0,),
    cases=[case(2, 0.3), case(np.array([0, 2, 4]), SHARES)],
)

# --- the greatest distances of large samples --------------------------------------------------------------------------


TERMS = np.arange(1.0, 10.0)
SWITCH = 0.82
"""Below, the second of two series converges faster (DLMF 20.7.32)."""


def less_of_distances(x):
    """The probability that they are less, by a series for small ones, and its slope."""
    odd = 0.125 * ((2.0 * TERMS - 1.0) * np.pi) ** 2
    column = np.asarray(x)[..., None]
    terms = 2.5066282746310002 / column * np.exp(-odd / column**2)
    return np.sum(terms, axis=-1), np.sum(terms * (2.0 * odd / column**2 - 1.0) / column, axis=-1)


def more_of_distances(x):
    """The probability that they are greater, by a series for large ones, and the density."""
    column = np.asarray(x)[..., None]
    terms = np.where(np.equal(TERMS % 2, 1), 2.0, -2.0) * np.exp(-2.0 * (TERMS * column) ** 2)
    return np.sum(terms, axis=-1), np.sum(4.0 * TERMS**2 * column * terms, axis=-1)


def of_distances(below, above):
    """What one series tells of small distances, and the other one of large ones."""

    def formula(x):
        is_small = np.less(x, SWITCH)
        of_small = below(*less_of_distances(np.where(is_small, x, SWITCH)))
        return np.where(is_small, of_small, above(*more_of_distances(np.where(is_small, SWITCH, x))))

    return formula


_more = of_distances(lambda share, density: 1.0 - share, lambda rest, density: rest)


def _kolmogorov(x):
    found = _more(np.where(np.greater(x, 0.0), x, 1.0))
    return as_result(np.where(np.greater(x, 0.0), found, np.where(np.isnan(x), np.nan, 1.0)))


DISTANCES = np.array([0.3, 0.7, 1.0, 1.4, 2.5, -1.0])
definition(special.kolmogorov, _kolmogorov, cases=[case(sample(3, kind="positive")), case(DISTANCES), case(number())])
