"""Continuous distributions: of first passages, noncentral ones, and of statistics of tests."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.declare import case
from adjoint.rules.scipy.special.probabilities.by_value import of_distances
from adjoint.rules.scipy.special.probabilities.noncentral import mixed, noncentral_chi2, noncentral_f
from adjoint.rules.scipy.stats.distributions.continuous.best_known import (
    ABOVE,
    HALF_LOG_TWO_PI,
    LOG_TWO,
    SHARES,
    UP,
    half_line,
    no_shape,
    of_shapes,
    shares_of,
)
from adjoint.rules.scipy.stats.distributions.formulas import continuous, not_negative, positive

# --- of first passages ------------------------------------------------------------------------------------------------


def _with_mean(mu, loc=0, scale=1):
    return (positive(mu),), loc, scale


def _log_arrived(z, mu):
    near = special.log_ndtr((z / mu - 1.0) / np.sqrt(z))
    return near + np.log1p(np.exp(2.0 / mu + special.log_ndtr(-(z / mu + 1.0) / np.sqrt(z)) - near))


def _log_away(z, mu):
    near = special.log_ndtr((1.0 - z / mu) / np.sqrt(z))
    return near + np.log1p(-np.exp(2.0 / mu + special.log_ndtr(-(z / mu + 1.0) / np.sqrt(z)) - near))


continuous(
    stats.invgauss,
    _with_mean,
    lambda z, mu: -HALF_LOG_TWO_PI - 1.5 * np.log(z) - ((z - mu) / mu) ** 2 / (2 * z),
    support=half_line,
    inner=1.0,
    is_open=True,
    share=lambda z, mu: np.exp(_log_arrived(z, mu)),
    rest=lambda z, mu: np.exp(_log_away(z, mu)),
    log_share=_log_arrived,
    log_rest=_log_away,
    cases=of_shapes(UP, 1.5),
    shares=shares_of(1.5),
)
continuous(
    stats.wald,
    no_shape,
    lambda z: -HALF_LOG_TWO_PI - 1.5 * np.log(z) - 0.5 * (z - 1) ** 2 / z,
    support=half_line,
    inner=1.0,
    is_open=True,
    share=lambda z: np.exp(_log_arrived(z, 1.0)),
    rest=lambda z: np.exp(_log_away(z, 1.0)),
    log_share=lambda z: _log_arrived(z, 1.0),
    log_rest=lambda z: _log_away(z, 1.0),
    cases=ABOVE,
    shares=SHARES,
)
continuous(
    stats.recipinvgauss,
    _with_mean,
    lambda z, mu: -((1.0 - mu * z) ** 2) / (2.0 * z * mu * mu) - HALF_LOG_TWO_PI - 0.5 * np.log(z),
    support=half_line,
    inner=1.0,
    is_open=True,
    share=lambda z, mu: np.exp(_log_away(1.0 / z, mu)),
    rest=lambda z, mu: np.exp(_log_arrived(1.0 / z, mu)),
    log_share=lambda z, mu: _log_away(1.0 / z, mu),
    log_rest=lambda z, mu: _log_arrived(1.0 / z, mu),
    cases=of_shapes(UP, 1.5),
    shares=shares_of(1.5),
)


def _fatigue(z, c):
    return (np.sqrt(z) - 1.0 / np.sqrt(z)) / c


def _fatigue_life(w):
    far = 0.5 * (np.abs(w) + np.sqrt(w * w + 4.0))
    return np.where(np.less(w, 0), 1.0 / far, far) ** 2


continuous(
    stats.fatiguelife,
    lambda c, loc=0, scale=1: ((positive(c),), loc, scale),
    lambda z, c: np.log(z + 1.0) - LOG_TWO - np.log(c) - 1.5 * np.log(z) - HALF_LOG_TWO_PI - 0.5 * _fatigue(z, c) ** 2,
    support=half_line,
    inner=1.0,
    is_open=True,
    share=lambda z, c: special.ndtr(_fatigue(z, c)),
    rest=lambda z, c: special.ndtr(-_fatigue(z, c)),
    log_share=lambda z, c: special.log_ndtr(_fatigue(z, c)),
    log_rest=lambda z, c: special.log_ndtr(-_fatigue(z, c)),
    quantile=lambda q, c: _fatigue_life(c * special.ndtri(q)),
    upper_quantile=lambda q, c: _fatigue_life(-c * special.ndtri(q)),
    cases=of_shapes(UP, 1.5),
    shares=shares_of(1.5),
)

# --- noncentral ones --------------------------------------------------------------------------------------------------


def _log_chi2_density(z, df, j):
    half = 0.5 * df[..., None] + j
    return special.xlogy(half - 1.0, z[..., None]) - 0.5 * z[..., None] - special.gammaln(half) - LOG_TWO * half


continuous(
    stats.ncx2,
    lambda df, nc, loc=0, scale=1: ((positive(df), not_negative(nc)), loc, scale),
    lambda z, df, nc: np.log(mixed(nc, lambda j: np.exp(_log_chi2_density(np.asarray(z), np.asarray(df), j)))),
    support=half_line,
    inner=1.0,
    share=noncentral_chi2,
    rest=lambda z, df, nc: noncentral_chi2(z, df, nc, special.gammaincc),
    cases=[case(1.3, 2.5, 0.7), case(UP, 4.0, 30.0), case(UP, UP, UP, scale=2.0)],
    shares=shares_of(2.5, 0.7),
)


def _log_f_density(z, dfn, dfd, j):
    a, b = 0.5 * dfn[..., None] + j, 0.5 * dfd[..., None]
    ratio = dfn[..., None] / dfd[..., None]
    odds = ratio * z[..., None]
    return special.xlogy(a - 1.0, odds) - (a + b) * np.log1p(odds) - special.betaln(a, b) + np.log(ratio)


continuous(
    stats.ncf,
    lambda dfn, dfd, nc, loc=0, scale=1: ((positive(dfn), positive(dfd), not_negative(nc)), loc, scale),
    lambda z, dfn, dfd, nc: np.log(
        mixed(nc, lambda j: np.exp(_log_f_density(np.asarray(z), np.asarray(dfn), np.asarray(dfd), j)))
    ),
    support=half_line,
    inner=1.0,
    share=lambda z, dfn, dfd, nc: noncentral_f(dfn, dfd, nc, z),
    rest=lambda z, dfn, dfd, nc: noncentral_f(dfn, dfd, nc, z, special.betaincc),
    cases=[case(1.3, 2.5, 4.0, 0.7), case(UP, 4.0, 7.0, 30.0)],
    shares=shares_of(2.5, 4.0, 0.7),
)

# --- the statistic of Kolmogorov --------------------------------------------------------------------------------------

continuous(
    stats.kstwobign,
    no_shape,
    of_distances(lambda share, density: np.log(density), lambda rest, density: np.log(density)),
    support=half_line,
    inner=1.0,
    is_open=True,
    share=of_distances(lambda share, density: share, lambda rest, density: 1.0 - rest),
    rest=of_distances(lambda share, density: 1.0 - share, lambda rest, density: rest),
    log_share=of_distances(lambda share, density: np.log(share), lambda rest, density: np.log1p(-rest)),
    log_rest=of_distances(lambda share, density: np.log1p(-share), lambda rest, density: np.log(rest)),
    cases=[case(0.7), case(np.array([0.3, 0.8, 0.9, 2.5])), case(0.9, 0.1, 1.3)],
    shares=SHARES,
)
