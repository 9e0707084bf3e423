"""Continuous distributions between two numbers."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.declare import case, sample
from adjoint.rules.scipy.stats.distributions.continuous.best_known import (
    HALF_LOG_TWO_PI,
    QUANTILES,
    SHARES,
    UP,
    log_normal_mass,
    no_shape,
    shares_of,
)
from adjoint.rules.scipy.stats.distributions.formulas import continuous, positive, where_defined


def _unit(*shapes):
    return 0.0, 1.0


WITHIN = np.array([0.2, 0.7, 0.9])
AROUND = np.array([-0.1, 0.7, 1.3])
continuous(
    stats.uniform,
    no_shape,
    lambda z: 0.0 * z,
    support=_unit,
    inner=0.5,
    share=lambda z: z,
    rest=lambda z: 1.0 - z,
    quantile=lambda q: q,
    upper_quantile=lambda q: 1.0 - q,
    cases=[case(AROUND), case(sample(3), -3.0, 5.0), case(0.3, 0.1, sample(3, kind="positive"))],
    shares=SHARES,
)
continuous(
    stats.beta,
    lambda a, b, loc=0, scale=1: ((positive(a), positive(b)), loc, scale),
    lambda z, a, b: special.xlogy(a - 1.0, z) + special.xlog1py(b - 1.0, -z) - special.betaln(a, b),
    support=_unit,
    inner=0.5,
    share=lambda z, a, b: special.betainc(a, b, z),
    rest=lambda z, a, b: special.betaincc(a, b, z),
    quantile=lambda q, a, b: special.betaincinv(a, b, q),
    upper_quantile=lambda q, a, b: special.betainccinv(a, b, q),
    cases=[case(WITHIN, 2.5, UP), case(AROUND, 2.5, 1.5), case(np.array([0.2]), 1.5, 0.7, 0.1, 2.0)],
    shares=shares_of(2.5, 1.5),
)
continuous(
    stats.powerlaw,
    lambda a, loc=0, scale=1: ((positive(a),), loc, scale),
    lambda z, a: np.log(a) + special.xlogy(a - 1.0, z),
    support=_unit,
    inner=0.5,
    share=lambda z, a: np.power(z, a),
    quantile=lambda q, a: np.power(q, 1.0 / a),
    cases=[case(WITHIN, UP), case(AROUND, 2.5), case(0.4, 1.5, 0.1, 2.0)],
    shares=shares_of(2.5),
)


def _between(a, b, loc=0, scale=1):
    return (where_defined(np.less(a, b), a), b), loc, scale


def _truncated_quantile(q, a, b):
    mass = log_normal_mass(a, b)
    below = special.ndtri_exp(np.logaddexp(special.log_ndtr(a), np.log(q) + mass))
    above = -special.ndtri_exp(np.logaddexp(special.log_ndtr(-b), np.log1p(-q) + mass))
    return np.where(np.less(a, 0), below, above)


continuous(
    stats.truncnorm,
    _between,
    lambda z, a, b: -0.5 * z * z - HALF_LOG_TWO_PI - log_normal_mass(a, b),
    support=lambda a, b: (a, b),
    inner=lambda a, b: 0.5 * (np.maximum(a, -100.0) + np.minimum(b, 100.0)),
    share=lambda z, a, b: np.exp(log_normal_mass(a, z) - log_normal_mass(a, b)),
    rest=lambda z, a, b: np.exp(log_normal_mass(z, b) - log_normal_mass(a, b)),
    log_share=lambda z, a, b: log_normal_mass(a, z) - log_normal_mass(a, b),
    log_rest=lambda z, a, b: log_normal_mass(z, b) - log_normal_mass(a, b),
    quantile=_truncated_quantile,
    cases=[
        case(np.array([-2.0, -0.2, 0.4, 3.0]), -1.0, 2.0),
        case(np.array([0.1, 0.7]), -1.0, sample(2, kind="positive"), 0.1, scale=2.0),
        case(np.array([5.5, 6.0]), 5.0, 9.0),
        case(np.array([0.1, 0.7]), -1.0, np.inf),
    ],
    shares=[case(QUANTILES, -1.0, 2.0), case(0.3, 5.0, 9.0, 0.2, 1.7)],
)


def _between_powers(a, b, loc=0, scale=1):
    return (positive(a), where_defined(np.less(a, b), b)), loc, scale


for _dist in (stats.loguniform, stats.reciprocal):
    continuous(
        _dist,
        _between_powers,
        lambda z, a, b: -np.log(z) - np.log(np.log(b / a)),
        support=lambda a, b: (a, b),
        inner=lambda a, b: 0.5 * (a + b),
        share=lambda z, a, b: np.log(z / a) / np.log(b / a),
        quantile=lambda q, a, b: np.exp(np.log(a) + q * np.log(b / a)),
        cases=[case(np.array([0.1, 0.7, 3.0]), 0.2, 2.0), case(0.9, 0.2, sample(2, kind="positive"), 0.1, scale=2.0)],
        shares=shares_of(0.2, 2.0),
    )
