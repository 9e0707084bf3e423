"""Distributions that are classes (``stats.Normal``, ``stats.Uniform``), by the older ones, of which all is said."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import stats

from adjoint.rules.declare import definition
from adjoint.rules.helpers.solvers import unknown
from adjoint.rules.scipy.stats.distributions.formulas import positive, where_defined


class Distribution:
    """A continuous distribution with its parameters, under the names that methods of the classes have."""

    def __init__(self, frozen, parameters):
        self._frozen = frozen
        for name, value in parameters.items():
            setattr(self, name, value)

    def pdf(self, x, *, method=None):
        return self._frozen.pdf(x)

    def logpdf(self, x, *, method=None):
        return self._frozen.logpdf(x)

    def cdf(self, x, y=None, *, method=None):
        return self._frozen.cdf(_one(x, y))

    def logcdf(self, x, y=None, *, method=None):
        return self._frozen.logcdf(_one(x, y))

    def ccdf(self, x, y=None, *, method=None):
        return self._frozen.sf(_one(x, y))

    def logccdf(self, x, y=None, *, method=None):
        return self._frozen.logsf(_one(x, y))

    def icdf(self, p, *, method=None):
        return self._frozen.ppf(p)

    def iccdf(self, p, *, method=None):
        return self._frozen.isf(p)

    def mean(self, *, method=None):
        return self._frozen.mean()

    def median(self, *, method=None):
        return self._frozen.median()

    def variance(self, *, method=None):
        return self._frozen.var()

    def standard_deviation(self, *, method=None):
        return self._frozen.std()

    def entropy(self, *, method=None):
        return self._frozen.entropy()

    def skewness(self, *args, **options):
        raise NotImplementedError("distributions that are classes")

    def kurtosis(self, *args, **options):
        raise NotImplementedError("distributions that are classes")

    def mode(self, *args, **options):
        raise NotImplementedError("distributions that are classes")

    def support(self, *args, **options):
        raise NotImplementedError("distributions that are classes")


def _one(x, y):
    if y is not None:
        raise NotImplementedError("a probability between two numbers: subtract two of one")
    return x


def _normal(*, mu=None, sigma=None):
    place, scale = 0.0 if mu is None else mu, 1.0 if sigma is None else sigma
    return Distribution(stats.norm(place, positive(scale)), {"mu": place, "sigma": scale})


def _uniform(*, a, b):
    return Distribution(stats.uniform(a, where_defined(np.greater(b, a), b - a)), {"a": a, "b": b})


def _logistic():
    return Distribution(stats.logistic(), {})


for _name, _means in (("Normal", _normal), ("Uniform", _uniform), ("Logistic", _logistic)):
    if hasattr(stats, _name):  # since SciPy 1.15, 1.16
        definition(getattr(stats, _name), _means, arrays=())
for _name in ("truncate", "order_statistic", "abs", "exp", "log"):
    if hasattr(stats, _name):
        definition(getattr(stats, _name), unknown, only=True, arrays=())
