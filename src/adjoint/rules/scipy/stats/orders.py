"""What samples say by their order: tests by ranks, whose results are steps; quantile plots.

Ranks are the same nearby, and so is what is computed from them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, constant, definition, no_derivative, sample
from adjoint.rules.scipy.stats.fits import medians_of_order
from adjoint.rules.scipy.stats.hypotheses import Result
from adjoint.runtime.numerical_methods.of_scipy.choices import by_order

# --- tests by ranks ---------------------------------------------------------------------------------------------------


class RankTest(Result):
    """What a test by ranks gives."""

    def __init__(self, statistic, pvalue):
        self._items = (statistic, pvalue)
        self.statistic, self.pvalue = statistic, pvalue


def _declare_test(test, *samples):
    def means(*args, **options):
        if any(np.ndim(arg) > 1 for arg in args):
            raise NotImplementedError("samples of more than one axis")
        found = by_order(test, stop_gradient(args), stop_gradient(options))
        return RankTest(found[0], found[1])

    definition(test, means, only=True, arrays=(), cases=[case(*samples)])


A, B = np.array([0.3, 1.2, -0.4, 2.2, 0.9, 1.7]), np.array([0.1, 1.5, 0.2, 2.9, -0.3, 0.8])
no_derivative(by_order)
for _test in (stats.mannwhitneyu, stats.wilcoxon, stats.kruskal, stats.ansari, stats.mood, stats.weightedtau):
    _declare_test(_test, A, B)
for _test in (stats.ks_2samp, stats.cramervonmises_2samp, stats.brunnermunzel):
    _declare_test(_test, A, B)
_declare_test(stats.friedmanchisquare, A, B, A + B)
_declare_test(stats.fligner, A, B)
for _name in ("chatterjeexi", "spearmanrho"):
    if hasattr(stats, _name):  # since SciPy 1.15, 1.17
        _declare_test(getattr(stats, _name), A, B)
constant(stats.percentileofscore)

# --- in order ---------------------------------------------------------------------------------------------------------


def _probplot(x, sparams=(), dist="norm", fit=True, plot=None, rvalue=False):
    if plot is not None:
        raise NotImplementedError("plot")
    chosen = getattr(stats, dist) if isinstance(dist, str) else dist
    shapes = sparams if isinstance(sparams, tuple) else (sparams,)
    values = np.sort(x)
    places = chosen.ppf(medians_of_order(np.size(values)), *shapes)
    if not fit:
        return places, values
    across, up = places - np.mean(places), values - np.mean(values)
    slope = np.sum(across * up) / np.sum(across * across)
    r = np.sum(across * up) / np.sqrt(np.sum(across * across) * np.sum(up * up))
    return (places, values), (slope, np.mean(values) - slope * np.mean(places), r)


definition(
    stats.probplot,
    _probplot,
    only=True,
    arrays=("x",),
    cases=[case(sample(6), fit=False), case(sample(6), 2.5, "t", False)],
)


def _false_discovery_control(ps, *, axis=0, method="bh"):
    values = np.ravel(ps) if axis is None else np.moveaxis(ps, axis, -1)
    if np.any(np.logical_or(values < 0.0, values > 1.0)):
        raise ValueError("`ps` must include only numbers between 0 and 1.")
    count = np.shape(values)[-1]
    place = np.arange(1.0, count + 1.0)
    order = np.argsort(values, axis=-1)
    raised = np.take_along_axis(values, order, axis=-1) * (count / place)
    if method == "by":
        raised = raised * np.sum(1.0 / place)
    elif method != "bh":
        raise ValueError("`method` must be 'bh' or 'by'.")
    least = np.flip(np.minimum.accumulate(np.flip(raised, -1), axis=-1), -1)
    found = np.clip(np.take_along_axis(least, np.argsort(order, axis=-1), axis=-1), 0.0, 1.0)
    return found if axis is None else np.moveaxis(found, -1, axis)


definition(
    stats.false_discovery_control,
    _false_discovery_control,
    arrays=("ps",),
    cases=[
        case(np.array([0.2, 0.03, 0.5, 0.01])),
        case(np.array([[0.2, 0.03], [0.5, 0.01]]), axis=None, method="by"),
        case(np.array([[0.2, 0.03], [0.5, 0.01]]), axis=1),
    ],
)


def _quantile(x, p, *, method="linear", axis=0, nan_policy="propagate", keepdims=None, weights=None):
    if np.ndim(p) > 0 or weights is not None or nan_policy != "propagate" or keepdims:
        raise NotImplementedError("several probabilities, weights, NaN left out, or axes that are kept")
    if method != "linear":
        raise NotImplementedError("this method")
    return np.quantile(x, p, axis=axis)


if hasattr(stats, "quantile"):  # since SciPy 1.16
    definition(
        stats.quantile,
        _quantile,
        only=True,
        arrays=("x",),
        cases=[case(sample(6), 0.3), case(sample(5, 3), 0.7, axis=1)],
    )

# --- statistics of Fisher ---------------------------------------------------------------------------------------------


def _kstat(data, n=2, *, axis=None):
    values, along = (np.ravel(data), 0) if axis is None else (data, axis)
    count = np.shape(values)[along]
    middle = np.mean(values, axis=along, keepdims=True)
    first = np.mean(values, axis=along)
    second, third, fourth = [np.sum((values - middle) ** power, axis=along) for power in (2, 3, 4)]
    if n == 1:
        return first
    if n == 2:
        return second / (count - 1.0)
    if n == 3:
        return third * count / ((count - 1.0) * (count - 2.0))
    if n == 4:
        whole = count * (count + 1.0) * fourth - 3.0 * (count - 1.0) * second * second
        return whole / ((count - 1.0) * (count - 2.0) * (count - 3.0))
    raise ValueError("k-statistics only supported for 1<=n<=4")


def _kstatvar(data, n=2, *, axis=None):
    count = np.size(data) if axis is None else np.shape(data)[axis]
    square = _kstat(data, 2, axis=axis)
    if n == 1:
        return square / count
    if n == 2:
        return (2.0 * count * square**2 + (count - 1.0) * _kstat(data, 4, axis=axis)) / (count * (count + 1.0))
    raise ValueError("Only n=1 or n=2 supported.")


definition(
    stats.kstat,
    _kstat,
    arrays=("data",),
    cases=[*[case(sample(6), n) for n in (1, 2, 3, 4)], case(sample(5, 3), 3, axis=0)],
)
definition(stats.kstatvar, _kstatvar, arrays=("data",), cases=[case(sample(6)), case(sample(5, 3), 1, axis=1)])
