"""Statistics of samples: moments, means, deviations from them."""

# mypy: allow-untyped-defs, allow-untyped-calls

from inspect import signature

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, constant, definition, sample

EPSILON = float(np.finfo(float).eps)


def _line(a, axis):
    """An array and an axis of it; without one, all its elements in a row."""
    return (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)


def _mean(a, axis, nan_policy, keepdims=False):
    if nan_policy == "omit":
        return np.nanmean(a, axis=axis, keepdims=keepdims)
    return np.mean(a, axis=axis, keepdims=keepdims)


def _count(a, axis, nan_policy, keepdims=False):
    if nan_policy == "omit":
        return np.sum(np.logical_not(np.isnan(a)), axis=axis, keepdims=keepdims)
    return np.shape(a)[axis]


def _standardized(a, axis, nan_policy, keepdims, order):
    """A central moment by a power of the variance; nothing where that is zero."""
    centred = a - _mean(a, axis, nan_policy, True)
    second = _mean(centred**2, axis, nan_policy, keepdims)
    zero = np.less_equal(second, (EPSILON * _mean(a, axis, nan_policy, keepdims)) ** 2)
    second = np.where(zero, np.nan, second)
    return _mean(centred**order, axis, nan_policy, keepdims) / second ** (0.5 * order)


