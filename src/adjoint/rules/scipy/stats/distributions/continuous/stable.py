"""Stable distributions (Lévy), in the parameters S1 that SciPy begins with.

Density and probabilities are integrals over an angle [1]_ of what has one maximum; near zero they are power series.
Within ``NEAR_ONE`` of one SciPy takes the exponent for one; how anything moves with it is not known there, nor how it
moves with the skewness of a distribution on a half line, which is infinite.

.. [1] Nolan, J. P. (1997). Numerical calculation of stable densities and distribution functions. Communications in
   Statistics. Stochastic Models, 13(4).
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, constant, elementwise
from adjoint.rules.scipy.stats.distributions.continuous.best_known import LOG_PI, LOG_TWO
from adjoint.rules.scipy.stats.distributions.continuous.elsewhere import declared
from adjoint.rules.scipy.stats.distributions.continuous.integrated import REACH, log_area
from adjoint.rules.scipy.stats.distributions.formulas import column, inside, where_defined

NEAR_ONE = 0.005
"""How near to one SciPy takes an exponent for one."""
NEAR_ZERO = 1e-5
"""Up to which number, in units of the exponent's own, the series is used."""
HALF_PI = 0.5 * np.pi
_ORDERS = np.arange(4.0)


def known_parameters():
    """Zero, where SciPy's own parameters mean what they mean here."""
    if stats.levy_stable.parameterization != "S1":
        raise NotImplementedError("derivatives of levy_stable are known in the parameterization S1")
    return 0.0


constant(known_parameters)


def zero_that_may_move(is_known, parameter):
    """Zero, with a slope by the parameter that is none, or not known: not a number."""
    return 0.0 * parameter


elementwise(
    zero_that_may_move,
    lambda is_known, parameter, y: (None, np.where(is_known, 0.0, np.nan)),
    cases=[case(True, 0.7), case(True, np.array([0.3, 0.5]))],
    fixed=(0,),
)


def _area(integrand, *parameters):
    """The logarithm of the integral, over all logarithms of odds of an angle, of the exponential of something."""
    varying = [column(each) for each in parameters]
    frozen = [stop_gradient(each) for each in varying]
    end = 0.0 * frozen[0] + REACH
    return log_area(lambda u: integrand(u, *varying), lambda u: integrand(u, *frozen), -REACH, end)


def _log_of_weight(u):
    return special.log_expit(u) + special.log_expit(-u)


# --- exponents other than one -----------------------------------------------------------------------------------------


def _angles(alpha, beta):
    """The angle that Nolan calls theta_0, the width of all, what ``alpha`` of it leaves of a half turn, a constant."""
    turned = np.arctan(beta * np.tan(HALF_PI * alpha))
    first = turned / alpha
    is_whole = np.logical_and(np.equal(beta, 1.0), np.less(alpha, 1.0))
    return (
        first,
        np.where(is_whole, np.pi, HALF_PI + first),
        np.maximum(np.pi - HALF_PI * alpha - turned, 0.0),
        np.log(np.cos(turned)),
    )


def _three_angles(u, alpha, beta):
    """Of the cosines and the sine that Nolan's V is made of, the angles between zero and pi of which they are sines."""
    _, width, left, _ = _angles(alpha, beta)
    others, begun, rest = np.pi - width, width * special.expit(u), width * special.expit(-u)
    is_first = np.less(u, 0.0)
    return (
        np.where(is_first, others + begun, rest),
        np.where(is_first, alpha * begun, left + alpha * rest),
        np.where(is_first, others + (1.0 - alpha) * begun, left + (alpha - 1.0) * rest),
    )


def _log_of_power(u, log_x, alpha, beta):
    """The logarithm of what Nolan calls g."""
    cosine, sine, between = [np.log(np.sin(angle)) for angle in _three_angles(u, alpha, beta)]
    _, _, _, log_cosine = _angles(alpha, beta)
    power = alpha / (alpha - 1.0)
    return power * (log_x + cosine - sine) + log_cosine / (alpha - 1.0) + between - cosine


def _log_of_slope(u, alpha, beta):
    """The logarithm of how that moves with the angle."""
    cosine, sine, between = [np.cos(angle) / np.sin(angle) for angle in _three_angles(u, alpha, beta)]
    found = np.where(np.less(u, 0.0), -1.0, 1.0) * (cosine - alpha**2 * sine) + (alpha - 1.0) ** 2 * between
    return np.log(np.maximum(found, 1e-300)) - np.log(np.abs(alpha - 1.0))


