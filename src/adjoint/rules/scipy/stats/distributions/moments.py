"""Means, deviations, medians, intervals and entropies of distributions.

Moments and entropies are SciPy's own formulas, where a distribution has some.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import stats

from adjoint.rules.declare import definition
from adjoint.rules.results import as_result


def _own(dist, name):
    """The formula of a distribution, None where SciPy integrates."""
    found = getattr(type(dist), name, None)
    return None if found is getattr(stats.rv_continuous, name) or found is getattr(stats.rv_discrete, name) else found


_KNOWN = {
    "bernoulli": lambda p: (p, p * (1.0 - p)),
    "nbinom": lambda n, p: (n * (1.0 - p) / p, n * (1.0 - p) / p**2),
}
"""Mean and variance where SciPy asks compiled code."""


def _standard_moments(dist):
    """Mean and variance of a distribution by its shapes; None where they are integrals."""
    of_stats, of_powers = _own(dist, "_stats"), _own(dist, "_munp")
    if dist.name in _KNOWN:
        return _KNOWN[dist.name]
    if dist.numargs == 0 and of_stats is not None:
        constants = dist._stats()[:2]
        return None if None in constants else lambda: constants

    def by_stats(*shapes):
        middle, square, *_ = of_stats(dist, *shapes)
        if middle is None or square is None:
            raise NotImplementedError("moments that are integrals")
        return middle, square

    def by_powers(*shapes):
        middle = of_powers(dist, 1, *shapes)
        return middle, of_powers(dist, 2, *shapes) - middle * middle

    if of_stats is not None:
        return by_stats
    return by_powers if of_powers is not None and dist.numargs > 0 else None


def declare_moments(dist, parameters):
    """Declares what a distribution tells of itself; ``parameters`` gives shapes, location and perhaps the scale."""
    standard, information = _standard_moments(dist), _own(dist, "_entropy")

    def both(args, kwargs):
        if standard is None:
            raise NotImplementedError("moments that are integrals")
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

    def median(*args, **kwargs):
        return dist.ppf(0.5, *args, **kwargs)

    def interval(confidence, *args, **kwargs):
        low, high = (1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0
        return dist.ppf(low, *args, **kwargs), dist.ppf(high, *args, **kwargs)

    def entropy(*args, **kwargs):
        if information is None:
            raise NotImplementedError("an entropy that is an integral")
        shapes, _, *scales = parameters(*args, **kwargs)
        found = information(dist, *shapes)
        return as_result(found + np.log(scales[0]) if len(scales) > 0 else found)

    def nnlf(theta, x):
        return -np.sum(dist.logpdf(x, *theta))

    known = (mean, var, std, median, interval, entropy)
    for means in known if isinstance(dist, stats.rv_discrete) else (*known, nnlf):
        definition(getattr(dist, means.__name__), means, arrays=())
    definition(dist.stats, two, when=lambda given: given.get("moments", "mv") == "mv", arrays=())
    definition(dist.stats, mean_alone, when=lambda given: given.get("moments") == "m", arrays=())
    definition(dist.stats, variance_alone, when=lambda given: given.get("moments") == "v", arrays=())
