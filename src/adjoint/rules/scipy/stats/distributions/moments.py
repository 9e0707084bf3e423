"""Means, deviations, higher moments, medians, intervals, entropies and expectations of distributions.

Moments and entropies are SciPy's own formulas, where a distribution has some, and else integrals, as there.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math
from typing import Any

import numpy as np
from scipy import integrate, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.conversions import as_result
from adjoint.rules.declare import definition


def _own(dist, name):
    """The formula of a distribution, None where SciPy integrates."""
    found = getattr(type(dist), name, None)
    return None if found is getattr(stats.rv_continuous, name) or found is getattr(stats.rv_discrete, name) else found


_KNOWN: dict[str, Any] = {
    "bernoulli": lambda p: (
        *(p, p * (1.0 - p)),
        *((1.0 - 2.0 * p) / np.sqrt(p * (1.0 - p)), 1.0 / (p * (1.0 - p)) - 6.0),
    ),
    "nbinom": lambda n, p: (
        *(n * (1.0 - p) / p, n * (1.0 - p) / p**2),
        *((2.0 - p) / np.sqrt(n * (1.0 - p)), 6.0 / n + p**2 / (n * (1.0 - p))),
    ),
}
"""Mean, variance, skewness and excess kurtosis where SciPy asks compiled code."""


def _four(dist):
    """These four by the shapes, each None where it is an integral; None where SciPy has no formulas."""
    of_stats = _own(dist, "_stats")
    asked = {"moments": "mvsk"} if dist._stats_has_moments else {}
    if dist.name in _KNOWN:
        return _KNOWN[dist.name]
    if of_stats is None:
        return None
    if dist.numargs == 0:
        constants = tuple(dist._stats(**asked))
        return lambda: constants
    return lambda *shapes: of_stats(dist, *shapes, **asked)


def _integral_of_power(dist):
    """The expectation of a power as an integral, for the location zero and the scale one."""

    def power(n, *shapes):
        _one_only(shapes)
        return dist.expect(lambda z: z**n, shapes)

    return power


def _one_only(shapes):
    for shape in shapes:
        if np.ndim(shape) > 0:
            raise NotImplementedError("integrals for several distributions at once")


def _standard_moments(dist):
    """Mean and variance of a distribution by its shapes."""
    of_stats, of_powers = _own(dist, "_stats"), _own(dist, "_munp")
    if dist.name in _KNOWN:
        return lambda *shapes: _KNOWN[dist.name](*shapes)[:2]
    if dist.numargs == 0 and of_stats is not None:
        constants = dist._stats()[:2]
        if None not in constants:
            return lambda: constants
    is_known = of_powers is not None and dist.numargs > 0
    power = (lambda n, *shapes: of_powers(dist, n, *shapes)) if is_known else _integral_of_power(dist)

    def by_stats(*shapes):
        middle, square, *_ = of_stats(dist, *shapes)
        first = power(1, *shapes) if middle is None else middle
        return first, power(2, *shapes) - first * first if square is None else square

    def by_powers(*shapes):
        middle = power(1, *shapes)
        return middle, power(2, *shapes) - middle * middle

    return by_powers if of_stats is None or dist.numargs == 0 else by_stats


def _standard_powers(dist, standard):
    """The expectation of a power, by its exponent and the shapes, for the location zero and the scale one."""
    four, of_powers, integral = _four(dist), _own(dist, "_munp"), _integral_of_power(dist)

    def power(n, *shapes):
        if n == 0:
            return 1.0
        if n <= 2:
            middle, square = standard(*shapes)
            return middle if n == 1 else square + middle * middle
        if of_powers is not None and dist.numargs > 0:
            return of_powers(dist, n, *shapes)
        if n > 4 or four is None:
            return integral(n, *shapes)
        middle, square, skew, tail = four(*shapes)
        if middle is None or square is None or skew is None or (n == 4 and tail is None):
            return integral(n, *shapes)
        third = skew * square**1.5
        if n == 3:
            return third + 3.0 * middle * square + middle**3
        return (tail + 3.0) * square**2 + 4.0 * middle * third + 6.0 * middle**2 * square + middle**4

    return power


def _draw(*args, **kwargs):
    raise NotImplementedError("draws of distributions: those of a generator, rng.normal(loc, scale), move")


TAIL = 0.05
"""Which share SciPy leaves to each of the tails of an expectation."""
FAR = 1e9
"""Where the support of whole numbers without an end is said to end."""
SPARE = 1e-15
"""The probability beyond which whole numbers do not count, where there is no end to them."""


def _expectation(dist, parameters, support):
    """Integrals over the body and both tails, as SciPy has them, for the location zero and the scale one."""

    def expect(func=None, args=(), loc=0, scale=1, lb=None, ub=None, conditional=False):
        shapes, place, width = parameters(*args, loc=loc, scale=scale)
        low, high = support(*shapes)
        first, last = low if lb is None else (lb - place) / width, high if ub is None else (ub - place) / width
        value = lambda z: place + width * z
        weighed = lambda z: (value(z) if func is None else func(value(z))) * dist.pdf(z, *args)
        ends = dist.cdf(np.array([first, last]), *args)
        inside = ends[1] - ends[0]
        start, end = stop_gradient(dist.ppf(ends[0] + inside * np.array([TAIL, 1.0 - TAIL]), *args))
        found = integrate.quad(weighed, first, start)[0]
        found = found + integrate.quad(weighed, start, end)[0] + integrate.quad(weighed, end, last)[0]
        return found / inside if conditional else found

    return expect


def _sum_expected(dist, parameters, support):
    """A sum over the whole numbers that count."""

    def expect(func=None, args=(), loc=0, lb=None, ub=None, conditional=False):
        shapes, _ = parameters(*args, loc=loc)
        low, high = support(*shapes)
        first = dist.ppf(SPARE, *args) if low <= -FAR else low
        last = dist.isf(SPARE, *args) if high >= FAR else high
        start, end = first if lb is None else lb - loc, last if ub is None else ub - loc
        numbers = stop_gradient(np.arange(start, end + 1.0))
        if len(numbers) > 100_000:
            raise ValueError("the expectation is a sum of too many terms")
        values = numbers + loc
        found = np.sum((values if func is None else func(values)) * dist.pmf(numbers, *args))
        if conditional:
            return found / (dist.sf(start - 1.0, *args) - dist.sf(end, *args))
        return found

    return expect


def declare_moments(dist, parameters, support):
    """Declares what a distribution tells of itself; ``parameters`` gives shapes, location and perhaps the scale."""
    standard, information = _standard_moments(dist), _own(dist, "_entropy")
    is_discrete = isinstance(dist, stats.rv_discrete)

    def both(args, kwargs):
        shapes, loc, *scales = parameters(*args, **kwargs)
        scale = scales[0] if len(scales) > 0 else 1.0
        middle, square = standard(*shapes)
        return as_result(np.asarray(loc + scale * middle)), as_result(np.asarray(scale * scale * square))

    def mean(*args, **kwargs):
        return both(args, kwargs)[0]

    def var(*args, **kwargs):
        return both(args, kwargs)[1]

    def std(*args, **kwargs):
        return np.sqrt(both(args, kwargs)[1])

    def two(*args, moments="mv", **kwargs):
        return both(args, kwargs)

    def mean_alone(*args, moments, **kwargs):
        return both(args, kwargs)[0]

    def variance_alone(*args, moments, **kwargs):
        return both(args, kwargs)[1]

    of_power = _standard_powers(dist, standard)

    def moment(order, *args, **kwargs):
        shapes, loc, *scales = parameters(*args, **kwargs)
        scale = scales[0] if len(scales) > 0 else 1.0
        found = scale**order * of_power(order, *shapes)
        for k in tuple(range(order)):
            found = found + math.comb(order, k) * scale**k * loc ** (order - k) * of_power(k, *shapes)
        return as_result(np.asarray(found))

    def four(*args, moments, **kwargs):
        shapes, _, *_ = parameters(*args, **kwargs)
        known = both(args, kwargs)
        first, second = of_power(1, *shapes), of_power(2, *shapes)
        third, fourth = of_power(3, *shapes), of_power(4, *shapes)
        square = second - first * first
        skew = (third - 3.0 * first * second + 2.0 * first**3) / square**1.5
        tail = (fourth - 4.0 * first * third + 6.0 * first**2 * second - 3.0 * first**4) / square**2 - 3.0
        names = {"m": known[0], "v": known[1], "s": as_result(np.asarray(skew)), "k": as_result(np.asarray(tail))}
        return tuple([names[name] for name in "mvsk" if name in moments])

    def median(*args, **kwargs):
        return dist.ppf(0.5, *args, **kwargs)

    def interval(confidence, *args, **kwargs):
        low, high = (1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0
        return dist.ppf(low, *args, **kwargs), dist.ppf(high, *args, **kwargs)

    def entropy(*args, **kwargs):
        shapes, _, *scales = parameters(*args, **kwargs)
        if information is None:
            _one_only(shapes)
            log_density = dist.logpmf if is_discrete else dist.logpdf
            found = dist.expect(lambda z: -log_density(z, *shapes), shapes)
        else:
            found = information(dist, *shapes)
        return as_result(found + np.log(scales[0]) if len(scales) > 0 else found)

    def nnlf(theta, x):
        return -np.sum(dist.logpdf(x, *theta))

    expect = (_sum_expected if is_discrete else _expectation)(dist, parameters, support)
    definition(dist.rvs, _draw, arrays=())
    definition(dist.moment, moment, arrays=())
    if _own(dist, "expect") is None:  # of the circle it is the integral once around
        definition(dist.expect, expect, arrays=(), functional=True)
    known = (mean, var, std, median, interval, entropy)
    for means in known if is_discrete else (*known, nnlf):
        definition(getattr(dist, means.__name__), means, arrays=())
    definition(dist.stats, two, when=lambda given: given.get("moments", "mv") == "mv", arrays=())
    definition(dist.stats, four, when=lambda given: given.get("moments") in ("mvs", "mvk", "mvsk", "sk"), arrays=())
    definition(dist.stats, mean_alone, when=lambda given: given.get("moments") == "m", arrays=())
    definition(dist.stats, variance_alone, when=lambda given: given.get("moments") == "v", arrays=())