def _small(power):
    return np.minimum(power, 2.0 * REACH)


def _log_density_above(x, alpha, beta):
    def integrand(u, log_x, alpha, beta):
        power = _log_of_power(u, log_x, alpha, beta)
        return power - np.exp(_small(power)) + _log_of_weight(u)

    _, width, _, _ = _angles(alpha, beta)
    factor = np.log(alpha * width / np.abs(alpha - 1.0)) - LOG_PI - np.log(x)
    return factor + _area(integrand, np.log(x), alpha, beta)


def _more_above(x, alpha, beta):
    """The probability of more than a positive number: by parts, of what has its maximum at an edge."""

    def integrand(u, log_x, alpha, beta):
        power = _log_of_power(u, log_x, alpha, beta)
        return power - np.exp(_small(power)) + _log_of_slope(u, alpha, beta) + _log_of_weight(u) + special.log_expit(-u)

    _, width, _, _ = _angles(alpha, beta)
    within = np.exp(2.0 * np.log(width) + _area(integrand, np.log(x), alpha, beta))
    at_end = -np.expm1(-np.exp(_small(_log_of_power(-REACH, np.log(x), alpha, beta))))
    return (within + np.where(np.less(alpha, 1.0), width * at_end, 0.0)) / np.pi


def _series(x, alpha, beta, order):
    """The density near zero, or the first integral of it from there: of order 0, and 1."""
    first, _, _, log_cosine = _angles(alpha, beta)
    k = _ORDERS
    one = column(alpha)
    size = special.gammaln((k + 1.0) / one) + (k + 1.0) / one * column(log_cosine) - special.gammaln(k + 1.0 + order)
    signs = np.cos((k + 1.0) * column(first) - k * HALF_PI)
    powers = np.stack([x**0, x, x**2, x**3], axis=-1)
    return x**order * np.sum(np.exp(size) * signs * powers, axis=-1) / (np.pi * alpha)


# --- one as the exponent ----------------------------------------------------------------------------------------------


def _at_angle(u, beta):
    """Tangent and cosine of an angle, and it times the skewness, from a right angle."""
    share, left = np.pi * special.expit(u), np.pi * special.expit(-u)
    below = np.less(u, 0.0)
    cosine = np.where(below, np.sin(share), np.sin(left))
    tangent = np.where(below, -np.cos(share), np.cos(left)) / cosine
    grown = np.where(below, HALF_PI * (1.0 - beta) + beta * share, HALF_PI * (1.0 + beta) - beta * left)
    return tangent, cosine, grown


def _log_of_power_at_one(u, x, beta):
    tangent, cosine, grown = _at_angle(u, beta)
    return LOG_TWO - LOG_PI + np.log(grown / cosine) + (grown * tangent - HALF_PI * x) / beta


def _integrand_at_one(part):
    """How what is less, or more, at an angle grows, by parts: all angles below, or above, are ``part`` of pi."""

    def integrand(u, x, beta):
        tangent, _, grown = _at_angle(u, beta)
        slope = ((beta + grown * tangent) ** 2 + grown**2) / (beta * grown)
        power = _log_of_power_at_one(u, x, beta)
        return power - np.exp(_small(power)) + np.log(slope) + _log_of_weight(u) + special.log_expit(part * u)

    return integrand


def _log_density_at_one(x, beta):
    def integrand(u, x, beta):
        power = _log_of_power_at_one(u, x, beta)
        return power - np.exp(_small(power)) + _log_of_weight(u)

    return LOG_PI - LOG_TWO - np.log(beta) + _area(integrand, x, beta)


def _less_at_one(x, beta):
    return np.pi * np.exp(_area(_integrand_at_one(1.0), x, beta))


def _more_at_one(x, beta):
    at_end = -np.expm1(-np.exp(_small(_log_of_power_at_one(-REACH, x, beta))))
    return np.pi * np.exp(_area(_integrand_at_one(-1.0), x, beta)) + at_end


# --- all --------------------------------------------------------------------------------------------------------------


