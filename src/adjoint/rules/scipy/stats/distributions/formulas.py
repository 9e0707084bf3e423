"""How distributions are declared: by what they are for the location zero and the scale one.

A distribution says how it binds its parameters, ``parameters(*shapes, loc, scale) -> (shapes, loc, scale)``, and some
of these functions of a standard variable ``z`` and the shapes: ``log_density``; ``share`` and ``rest``, the
probabilities of less and of more, and their logarithms; ``quantile`` and ``upper_quantile``, their inverses. From them
follow SciPy's methods, also of frozen distributions. Formulas see arguments of their support only: they are handed
``inner`` elsewhere.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import stats

from adjoint.declarations.implicit import solved
from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, constant, definition, no_derivative
from adjoint.rules.scipy.stats.distributions.moments import declare_moments
from adjoint.runtime.arithmetic.numbers import undefined
from adjoint.runtime.numerical_methods.implicit import answered, roots, taken


def where_defined(is_defined, parameter):
    """The parameter, or what is not a number where nothing is defined: there its slopes are no numbers, either."""
    return parameter + undefined(is_defined, parameter)


def positive(parameter):
    """The parameter where it is positive."""
    return where_defined(np.greater(parameter, 0), parameter)


def not_negative(parameter):
    """The parameter where it is positive or zero."""
    return where_defined(np.greater_equal(parameter, 0), parameter)


def inside(parameter, low, high):
    """The parameter where it is between two numbers."""
    return where_defined(np.logical_and(np.greater_equal(parameter, low), np.less_equal(parameter, high)), parameter)


def whole_number(number):
    """The parameter, or what is not a number where it is not whole: nothing is defined between whole numbers."""
    return np.where(np.equal(np.floor(number), number), number, np.nan)[()]


no_derivative(whole_number)


def count_from(least, number):
    """The parameter where it is a whole number that is not less; formulas for it know a slope."""
    return where_defined(np.logical_and(np.greater_equal(number, least), np.equal(np.floor(number), number)), number)


def has_meaning(shapes, scale=1.0):
    """Whether there is a distribution: each shape is a number, and the scale is positive."""
    known = np.greater(scale, 0)
    for shape in shapes:
        known = np.logical_and(known, np.logical_not(np.isnan(shape)))
    return known


def checked(value, known, *parameters):
    """The value, or what is not a number where there is no distribution.

    There the slopes by all of the parameters are none: one without meaning leaves none to the others.
    """
    return value + undefined(known, sum(parameters, value))


def nothing(*parameters):
    """Zero, or what is not a number where a parameter is none."""
    return checked(0.0, has_meaning(parameters), *parameters)


def by_cases(formula):
    """A formula that chooses by its variable: where that is not a number, it has no case, and no slope."""
    return lambda z, *shapes: as_result(np.where(np.isnan(z), z, formula(z, *shapes)))


def unbounded(*shapes):
    """The support of a distribution on the whole line."""
    return -np.inf, np.inf


class Frozen:
    """A distribution with its parameters."""

    def __init__(self, dist, args, kwds, count):
        self.dist = dist
        self.count = count  # how many of them are shapes
        self.args = args
        self.kwds = kwds

    def pdf(self, x):
        return self.dist.pdf(x, *self.args, **self.kwds)

    def logpdf(self, x):
        return self.dist.logpdf(x, *self.args, **self.kwds)

    def pmf(self, k):
        return self.dist.pmf(k, *self.args, **self.kwds)

    def logpmf(self, k):
        return self.dist.logpmf(k, *self.args, **self.kwds)

    def cdf(self, x):
        return self.dist.cdf(x, *self.args, **self.kwds)

    def logcdf(self, x):
        return self.dist.logcdf(x, *self.args, **self.kwds)

    def sf(self, x):
        return self.dist.sf(x, *self.args, **self.kwds)

    def logsf(self, x):
        return self.dist.logsf(x, *self.args, **self.kwds)

    def ppf(self, q):
        return self.dist.ppf(q, *self.args, **self.kwds)

    def isf(self, q):
        return self.dist.isf(q, *self.args, **self.kwds)

    def rvs(self, size=None, random_state=None):
        return self.dist.rvs(*self.args, size=size, random_state=random_state, **self.kwds)

    def mean(self):
        return self.dist.mean(*self.args, **self.kwds)

    def var(self):
        return self.dist.var(*self.args, **self.kwds)

    def std(self):
        return self.dist.std(*self.args, **self.kwds)

    def moment(self, order):
        return self.dist.moment(order, *self.args, **self.kwds)

    def median(self):
        return self.dist.median(*self.args, **self.kwds)

    def entropy(self):
        return self.dist.entropy(*self.args, **self.kwds)

    def interval(self, confidence=None):
        return self.dist.interval(confidence, *self.args, **self.kwds)

    def expect(self, func=None, lb=None, ub=None, conditional=False):
        shapes, given = self.args[: self.count], self.args[self.count :]
        if len(shapes) < self.count:
            raise NotImplementedError("expectations with shapes that are named")
        loc = given[0] if len(given) > 0 else self.kwds.get("loc", 0)
        if isinstance(self.dist, stats.rv_discrete):
            return self.dist.expect(func, shapes, loc, lb, ub, conditional)
        scale = given[1] if len(given) > 1 else self.kwds.get("scale", 1)
        return self.dist.expect(func, shapes, loc, scale, lb, ub, conditional)

    def stats(self, moments="mv"):
        return self.dist.stats(*self.args, moments=moments, **self.kwds)

    def support(self):
        return self.dist.support(*self.args, **self.kwds)


def freezable(dist):
    """Declares what a distribution gives that is called with parameters."""
    count = getattr(dist, "numargs", 0)

    def frozen(*args, **kwds):
        return Frozen(dist, args, kwds, count)

    definition(dist, frozen, arrays=())


KNOWN = 1e-8
"""The least of the probabilities that come from differences, and are precise to 1e-16."""


def _at_least(least, share):
    """A probability, or what is not a number where it is too small to be known."""
    if least == 0.0:
        return share
    too_small = np.logical_and(np.less(share, least), np.not_equal(share, 0.0))
    return share * np.where(too_small, np.nan, 1.0)  # its slope is not a number, either


def quantile_at(method, q, *shapes):
    """A quantile, as SciPy finds it."""
    return method(q, *shapes)


constant(quantile_at)


def inverse_of(probability, method):
    """A quantile that SciPy finds, which moves as its probability stays what it is."""

    def quantile(q, *shapes):
        found = quantile_at(method, q, *shapes)
        return solved(roots, lambda z: probability(z, *shapes) - q, (found,), answered, (taken, found))

    return quantile


def continuous(
    dist,
    parameters,
    log_density,
    *,
    cases,
    support=unbounded,
    inner=0.0,
    is_open=False,
    share=None,
    rest=None,
    log_share=None,
    log_rest=None,
    exact_tails=True,
    quantile=None,
    upper_quantile=None,
    shares=(),
):
    """Declares the methods of a continuous distribution.

    Parameters
    ----------
    cases
        Example calls of the density.
    support
        ``support(*shapes)``: the least and the largest value.
    is_open
        Whether the least value does not belong to the support.
    inner
        A value, or a function of the shapes, where all formulas are smooth.
    exact_tails
        Whether small probabilities have small errors, so that their logarithms are known; else only of others.
    shares
        Example calls of the quantile function.
    """
    bounded = support is not unbounded

    def known(*args, **kwargs):
        shapes, loc, scale = parameters(*args, **kwargs)
        is_known = has_meaning(shapes, scale)
        return shapes, checked(loc, is_known, *shapes, scale), checked(scale, is_known, *shapes, loc)

    def standard(x, args, kwargs):
        shapes, loc, scale = parameters(*args, **kwargs)
        z, is_known = (x - loc) / scale, has_meaning(shapes, scale)
        return z if np.all(is_known) else checked(z, is_known, *shapes), shapes

    def kept(z, shapes):
        """Where a value is in the support, and what stands for it elsewhere."""
        low, high = support(*shapes)
        above = np.greater(z, low) if is_open else np.greater_equal(z, low)
        within = np.logical_and(np.logical_and(above, np.less_equal(z, high)), np.isfinite(z))
        return within, np.where(within, z, inner(*shapes) if callable(inner) else inner)

    def outside(z, shapes, below, above):
        """What probabilities are beyond the support."""
        low, _ = support(*shapes)
        return np.where(np.isnan(z), z, np.where(np.less_equal(z, low), below, above))

    def logpdf(x, *args, **kwargs):
        z, shapes = standard(x, args, kwargs)
        _, _, scale = parameters(*args, **kwargs)
        if not bounded:
            return log_density(z, *shapes) - np.log(scale)
        within, z_within = kept(z, shapes)
        found = np.where(within, log_density(z_within, *shapes), outside(z, shapes, -np.inf, -np.inf))
        return as_result(found) - np.log(scale)

    def pdf(x, *args, **kwargs):
        return np.exp(logpdf(x, *args, **kwargs))

    def probability(formula, below, above):
        def method(x, *args, **kwargs):
            z, shapes = standard(x, args, kwargs)
            if not bounded:
                return formula(z, *shapes)
            within, z_within = kept(z, shapes)
            return as_result(np.where(within, formula(z_within, *shapes), outside(z, shapes, below, above)))

        return method

    def inverse(formula):
        def method(q, *args, **kwargs):
            shapes, loc, scale = parameters(*args, **kwargs)
            is_share = np.logical_and(np.greater_equal(q, 0.0), np.less_equal(q, 1.0))
            known = np.logical_and(is_share, has_meaning(shapes, scale))
            found = loc + scale * formula(q, *shapes)
            return found if np.all(known) else found + undefined(known, sum(shapes, q + loc + scale))

        return method

    def logarithm(formula):
        least = 0.0 if exact_tails else KNOWN
        return lambda z, *shapes: np.log(_at_least(least, formula(z, *shapes)))

    declare = [(dist.logpdf, logpdf, cases), (dist.pdf, pdf, cases)]
    if share is not None:
        upper = rest or (lambda z, *shapes: 1.0 - share(z, *shapes))
        declare += [
            (dist.cdf, probability(share, 0.0, 1.0), cases),
            (dist.sf, probability(upper, 1.0, 0.0), cases),
            (dist.logcdf, probability(log_share or logarithm(share), -np.inf, 0.0), cases),
            (dist.logsf, probability(log_rest or logarithm(upper), 0.0, -np.inf), cases),
        ]
    below, above = quantile, upper_quantile
    if quantile is None and share is not None:
        below = inverse_of(share, dist.ppf)
        above = inverse_of(upper, dist.isf)
    elif quantile is not None and upper_quantile is None:
        above = lambda q, *shapes: quantile(1.0 - q, *shapes)
    if below is not None:
        declare += [(dist.ppf, inverse(below), shares), (dist.isf, inverse(above), shares)]
    for method, means, calls in declare:
        definition(method, means, arrays=("x", "q", "args"), cases=calls)
    declare_moments(dist, known, support)
    freezable(dist)


_SHARES = np.array([0.23, 0.61, 0.87])


def column(value):
    """With an axis for the terms of a sum."""
    return np.asarray(value)[..., None]


def terms_between(low, high):
    """The whole numbers from the least to the greatest of these."""
    known = np.logical_and(np.isfinite(low), np.isfinite(high))
    return np.arange(np.min(np.where(known, low, 0.0)), np.max(np.where(known, high, 0.0)) + 1.0)


def _summed(log_mass, ends):
    """The sum of a distribution between two numbers, ``ends(k, *shapes)``."""

    def probability(k, *shapes):
        first, last = ends(k, *shapes)
        terms = terms_between(first, last)
        first, last = column(first + 0.0 * k), column(last + 0.0 * k)
        is_there = np.logical_and(np.greater_equal(terms, first), np.less_equal(terms, last))
        masses = np.exp(log_mass(np.where(is_there, terms, first), *[column(shape) for shape in shapes]))
        return np.sum(np.where(is_there, masses, 0.0), axis=-1)

    return probability


def discrete(dist, parameters, log_mass, *, cases, support, share=None, rest=None):
    """Declares the methods of a distribution of whole numbers; ``parameters`` gives shapes and location.

    Without formulas, probabilities are sums: ``share`` of what is below, from where the support begins.
    """
    by_sum = share is None
    if by_sum:
        bounded = np.isfinite(support(*[0.5] * dist.numargs)[1])
        share = _summed(log_mass, lambda k, *shapes: (support(*shapes)[0], k))
        upper = _summed(log_mass, lambda k, *shapes: (k + 1.0, support(*shapes)[1]))
        rest = upper if bounded else lambda k, *shapes: 1.0 - share(k, *shapes)
    least = KNOWN if by_sum and not bounded else 0.0

    def known(*args, **kwargs):
        shapes, loc = parameters(*args, **kwargs)
        return shapes, loc + nothing(*shapes, loc)

    def counted(k, args, kwargs):
        """The count, the shapes, and zero, which is not a number where a parameter has no meaning."""
        shapes, loc = parameters(*args, **kwargs)
        return k - loc, shapes, nothing(*shapes, loc)

    def logpmf(k, *args, **kwargs):
        count, shapes, zero = counted(k, args, kwargs)
        low, high = support(*shapes)
        within = np.logical_and(np.greater_equal(count, low), np.less_equal(count, high))
        whole = np.logical_and(np.logical_and(within, np.isfinite(count)), np.equal(np.floor(count), count))
        found = log_mass(np.where(whole, count, low), *shapes)
        return as_result(np.where(whole, found, np.where(np.isnan(count), np.nan, -np.inf)) + zero)

    def pmf(k, *args, **kwargs):
        return np.exp(logpmf(k, *args, **kwargs))

    def probability(formula, below, above):
        def method(k, *args, **kwargs):
            count, shapes, zero = counted(k, args, kwargs)
            low, high = support(*shapes)
            below_it = np.floor(count)
            within = np.logical_and(np.greater_equal(below_it, low), np.less(below_it, high))
            found = formula(np.where(within, below_it, low), *shapes)
            beyond = np.where(np.isnan(count), np.nan, np.where(np.less(count, low), below, above))
            return as_result(np.where(within, found, beyond) + zero)

        return method

    def quantile(method):
        def means(q, *args, **kwargs):
            shapes, loc = known(*args, **kwargs)
            return loc + quantile_at(method, q, *shapes)

        return means

    def logarithm(formula, least):
        return lambda z, *shapes: np.log(_at_least(least, formula(z, *shapes)))

    declare = [
        (dist.logpmf, logpmf),
        (dist.pmf, pmf),
        (dist.cdf, probability(share, 0.0, 1.0)),
        (dist.sf, probability(rest, 1.0, 0.0)),
        (dist.logcdf, probability(logarithm(share, 0.0), -np.inf, 0.0)),
        (dist.logsf, probability(logarithm(rest, least), 0.0, -np.inf)),
    ]
    for method, means in declare:
        definition(method, means, arrays=("k", "args"), cases=cases)
    for method in (dist.ppf, dist.isf):
        definition(method, quantile(method), arrays=("q", "args"), cases=[case(_SHARES, *cases[0].args[1:])])
    declare_moments(dist, known, support)
    freezable(dist)
