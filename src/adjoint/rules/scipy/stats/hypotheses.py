"""Tests and statistics of ``scipy.stats`` as they stand there: what their decorator does, and what they return.

The decorator brings samples into rows, and says what comes of NaN and of samples that are too small; it is said here
in fewer words. What it decorates is read. Results are objects that can be unpacked like tuples.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import inspect
import sys
from types import FunctionType
from typing import Any

import numpy as np
from scipy import special

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import definition

# --- results ----------------------------------------------------------------------------------------------------------


class Result:
    """What is a tuple of its first attributes, and has more of them."""

    def __init__(self, items):
        self._items = items

    def __getitem__(self, place):
        return self._items[place]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


def _maker(fields):
    """What makes a result with these attributes."""

    def made(*args, **named):
        values = {**dict(zip(fields, args, strict=False)), **named}
        result = Result(tuple([values[name] for name in fields]))
        for name, value in values.items():
            setattr(result, name, value)
        return result

    return made


class Interval(Result):
    """Limits."""

    def __init__(self, low, high):
        self._items = (low, high)
        self.low, self.high = low, high


class TTest(Result):
    """What the tests of Student give."""

    def __init__(self, statistic, pvalue, df, alternative, standard_error, estimate, statistic_np=None, xp=None):
        self._items = (statistic, pvalue)
        self.statistic, self.pvalue, self.df = statistic, pvalue, df
        self._alternative, self._standard_error, self._estimate = alternative, standard_error, estimate

    def confidence_interval(self, confidence_level=0.95):
        if self._alternative < 0:
            low, high = -np.inf, special.stdtrit(self.df, confidence_level)
        elif self._alternative > 0:
            low, high = special.stdtrit(self.df, 1.0 - confidence_level), np.inf
        else:
            tail = (1.0 - confidence_level) / 2.0
            low, high = special.stdtrit(self.df, tail), special.stdtrit(self.df, 1.0 - tail)
        spread, middle = self._standard_error, self._estimate
        return Interval(as_result(low * spread + middle), as_result(high * spread + middle))


class Correlation(Result):
    """What Pearson's test gives."""

    def __init__(self, statistic, pvalue, alternative, n, x, y, axis):
        self._items = (statistic, pvalue)
        self.statistic, self.correlation, self.pvalue = statistic, statistic, pvalue
        self._alternative, self._n = alternative, n

    def confidence_interval(self, confidence_level=0.95, method=None):
        if method is not None:
            raise NotImplementedError("an interval by resampling")
        if self._n <= 3:
            return Interval(-1.0 + 0.0 * self.statistic, 1.0 + 0.0 * self.statistic)
        middle, spread = np.arctanh(self.statistic), 1.0 / np.sqrt(self._n - 3.0)
        if self._alternative == "two-sided":
            width = special.ndtri(0.5 + confidence_level / 2.0) * spread
            return Interval(np.tanh(middle - width), np.tanh(middle + width))
        width = special.ndtri(confidence_level) * spread
        if self._alternative == "less":
            return Interval(-1.0 + 0.0 * self.statistic, np.tanh(middle + width))
        return Interval(np.tanh(middle - width), 1.0 + 0.0 * self.statistic)


def _pearsonr(x, y, *, alternative="two-sided", method=None, axis=0):
    if method is not None:
        raise NotImplementedError("a test by resampling")
    first, second = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    if axis is None:
        first, second, axis = np.ravel(first), np.ravel(second), -1
    n = np.shape(first)[axis]
    if n != np.shape(second)[axis]:
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    if n < 2:
        raise ValueError("`x` and `y` must have length at least 2.")
    first = first - np.mean(first, axis=axis, keepdims=True)
    second = second - np.mean(second, axis=axis, keepdims=True)
    norms = np.linalg.norm(first, axis=axis) * np.linalg.norm(second, axis=axis)
    r = np.clip(np.sum(first * second, axis=axis) / norms, -1.0, 1.0)
    if n == 2:
        r = np.round(r)
        p = np.ones(np.shape(r))
    else:
        half = 0.5 * n - 1.0
        if alternative == "two-sided":
            p = 2.0 * special.betaincc(half, half, 0.5 * (np.abs(r) + 1.0))
        elif alternative == "less":
            p = special.betainc(half, half, 0.5 * (r + 1.0))
        elif alternative == "greater":
            p = special.betaincc(half, half, 0.5 * (r + 1.0))
        else:
            raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return Correlation(as_result(r), as_result(np.where(np.isnan(r), np.nan, p)), alternative, n, x, y, axis)


# --- samples ----------------------------------------------------------------------------------------------------------

_HELD = (
    *("hypotest_fun_in", "tuple_to_result", "result_to_tuple", "default_axis", "n_samples", "n_outputs"),
    *("kwd_samples", "override", "is_too_small"),
)
"""What the decorator of SciPy is made with, by the names that it has there."""


def _undecorated(function):
    """What the decorator was made with, by name; None for functions that it does not decorate."""
    if not isinstance(function, FunctionType) or function.__code__.co_name != "axis_nan_policy_wrapper":
        return None
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    held = {name: cell.cell_contents for name, cell in cells}
    return held if all(name in held for name in _HELD) else None


def _is_missing(sample):
    return np.any(np.isnan(sample), axis=-1)


