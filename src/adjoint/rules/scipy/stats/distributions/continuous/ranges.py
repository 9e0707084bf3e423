"""The studentized range: how far the greatest of some normal variables is from the least, by an estimated deviation.

Both integrals of [1]_ are sums here: over the least of the variables, at equal distances, which is exact to rounding
for what falls so fast; over the estimated deviation, by the rule of Gauss and Legendre. What is less and what is more
than a number are sums of positive terms each.

.. [1] Lund, R. E., Lund, J. R. (1983). Algorithm AS 190: Probabilities and upper quantiles for the studentized range.
   Applied Statistics, 32(2).
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case
from adjoint.rules.scipy.stats.distributions.continuous.best_known import HALF_LOG_TWO_PI, LOG_TWO
from adjoint.rules.scipy.stats.distributions.continuous.integrated import REACH, log_area
from adjoint.rules.scipy.stats.distributions.formulas import column, continuous, positive, where_defined

MANY = 100_000
"""From how many degrees of freedom on SciPy counts the deviation as known."""
NEAR = 0.5
"""Up to which width the probability of an interval is an integral of its density, by few nodes."""
FARTHEST = 30.0
_PARTS = np.linspace(0.0, 1.0, 321)
_ROOTS, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_FRACTIONS, _LOG_WEIGHTS = 0.5 + 0.5 * _ROOTS, np.log(0.5 * _WEIGHTS)


def _least_values(log_width):
    """Where the least variable may lie, and the distance between neighbours."""
    reach = np.minimum(0.5 * np.exp(np.minimum(log_width, 5.0)), 20.0) + 9.0
    length = column(reach + 9.0)
    return stop_gradient(-column(reach) + length * _PARTS), stop_gradient(length[..., 0] * _PARTS[1])


def _log_normal(z):
    return -HALF_LOG_TWO_PI - 0.5 * z * z


def _log_ratio(z, log_width):
    """The logarithm of the probability of what lies between ``z`` and that far above, of all above ``z``."""
    above = special.log_ndtr(-z)
    is_near = np.less(log_width, np.log(NEAR))
    far = np.exp(np.minimum(np.where(is_near, 0.0, log_width), 5.0))
    near = np.exp(np.where(is_near, log_width, -1.0))
    inside = special.logsumexp(_LOG_WEIGHTS + _log_normal(column(z) + column(near) * _FRACTIONS), axis=-1)
    beyond = np.minimum(special.log_ndtr(-z - far) - above, -1e-300)
    return np.where(is_near, log_width + inside - above, np.log(-np.expm1(beyond)))


def _log_within(log_width, k):
    """The logarithm of the probability that all variables lie within a width."""
    z, step = _least_values(log_width)
    each = _log_normal(z) + (column(k) - 1.0) * (special.log_ndtr(-z) + _log_ratio(z, column(log_width)))
    return special.logsumexp(each, axis=-1) + np.log(k * step)


def _log_beyond(log_width, k):
    """The logarithm of the probability that they do not."""
    z, step = _least_values(log_width)
    others = column(k) - 1.0
    left = -np.expm1(np.minimum(others * _log_ratio(z, column(log_width)), -1e-300))
    each = _log_normal(z) + others * special.log_ndtr(-z) + np.log(left)
    return special.logsumexp(each, axis=-1) + np.log(k * step)


def _log_slope(log_width, k):
    """The logarithm of the density of the width."""
    z, step = _least_values(log_width)
    width = np.exp(np.minimum(column(log_width), 5.0))
    between = (column(k) - 2.0) * (special.log_ndtr(-z) + _log_ratio(z, column(log_width)))
    each = _log_normal(z) + _log_normal(z + width) + between
    return special.logsumexp(each, axis=-1) + np.log(k * (k - 1.0) * step)


def _over_deviations(log_of_width, power):
    """The logarithm of the mean, over the estimated deviation to a power, of what is known by the width."""

    def mean(q, k, df):
        q = q + 0.0 * (k + df)
        is_estimated = np.less(df, MANY)
        few = np.where(is_estimated, df, 1.0)

        def weighted(u, log_q, k, df):
            half = 0.5 * df
            scaled = LOG_TWO + half * np.log(half) - special.gammaln(half)
            return scaled + df * u - half * np.exp(2.0 * u) + power * u + log_of_width(log_q + u, k)

        varying = column(np.log(q)), column(k + 0.0 * q), column(few + 0.0 * q)
        frozen = [stop_gradient(each) for each in varying]
        end = column(0.0 * q) + FARTHEST
        estimated = log_area(lambda u: weighted(u, *varying), lambda u: weighted(u, *frozen), -REACH, end)
        return as_result(np.where(is_estimated, estimated, log_of_width(np.log(q), k)))

    return mean


_log_share, _log_rest = _over_deviations(_log_within, 0.0), _over_deviations(_log_beyond, 0.0)

continuous(
    stats.studentized_range,
    lambda k, df, loc=0, scale=1: ((where_defined(np.greater(k, 1), k), positive(df)), loc, scale),
    _over_deviations(_log_slope, 1.0),
    support=lambda k, df: (0.0, np.inf),
    is_open=True,
    inner=1.0,
    share=lambda z, k, df: np.exp(_log_share(z, k, df)),
    rest=lambda z, k, df: np.exp(_log_rest(z, k, df)),
    log_share=_log_share,
    log_rest=_log_rest,
    cases=[case(1.3, 3.0, 10.0), case(np.array([0.4, 3.7]), 2.5, 4.0, scale=1.5)],
    shares=[case(0.61, 3.0, 10.0)],
)