def _cases(x, alpha, beta):
    """The number and the skewness on the right, and which formula holds."""
    x = x + 0.0 * (alpha + beta)
    alpha, beta = alpha + 0.0 * x, beta + 0.0 * x
    is_one = np.less(np.abs(alpha - 1.0), NEAR_ONE)
    other = np.where(is_one, 1.5, alpha)
    is_near = np.less(np.abs(x), NEAR_ZERO * other ** (1.0 / other))
    is_right = np.greater_equal(x, 0.0)
    far, skew = np.where(is_right, x, -x), np.where(is_right, beta, -beta)
    return is_one, other, is_near, is_right, np.where(is_near, 1.0, far), skew


def _at_one(x, alpha, beta):
    """The number, moved as SciPy moves it, and the skewness, on the side where that is positive; which that is, and
    whether there is one."""
    beta = beta + 0.0 * x
    is_exact = np.equal(alpha, 1.0)
    fixed = stop_gradient(alpha)
    shift = np.where(is_exact, 0.0, -beta * np.tan(HALF_PI * np.where(is_exact, 1.5, fixed)))
    is_even = np.less(np.abs(beta), 1e-6)
    moved = x + shift + zero_that_may_move(np.logical_not(is_even), beta)
    is_right = np.greater_equal(beta, 0.0)
    skew = np.where(is_even, 0.5, np.where(is_right, beta, -beta))
    return np.where(is_right, moved, -moved), skew, is_right, is_even


def _log_density(x, alpha, beta):
    is_one, other, is_near, _, far, skew = _cases(x, alpha, beta)
    at, positive, _, is_even = _at_one(x, np.where(is_one, alpha, 1.0), np.where(is_one, beta, 0.5))
    near = np.log(_series(np.where(is_near, x, 0.0), other, beta + 0.0 * other, 0))
    elsewhere = np.where(is_near, near, _log_density_above(far, other, skew))
    at_one = np.where(is_even, -LOG_PI - np.log1p(at * at), _log_density_at_one(at, positive))
    return as_result(np.where(is_one, at_one, elsewhere))


def _share_and_rest(x, alpha, beta):
    is_one, other, is_near, is_right, far, skew = _cases(x, alpha, beta)
    at, positive, is_up, is_even = _at_one(x, np.where(is_one, alpha, 1.0), np.where(is_one, beta, 0.5))
    less_at_one = np.where(is_even, 0.5 + np.arctan(at) / np.pi, _less_at_one(at, positive))
    more_at_one = np.where(is_even, 0.5 - np.arctan(at) / np.pi, _more_at_one(at, positive))
    more = _more_above(far, other, skew)
    middle = 0.5 - _angles(other, beta + 0.0 * other)[0] / np.pi
    step = _series(np.where(is_near, x, 0.0), other, beta + 0.0 * other, 1)
    share = np.where(is_near, middle + step, np.where(is_right, 1.0 - more, more))
    rest = np.where(is_near, 1.0 - middle - step, np.where(is_right, more, 1.0 - more))
    return (
        as_result(np.where(is_one, np.where(is_up, less_at_one, more_at_one), share)),
        as_result(np.where(is_one, np.where(is_up, more_at_one, less_at_one), rest)),
    )


def _parameters(alpha, beta, loc=0, scale=1):
    alpha = inside(where_defined(np.greater(alpha, 0.0), alpha), 0.0, 2.0) + known_parameters()
    is_one = np.equal(alpha, 1.0)
    shift = np.where(is_one, 2.0 / np.pi * beta * scale * np.log(scale), 0.0)
    is_smooth = np.logical_or(np.less(np.abs(beta), 1.0), np.greater(alpha, 1.0))
    moving = zero_that_may_move(np.greater_equal(np.abs(alpha - 1.0), NEAR_ONE), alpha)
    moving = moving + zero_that_may_move(is_smooth, beta)
    return (alpha, inside(beta, -1.0, 1.0)), loc + shift + moving, scale


def _ends(alpha, beta):
    is_small = np.less(alpha, 1.0 - NEAR_ONE)
    return (
        np.where(np.logical_and(is_small, np.equal(beta, 1.0)), 0.0, -np.inf),
        np.where(np.logical_and(is_small, np.equal(beta, -1.0)), 0.0, np.inf),
    )


declared(
    stats.levy_stable,
    (1.8, -0.5),
    _parameters,
    _log_density,
    support=_ends,
    inner=lambda alpha, beta: np.where(np.equal(beta, -1.0), -0.3, 0.3),
    share=lambda z, alpha, beta: _share_and_rest(z, alpha, beta)[0],
    rest=lambda z, alpha, beta: _share_and_rest(z, alpha, beta)[1],
    exact_tails=False,
)