def _meaning(held):
    function, packed, unpacked = held["hypotest_fun_in"], held["tuple_to_result"], held["result_to_tuple"]
    default_axis, n_samples, n_outputs = held["default_axis"], held["n_samples"], held["n_outputs"]
    is_too_small = held["is_too_small"]
    named_samples: tuple[str, ...] = tuple(held["kwd_samples"])
    names = tuple(inspect.signature(function).parameters)
    takes_rows = "axis" in names and not held["override"]["vectorization"]
    spreads_nan = held["override"]["nan_propagation"]

    def meaning(*args, _no_deco=False, **options):
        if _no_deco:
            return function(*args, **options)
        if n_samples is not None:
            placed = dict(zip(names, args, strict=False))
            if len(args) > len(names) or any(name in options for name in placed):
                return function(*args, **options)  # it raises
            options = {**placed, **options}
        axis = options.pop("axis", default_axis)
        nan_policy, keepdims = options.pop("nan_policy", "propagate"), options.pop("keepdims", False)
        if nan_policy != "propagate" or keepdims or isinstance(axis, tuple):
            raise NotImplementedError("NaN left out, several axes, or axes that are kept")
        chosen: tuple[str, ...] = ()
        samples = args
        if n_samples is not None:
            count = n_samples(options) if callable(n_samples) else n_samples
            chosen = names[:count] + tuple([each for each in named_samples if options.get(each) is not None])
            samples = tuple([options.pop(each) for each in chosen])
        rows = tuple([np.atleast_1d(np.asarray(sample)) for sample in samples])
        number = n_outputs(options) if callable(n_outputs) else n_outputs
        if axis is None:
            rows = tuple([np.ravel(row) for row in rows])
        elif any(np.ndim(row) > 1 for row in rows):
            if any(np.ndim(row) != np.ndim(rows[0]) for row in rows) or not takes_rows:
                raise NotImplementedError("samples of this rank")
            rows = tuple([np.moveaxis(row, axis, -1) for row in rows])
            options["axis"] = -1
        if all(np.ndim(row) == 1 for row in rows) and is_too_small(rows, options):
            found = (np.nan,) * number
        elif n_samples is None:
            found = tuple(unpacked(function(*rows, **options), number))
        else:
            found = tuple(unpacked(function(**dict(zip(chosen, rows, strict=True)), **options), number))
        if spreads_nan:
            missing = np.any(np.stack([_is_missing(row) for row in rows]), axis=0)
            found = tuple([as_result(np.where(missing, np.nan, each)) for each in found])
        return packed(*found)

    return meaning


def _mean(x, /, *, axis=None, weights=None, keepdims=False, nan_policy="propagate", dtype=None, xp=None):
    values = np.asarray(x) * 1.0
    if nan_policy == "omit" and weights is None:
        return np.nanmean(values, axis=axis, keepdims=keepdims)
    if nan_policy != "propagate":
        raise NotImplementedError("NaN left out of weighted means")
    if weights is None:
        return np.mean(values, axis=axis, keepdims=keepdims)
    shares = np.asarray(weights) * np.ones(np.shape(values))
    whole = np.sum(values * shares, axis=axis, keepdims=keepdims)
    return whole / np.sum(shares * np.ones(np.shape(values * shares)), axis=axis, keepdims=keepdims)


def _variance(x, /, *, axis=None, correction=0, keepdims=False, nan_policy="propagate", dtype=None, xp=None):
    values = np.asarray(x) * 1.0
    if nan_policy == "omit":
        return np.nanvar(values, axis=axis, ddof=correction, keepdims=keepdims)
    if nan_policy != "propagate":
        raise NotImplementedError("this 'nan_policy'")
    return np.var(values, axis=axis, ddof=correction, keepdims=keepdims)


def _moment_about(x, axis=0, ddof=0, mean=None, xp=None):
    values = np.asarray(x) * 1.0
    middle = np.mean(values, axis=axis, keepdims=True) if mean is None else mean
    count = np.shape(values)[axis]
    return np.mean((values - middle) ** 2, axis=axis) * np.divide(1.0 * count, count - ddof)


def _declare(name, found):
    """Says what a function or a class of ``scipy.stats`` means, where it is decorated, or makes results."""
    held = _undecorated(found)
    if name in _MEANS:
        definition(found, _MEANS[name], arrays=())
    if held is not None:
        definition(found, _meaning(held), arrays=())
    elif isinstance(found, type) and issubclass(found, tuple) and "_extra_fields" in vars(found):
        definition(found, _maker(vars(found)["_fields"]), arrays=())


def _of_means(mean1, mean2, denom, df, alternative, xp=None):
    t = (mean1 - mean2) / denom
    if alternative == "less":
        p = special.stdtr(df, t)
    elif alternative == "greater":
        p = special.stdtr(df, -t)
    elif alternative == "two-sided":
        p = 2.0 * special.stdtr(df, -np.abs(t))
    else:
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return as_result(t), as_result(p)


_MEANS: dict[str, Any] = {
    "TtestResult": TTest,
    "PearsonRResult": Correlation,
    "pearsonr": _pearsonr,
    "_xp_mean": _mean,
    "_xp_var": _variance,
    "_var": _moment_about,
    "_ttest_ind_from_stats": _of_means,
}
"""By names of functions and classes that are SciPy's own."""

for _home, _module in sorted(sys.modules.items()):
    if _home.startswith("scipy.stats._") and not _home.startswith("scipy.stats._mstats"):
        for _name, _found in sorted(vars(_module).items()):
            if getattr(_found, "__module__", None) == _home:
                _declare(_name, _found)