def _skew(a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    a, axis = _line(a, axis)
    found = _standardized(a, axis, nan_policy, keepdims, 3)
    if not bias:
        n = _count(a, axis, nan_policy, keepdims)
        enough = np.greater(n, 2)
        found = np.where(enough, np.sqrt((n - 1.0) * n) / np.where(enough, n - 2.0, 1.0), 1.0) * found
    return found


def _kurtosis(a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    a, axis = _line(a, axis)
    found = _standardized(a, axis, nan_policy, keepdims, 4)
    if not bias:
        n = _count(a, axis, nan_policy, keepdims)
        enough = np.greater(n, 3)
        below = np.where(enough, (n - 2.0) * (n - 3.0), 1.0)
        found = np.where(enough, ((n * n - 1.0) * found - 3.0 * (n - 1.0) ** 2) / below + 3.0, found)
    return found - 3.0 if fisher else found + 0.0


def _moment(a, order=1, axis=0, nan_policy="propagate", *, center=None, keepdims=False):
    a, axis = _line(a, axis)
    middle = _mean(a, axis, nan_policy, True) if center is None else center
    return _mean((a - middle) ** order, axis, nan_policy, keepdims)


def _zmap(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    line, along = _line(compare, axis)
    middle = np.mean(line, axis=along, keepdims=True)
    return (scores - middle) / np.std(line, axis=along, keepdims=True, ddof=ddof)


def _zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    line, along = _line(a, axis)
    middle, spread = np.mean(line, axis=along, keepdims=True), np.std(line, axis=along, keepdims=True, ddof=ddof)
    return (a - middle) / np.where(np.less_equal(spread, np.abs(EPSILON * middle)), np.nan, spread)


def _sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    a, axis = _line(a, axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.sqrt(np.shape(a)[axis])


def _variation(a, axis=0, nan_policy="propagate", ddof=0, *, keepdims=False):
    a, axis = _line(a, axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


def _weighted(a, axis, weights, keepdims):
    if weights is None:
        return np.mean(a, axis=axis, keepdims=keepdims)
    whole = np.sum(np.broadcast_to(weights, np.shape(a)), axis=axis, keepdims=keepdims)
    return np.sum(a * weights, axis=axis, keepdims=keepdims) / whole


def _gmean(a, axis=0, dtype=None, weights=None, *, nan_policy="propagate", keepdims=False):
    return np.exp(_weighted(np.log(a), axis, weights, keepdims))


def _hmean(a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    return 1.0 / _weighted(1.0 / np.where(np.less(a, 0), np.nan, a), axis, weights, keepdims)


def _gstd(a, axis=0, ddof=1, *, keepdims=False, nan_policy="propagate"):
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


def _entropy(pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    shares = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        found = np.sum(special.entr(shares), axis=axis, keepdims=keepdims)
    else:
        found = np.sum(
            special.rel_entr(shares, qk / np.sum(qk, axis=axis, keepdims=True)), axis=axis, keepdims=keepdims
        )
    return found if base is None else found / np.log(base)


def _iqr(x, axis=None, rng=(25, 75), scale=1.0, nan_policy="propagate", interpolation="linear", keepdims=False):
    low, high = (np.percentile(x, rank, axis=axis, method=interpolation, keepdims=keepdims) for rank in rng)
    return (high - low) / scale


def _mad(x, axis=0, center=None, scale=1.0, nan_policy="propagate", *, keepdims=False):
    return np.median(np.abs(x - np.median(x, axis=axis, keepdims=True)), axis=axis, keepdims=keepdims) / scale


def _trim_mean(a, proportiontocut, axis=0, *, nan_policy="propagate", keepdims=False):
    a, axis = _line(a, axis)
    count = np.shape(a)[axis]
    cut = int(proportiontocut * count)
    if 2 * cut >= count:
        raise ValueError("Proportion too big.")
    inner = np.moveaxis(np.sort(a, axis=axis), axis, 0)[cut : count - cut]
    return np.mean(inner, axis=0)


def _boxcox_llf(lmb, data):
    spread = np.var(special.boxcox(data, lmb), axis=0)
    return (lmb - 1.0) * np.sum(np.log(data), axis=0) - 0.5 * np.shape(data)[0] * np.log(spread)


def _propagates(given):
    return given.get("nan_policy", "propagate") == "propagate"


def _of_rows(given):
    """Whether NaN are left in or left out, and the result loses its axis."""
    return given.get("nan_policy", "propagate") in ("propagate", "omit")


ROWS = [case(sample(6)), case(sample(4, 3), 1), case(sample(4, 3), axis=None)]
POSITIVE = [case(sample(5, kind="positive")), case(sample(4, 3, kind="positive"), axis=1)]
_WITH_GAPS = [case(sample(5, kind="positive"), nan_policy="omit"), case(sample(5), bias=False)]

definition(stats.skew, _skew, when=_of_rows, arrays=("a",), cases=[*ROWS, *_WITH_GAPS])
definition(stats.kurtosis, _kurtosis, when=_of_rows, arrays=("a",), cases=[*ROWS, *_WITH_GAPS])
definition(
    stats.moment,
    _moment,
    when=lambda given: _of_rows(given) and isinstance(given.get("order", 1), int),
    arrays=("a",),
    cases=[case(sample(6), 3), case(sample(4, 3), order=2, axis=1), case(sample(4), 2, center=0.5)],
)
for _fn, _means, _cases in (
    (stats.zscore, _zscore, [*ROWS, case(sample(5), ddof=1)]),
    (stats.zmap, _zmap, [case(sample(3), sample(6)), case(sample(2, 3), sample(4, 3), axis=0)]),
    (stats.sem, _sem, [*ROWS, case(sample(5), ddof=0)]),
    (stats.variation, _variation, [*POSITIVE, case(sample(5, kind="positive"), ddof=1)]),
    (stats.gmean, _gmean, [*POSITIVE, case(sample(3, kind="positive"), weights=np.array([1.0, 2.0, 0.5]))]),
    (stats.hmean, _hmean, [*POSITIVE, case(sample(3, kind="positive"), weights=np.array([1.0, 2.0, 0.5]))]),
    (stats.gstd, _gstd, POSITIVE),
    (stats.entropy, _entropy, [*POSITIVE, case(sample(4, kind="positive"), sample(4, kind="positive"), base=2.0)]),
):
    definition(_fn, _means, when=_propagates, arrays=("a", "scores", "compare", "pk", "qk", "weights"), cases=_cases)
definition(
    stats.iqr,
    _iqr,
    when=lambda given: _propagates(given) and not isinstance(given.get("scale", 1.0), str),
    arrays=("x",),
    cases=[case(sample(6)), case(sample(5, 3), axis=0, rng=(10, 80))],
)
definition(
    stats.median_abs_deviation,
    _mad,
    when=lambda given: (
        _propagates(given)
        and given.get("center") is None
        and not isinstance(given.get("scale", 1.0), str)
        and given.get("axis", 0) is not None
    ),
    arrays=("x",),
    cases=[case(sample(7)), case(sample(5, 3), axis=1, scale=2.0)],
)
definition(
    stats.trim_mean,
    _trim_mean,
    when=lambda given: _propagates(given) and not given.get("keepdims"),
    arrays=("a",),
    cases=[case(sample(7), 0.2), case(sample(5, 3), 0.3, axis=0)],
)
definition(
    stats.boxcox_llf,
    _boxcox_llf,
    arrays=("data",),
    cases=[case(0.3, sample(5, kind="positive")), case(0, sample(4, kind="positive"))],
)
constant(stats.rankdata)


def _expectile(a, alpha=0.5, *, weights=None):
    """The mean with other weights for what is above it: those are the same nearby."""
    if alpha < 0 or alpha > 1:
        raise ValueError("The expectile level alpha must be in the range [0, 1].")
    values = np.ravel(np.asarray(a) * 1.0)
    shares = np.ones(len(values)) if weights is None else np.ravel(np.broadcast_to(weights, np.shape(a)) * 1.0)
    found = np.sum(shares * values) / np.sum(shares)
    for _ in range(len(values) + 1):
        factors = np.abs((values <= stop_gradient(found)) - alpha) * shares
        if np.sum(factors) == 0.0:
            return found
        found = np.sum(factors * values) / np.sum(factors)
    return found


def _expectile_of_a_row(a, alpha=0.5, *, weights=None, axis=None, nan_policy="propagate", keepdims=False):
    """The same with the arguments of SciPy 1.18, which has rows of an array for samples."""
    if np.ndim(a) != 1 or axis not in (None, 0, -1) or nan_policy != "propagate" or keepdims:
        raise NotImplementedError("samples that are rows or columns of an array")
    return _expectile(a, alpha, weights=weights)


definition(
    stats.expectile,
    _expectile_of_a_row if "axis" in signature(stats.expectile).parameters else _expectile,
    cases=[case(sample(6)), case(sample(5), 0.3), case(sample(5), 0.8, weights=np.array([1.0, 3.0, 1.0, 2.0, 1.0]))],
)
