"""Definitions of NumPy's quantiles: elements of sorted rows, and what lies between two of them."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, sample
from adjoint.rules.numpy.reductions import AXES
from adjoint.runtime.arithmetic.numbers import choose
from adjoint.runtime.array_functions.arrays import float_dtype, match, rows_of


def _position(q, n, method):
    """Where in ``n`` sorted elements a quantile lies, which may be between two."""
    if method == "linear":
        return (n - 1) * q
    if method == "lower":
        return np.floor((n - 1) * q)
    if method == "higher":
        return np.ceil((n - 1) * q)
    if method == "nearest":
        return np.rint((n - 1) * q)
    if method == "midpoint":
        return 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    if method == "hazen":
        return _plotted(q, n, 0.5, 0.5)
    if method == "weibull":
        return _plotted(q, n, 0.0, 0.0)
    if method == "median_unbiased":
        return _plotted(q, n, 1 / 3, 1 / 3)
    if method == "normal_unbiased":
        return _plotted(q, n, 3 / 8, 3 / 8)
    raise NotImplementedError("quantiles by this method")


def _plotted(q, n, alpha, beta):
    return np.clip(n * q + (alpha + q * (1 - alpha - beta)) - 1, 0, n - 1)


def _checked(q):
    if np.ndim(q) > 1:
        raise NotImplementedError("quantiles in a table")
    places = q if np.ndim(q) == 0 else np.asarray(q)
    outside = places < 0 or places > 1 if np.ndim(q) == 0 else np.any((places < 0) | (places > 1))
    if outside:
        raise ValueError("Quantiles must be in the range [0, 1]")
    return places


def _of_hundred(q):
    return q / 100 if np.ndim(q) == 0 else np.true_divide(q, 100)


def _of_all(a, q, axis, method):
    """Quantiles along the last axis of rows, with the axes of ``q`` in its place; not a number if one is in the row."""
    rows = np.sort(rows_of(a, axis), axis=-1)
    n = np.shape(rows)[-1]
    position = _position(q, n, method)
    if np.ndim(q) == 0:
        below = int(position)
        above = min(below + 1, n - 1)
        part = float(position) - below
        last = np.take(rows, -1, axis=-1)
    else:
        below = np.floor(position).astype(np.intp)
        above = np.minimum(below + 1, n - 1)
        part = position - below
        last = rows[..., -1:]
    low = np.take(rows, below, axis=-1)
    return choose(np.isnan(last), match(np.nan, last), low + (np.take(rows, above, axis=-1) - low) * part)


def _of_numbers(a, q, axis, method):
    """The same of those elements of rows that are numbers, which sorting puts first."""
    rows = np.sort(rows_of(a, axis), axis=-1)
    n = np.expand_dims(np.sum(np.logical_not(np.isnan(rows)), axis=-1), -1)
    position = _position(np.ravel(q), n, method)
    below = np.maximum(np.floor(position), 0).astype(np.intp)
    part = position - below
    if np.ndim(q) == 0:
        part = part.astype(float_dtype(a))
    low = np.take_along_axis(rows, below, -1)
    high = np.take_along_axis(rows, np.minimum(below + 1, np.maximum(n - 1, 0)), -1)
    found = low + (high - low) * part
    return np.take(found, 0, axis=-1) if np.ndim(q) == 0 else found


def _placed(found, a, q, axis, keepdims):
    """Quantiles with the axis of ``q`` first and, if asked for, the axes that were reduced."""
    first = np.ndim(q)
    moved = np.moveaxis(found, -1, 0) if first == 1 else found
    if not keepdims:
        return moved
    rank = np.ndim(a)
    if axis is None:
        return np.reshape(moved, np.shape(moved) + (1,) * rank)
    if isinstance(axis, tuple):
        return np.expand_dims(moved, tuple([first + k % rank for k in axis]))
    return np.expand_dims(moved, first + axis % rank)


def _quantile(a, q, axis=None, *, method="linear", keepdims=False):
    places = _checked(q)
    found = _placed(_of_all(a, places, axis, method), a, places, axis, keepdims)
    if isinstance(q, np.float64):
        found = found * np.float64(1.0)  # double precision counts, which a float does not
    return found.copy() if np.ndim(found) > 1 else found


def _nanquantile(a, q, axis=None, *, method="linear", keepdims=False):
    places = _checked(q)
    return _placed(_of_numbers(a, places, axis, method), a, places, axis, keepdims)


def _percentile(a, q, axis=None, *, method="linear", keepdims=False):
    return _quantile(a, _of_hundred(q), axis, method=method, keepdims=keepdims)


def _nanpercentile(a, q, axis=None, *, method="linear", keepdims=False):
    return _nanquantile(a, _of_hundred(q), axis, method=method, keepdims=keepdims)


# What is left in an input that may be overwritten is not defined: it is left as it is.


def _median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None:
        raise NotImplementedError("memory to write to")
    rows = np.sort(rows_of(a, axis), axis=-1)
    n = np.shape(rows)[-1]
    middle = (np.take(rows, (n - 1) // 2, axis=-1) + np.take(rows, n // 2, axis=-1)) / 2
    holed = np.isnan(np.take(rows, -1, axis=-1))
    return _placed(choose(holed, match(np.nan, middle), middle), a, 0.5, axis, keepdims)


def _nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None:
        raise NotImplementedError("memory to write to")
    return _nanquantile(a, 0.5, axis, keepdims=keepdims)


HOLES = np.array([[1.0, np.nan, 3.0, 0.5], [4.0, 5.0, 6.0, -1.0], [np.nan, 2.0, 1.0, np.nan]])
HOLED = [case(HOLES), case(HOLES, axis=1), case(HOLES, axis=0, keepdims=True)]
METHODS = "lower higher nearest midpoint hazen weibull median_unbiased normal_unbiased"


def _quantiles(q):
    return [
        case(sample(5), q),
        case(sample(4, 3), q, axis=0),
        case(sample(4, 3), [q, 2 * q], 1),
        case(sample(2, 4, 3), q, axis=(0, -1), keepdims=True),
        case(sample(4, 3), [q, 0.5 * q], keepdims=True),
        case(HOLES, q, axis=1),
        case(HOLES, [q, 0], axis=0),
        *[case(sample(5), q, method=method) for method in METHODS.split()],
        *[case(HOLES, q, 1, method=method) for method in METHODS.split()],
    ]


definition(np.quantile, _quantile, cases=[*_quantiles(0.3), case(sample(5), np.array([0.0, 0.25, 1.0]))])
definition(np.percentile, _percentile, cases=_quantiles(30))
definition(np.nanquantile, _nanquantile, cases=_quantiles(0.3))
definition(np.nanpercentile, _nanpercentile, cases=_quantiles(30))
definition(np.median, _median, cases=[*AXES, *HOLED, case(sample(5)), case(sample(4, 3), 0, None, False)])
definition(np.nanmedian, _nanmedian, cases=[*AXES, *HOLED, case(sample(5), overwrite_input=False)])
