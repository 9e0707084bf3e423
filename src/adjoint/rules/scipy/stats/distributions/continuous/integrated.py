"""Probabilities that are integrals of a density, by the rule of Gauss and Legendre.

The variable of an integral is one in which the density falls at least exponentially from its only maximum: the integral
goes from there as far as the density counts. What lies below a number and what lies above it are integrals of their
own, so that small ones have small errors; together they are one, or what was found is not a number.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.scipy.stats.distributions.formulas import column

FALL = 45.0
"""The logarithm of how far a density falls to where it does not count."""
REACH = 350.0
"""Beyond it, squares of exponentials overflow."""
_STEPS = np.linspace(0.0, 1.0, 65)


def _graded():
    """Nodes between zero and one, and their weights: denser towards zero."""
    roots, weights = np.polynomial.legendre.leggauss(40)
    ends = np.array([0.0, 1 / 64, 1 / 16, 1 / 4, 1.0])
    widths = np.diff(ends)[:, None]
    return (ends[:-1, None] + widths * (0.5 + 0.5 * roots)).ravel(), (0.5 * widths * weights).ravel()


_NODES, _WEIGHTS = _graded()


def _summit(f, low, high):
    """Where a function with one maximum has it."""
    at = low
    for _ in range(8):
        width = (high - low) / 64.0
        found = f(low + (high - low) * _STEPS)
        best = np.argmax(np.where(np.isnan(found), -np.inf, found), axis=-1)[..., None]
        at = np.minimum(low + width * best, high)
        low, high = np.maximum(at - width, low), np.minimum(at + width, high)
    return at


def _foot(f, summit, far):
    """Where between its maximum and a number a function has fallen so far that it does not count; else the number."""
    enough, near = f(summit) - FALL, summit
    for _ in range(40):
        middle = 0.5 * (near + far)
        counts = np.greater(f(middle), enough)
        near, far = np.where(counts, middle, near), np.where(counts, far, middle)
    return far


def log_area(f, fixed, low, end):
    """The logarithm of the integral of ``exp(f)`` from ``low`` to ``end``; ``fixed`` is ``f`` as it does not vary."""
    known = stop_gradient(end)
    start = np.minimum(known, low)
    summit = stop_gradient(_summit(fixed, start, known))
    left = stop_gradient(_foot(fixed, summit, start))
    foot = stop_gradient(_foot(fixed, summit, known))
    right = np.where(np.less(foot, known), foot, end)
    top = stop_gradient(fixed(summit))
    below = np.sum(_WEIGHTS * np.exp(f(summit + (left - summit) * _NODES) - top), axis=-1) * (summit - left)[..., 0]
    above = np.sum(_WEIGHTS * np.exp(f(summit + (right - summit) * _NODES) - top), axis=-1) * (right - summit)[..., 0]
    return np.log(below + above) + top[..., 0]


def integrated(log_density, variable, value, log_slope, low=-REACH, high=REACH):
    """The formulas of probabilities, for the declaration of a distribution.

    The variable of the integral is ``variable(z)``, between two numbers; ``value`` is the inverse, and ``log_slope``
    the logarithm of the slope of that.
    """

    def areas(z, shapes):
        """The logarithms of what is below, and of what is above; not numbers where they are not one together."""
        z = z + sum([0.0 * shape for shape in shapes])
        end = column(variable(z))
        columns = [column(shape) for shape in shapes]
        frozen = [stop_gradient(column) for column in columns]
        forth = lambda u: log_density(value(u), *columns) + log_slope(u)
        fixed = lambda u: log_density(value(u), *frozen) + log_slope(u)
        below = log_area(forth, fixed, low, end)
        above = log_area(lambda u: forth(-u), lambda u: fixed(-u), -high, -end)
        whole = np.where(np.less(np.abs(np.exp(below) + np.exp(above) - 1.0), 1e-9), 1.0, np.nan)
        return below * whole, above * whole  # their slopes are no numbers, either

    def log_of(one, other):
        """The logarithm of a probability by itself, or by what is left where that is less."""
        is_less = np.less(one, other)
        return np.where(is_less, one, np.log1p(-np.exp(np.where(is_less, -1.0, other))))

    def log_share(z, *shapes):
        below, above = areas(z, shapes)
        return log_of(below, above)[()]

    def log_rest(z, *shapes):
        below, above = areas(z, shapes)
        return log_of(above, below)[()]

    return {
        "share": lambda z, *shapes: np.exp(log_share(z, *shapes)),
        "rest": lambda z, *shapes: np.exp(log_rest(z, *shapes)),
        "log_share": log_share,
        "log_rest": log_rest,
    }


def log_odds(z):
    """A variable for integrals between zero and one."""
    return np.minimum(special.logit(z), REACH)


def _log_cosh(u):
    return np.abs(u) + np.log1p(np.exp(-2.0 * np.abs(u))) - 0.6931471805599453


def over_the_line(log_density):
    """The formulas of a distribution on the whole line, of which the density falls at least as a power."""
    return integrated(log_density, np.arcsinh, np.sinh, _log_cosh)


def above_zero(log_density):
    """The formulas of a distribution above zero, of which the density falls at least as a power."""
    return integrated(log_density, np.log, np.exp, lambda u: u)
