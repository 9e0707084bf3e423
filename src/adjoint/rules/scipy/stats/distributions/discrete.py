"""Distributions of whole numbers."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.declare import case, sample
from adjoint.rules.scipy.stats.distributions.formulas import discrete, inside, positive

COUNTS = np.array([0, 1, 4])
ODD = np.array([0.0, 1.5, -1.0, 2.0])
SHARES = np.array([0.2, 0.5, 0.9])


def _naturals(*shapes):
    return 0.0, np.inf


def _log_binomial(n, k):
    return special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)


discrete(
    stats.poisson,
    lambda mu, loc=0: ((np.where(np.greater_equal(mu, 0), mu, np.nan),), loc),
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
    lambda n, p, loc=0: ((n, inside(p, 0.0, 1.0)), loc),
    lambda k, n, p: _log_binomial(n, k) + special.xlogy(k, p) + special.xlog1py(n - k, -p),
    support=lambda n, p: (0.0, n),
    share=lambda k, n, p: special.bdtr(k, n, p),
    rest=lambda k, n, p: special.bdtrc(k, n, p),
    cases=[case(COUNTS, 4, SHARES), case(ODD, 5, 0.3), case(3, 5, 0.3, loc=1)],
)
discrete(
    stats.nbinom,
    lambda n, p, loc=0: ((positive(n), inside(p, 0.0, 1.0)), loc),
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
    lambda p, loc=0: ((inside(p, 0.0, 1.0),), loc),
    lambda k, p: special.xlog1py(k - 1.0, -p) + np.log(p),
    support=lambda p: (1.0, np.inf),
    share=lambda k, p: -np.expm1(k * np.log1p(-p)),
    rest=lambda k, p: np.exp(k * np.log1p(-p)),
    cases=[case(np.array([1, 2, 5]), SHARES), case(ODD, 0.3), case(3, 0.3, loc=1)],
)
discrete(
    stats.betabinom,
    lambda n, a, b, loc=0: ((n, positive(a), positive(b)), loc),
    lambda k, n, a, b: _log_binomial(n, k) + special.betaln(k + a, n - k + b) - special.betaln(a, b),
    support=lambda n, a, b: (0.0, n),
    cases=[case(COUNTS, 4, sample(3, kind="positive"), 1.5), case(ODD, 5, 0.3, 2.0)],
)
discrete(
    stats.zipf,
    lambda a, loc=0: ((np.where(np.greater(a, 1), a, np.nan),), loc),
    lambda k, a: -a * np.log(k) - np.log(special.zeta(a, 1.0)),
    support=lambda a: (1.0, np.inf),
    cases=[case(np.array([1, 2, 5]), np.array([1.5, 2.0, 3.5])), case(3, 2.5)],
)
discrete(
    stats.logser,
    lambda p, loc=0: ((inside(p, 0.0, 1.0),), loc),
    lambda k, p: k * np.log(p) - np.log(k) - np.log(-np.log1p(-p)),
    support=lambda p: (1.0, np.inf),
    cases=[case(np.array([1, 2, 5]), SHARES), case(3, 0.3)],
)
