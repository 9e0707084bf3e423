"""Probabilities that vectors of correlated variables lie below a point, by slopes that are lower probabilities.

The slope along one component, or by one covariance (Plackett 1954), is a density times the probability that the other
components are less than the point, given that one or those two; so for Student's distribution, whose degrees of freedom
do not vary. By variances slopes follow as nothing depends on the units of a component.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.rules.declare import case, definition, elementwise, general, no_derivative, sample
from adjoint.rules.scipy.stats.distributions.multivariate import HALF_LOG_TWO_PI, extent_of, like, matrix_of
from adjoint.runtime.array_functions.linalg import completed
from adjoint.runtime.numerical_methods.special.orthants import binormal, generator, normal_orthant, student_orthant


def _binormal_partials(h, k, rho, y):
    rest = np.sqrt((1.0 - rho) * (1.0 + rho))
    beyond_h, beyond_k = (k - rho * h) / rest, (h - rho * k) / rest
    at_h, at_k = np.exp(-HALF_LOG_TWO_PI - 0.5 * h * h), np.exp(-HALF_LOG_TWO_PI - 0.5 * k * k)
    both = at_h * np.exp(-HALF_LOG_TWO_PI - 0.5 * beyond_h * beyond_h) / rest
    return at_h * special.ndtr(beyond_h), at_k * special.ndtr(beyond_k), both


elementwise(binormal, _binormal_partials, domain=((-2.0, 2.0), (-2.0, 2.0), (-0.9, 0.9)))

FAR = 40.0
"""As many deviations away a density is zero in double precision."""


def _normal_below(h, spread):
    extent = np.shape(h)[0]
    if extent == 0:
        return 1.0
    if extent == 1:
        return special.ndtr(h[0] / np.sqrt(spread[0, 0]))
    if extent == 2:
        deviations = np.sqrt(np.diagonal(spread))
        return binormal(h[0] / deviations[0], h[1] / deviations[1], spread[1, 0] / (deviations[0] * deviations[1]))
    return normal_orthant(h, spread)


def _normal_along(distance, others, rest):
    """Given one component, by its distance squared: its density but for the deviation, and the rest below."""
    return np.exp(-HALF_LOG_TWO_PI - 0.5 * distance) * _normal_below(others, rest)


def _normal_across(distance, others, rest):
    """Given two: their density but for the root of the determinant, and the rest below."""
    return np.exp(-2.0 * HALF_LOG_TWO_PI - 0.5 * distance) * _normal_below(others, rest)


def _slopes(h, spread, along, across):
    """By the point, and by the lower half of the matrix."""
    extent = np.shape(h)[0]
    deviations = np.sqrt(np.diagonal(spread))
    h = np.clip(h, -FAR * deviations, FAR * deviations)
    by_point = np.zeros(extent)
    by_spread = np.zeros((extent, extent))
    for i in range(extent):
        rest = np.delete(np.arange(extent), i)
        shares = spread[rest, i] / spread[i, i]
        left = spread[np.ix_(rest, rest)] - np.outer(shares, spread[rest, i])
        by_point[i] = along(h[i] * h[i] / spread[i, i], h[rest] - shares * h[i], left) / deviations[i]
        for j in range(i):
            pair, others = np.array([j, i]), np.delete(np.arange(extent), [j, i])
            both = spread[np.ix_(pair, pair)]
            shares_of_two = np.linalg.solve(both, spread[np.ix_(pair, others)])
            left = spread[np.ix_(others, others)] - np.transpose(shares_of_two) @ spread[np.ix_(pair, others)]
            distance = h[pair] @ np.linalg.solve(both, h[pair])
            density = across(distance, h[others] - h[pair] @ shares_of_two, left)
            by_spread[i, j] = density / np.sqrt(both[0, 0] * both[1, 1] - both[0, 1] * both[0, 1])
    crossed = np.sum(spread * (by_spread + np.transpose(by_spread)), axis=1)
    by_variance = -0.5 * (h * by_point + crossed) / np.diagonal(spread)
    return by_point, by_spread + np.diag(by_variance)


def _normal_jvp(dots, y, h, spread, maxpts=None, abseps=1e-5, releps=1e-5, rng=0):
    by_point, by_spread = _slopes(h, completed(spread, True), _normal_along, _normal_across)
    return np.sum(by_point * dots[0]) + np.sum(by_spread * dots[1])


def _normal_vjp(ct, y, h, spread, maxpts=None, abseps=1e-5, releps=1e-5, rng=0):
    by_point, by_spread = _slopes(h, completed(spread, True), _normal_along, _normal_across)
    return ct * by_point, ct * by_spread, None, None, None, None


general(
    normal_orthant,
    _normal_jvp,
    _normal_vjp,
    fixed=(2, 3, 4, 5),
    cases=[case(sample(3), sample(3, 3, kind="definite"), None, 1e-7)],
)


def _student_below(h, spread, df):
    extent = np.shape(h)[0]
    if extent == 0:
        return 1.0
    if extent == 1:
        return special.stdtr(df, h[0] / np.sqrt(spread[0, 0]))
    return student_orthant(h, spread, df)


def _student_slopes(h, spread, df):
    def along(distance, others, rest):
        constant = special.gammaln(0.5 * (df + 1.0)) - special.gammaln(0.5 * df) - 0.5 * np.log(df * np.pi)
        density = np.exp(constant - 0.5 * (df + 1.0) * np.log1p(distance / df))
        return density * _student_below(others * np.sqrt((df + 1.0) / (df + distance)), rest, df + 1.0)

    def across(distance, others, rest):
        grown = 1.0 + distance / df
        return grown ** (-0.5 * df) / (2.0 * np.pi) * _student_below(others / np.sqrt(grown), rest, df)

    return _slopes(h, completed(spread, True), along, across)


def _student_jvp(dots, y, h, spread, df, maxpts=None, rng=0):
    by_point, by_spread = _student_slopes(h, spread, df)
    return np.sum(by_point * dots[0]) + np.sum(by_spread * dots[1])


def _student_vjp(ct, y, h, spread, df, maxpts=None, rng=0):
    by_point, by_spread = _student_slopes(h, spread, df)
    return ct * by_point, ct * by_spread, None, None, None


general(
    student_orthant,
    _student_jvp,
    _student_vjp,
    fixed=(2, 3, 4),
    cases=[case(sample(2), sample(2, 2, kind="definite"), 4.5, 100_000)],
)


def _share_below(x, mean=None, cov=1, allow_singular=False, maxpts=None, abseps=1e-5, releps=1e-5, *, rng=None):
    """Of one component, and of two by the upper half of the covariance, as SciPy reads it; of more by the lower one."""
    extent = extent_of(mean, cov)
    matrix = matrix_of(cov, extent)
    rows = np.reshape(x if mean is None else x - mean, (-1, extent))
    if extent > 2:
        drawn = generator(rng)
        found = [normal_orthant(rows[k], matrix, maxpts, abseps, releps, drawn) for k in range(np.shape(rows)[0])]
        return like(np.stack(found), x, extent)
    deviations = np.sqrt(np.diagonal(matrix))
    scaled = rows / deviations
    if extent == 1:
        return like(special.ndtr(scaled[:, 0]), x, extent)
    return like(binormal(scaled[:, 0], scaled[:, 1], matrix[0, 1] / np.prod(deviations)), x, extent)


def _student_share_below(x, loc=None, shape=1, df=1, allow_singular=False, *, maxpts=None, random_state=None):
    extent = extent_of(loc, shape)
    matrix = matrix_of(shape, extent)
    rows, drawn = np.reshape(x if loc is None else x - loc, (-1, extent)), generator(random_state)
    found = [student_orthant(rows[k], matrix, df, maxpts, drawn) for k in range(np.shape(rows)[0])]
    return like(np.stack(found), x, extent)


no_derivative(generator)
PAIR = sample(2, 2, kind="definite")
BELOW = [case(sample(2), sample(2), PAIR), case(sample(4, 2), cov=PAIR), case(sample(4), 0.3, 1.7)]
definition(stats.multivariate_normal.cdf, _share_below, cases=BELOW)
definition(
    stats.multivariate_normal.logcdf,
    lambda x, mean=None, cov=1, allow_singular=False, maxpts=None, abseps=1e-5, releps=1e-5, *, rng=None: np.log(
        _share_below(x, mean, cov, allow_singular, maxpts, abseps, releps, rng=rng)
    ),
    cases=BELOW[:1],
)
definition(stats.multivariate_t.cdf, _student_share_below)
definition(
    type(stats.multivariate_normal()).cdf,
    lambda self, x: _share_below(x, self.mean, self.cov_object.covariance),
    arrays=("x",),
)
