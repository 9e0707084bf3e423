"""Definitions of NumPy's statistics: what is said with sums, products and orders."""

# mypy: allow-untyped-defs, allow-untyped-calls

import builtins

import numpy as np

from adjoint.rules.conversions import as_array, of_dtype
from adjoint.rules.declare import case, definition, no_derivative, sample
from adjoint.rules.numpy.reductions import AXES, PLAIN
from adjoint.runtime.arithmetic.numbers import choose, is_real
from adjoint.runtime.array_functions import places
from adjoint.runtime.array_functions.arrays import float_dtype, rows_of, scatter


def _average(a, axis=None, weights=None):
    if weights is None:
        return np.mean(a, axis=axis)
    if axis is None or np.ndim(weights) == np.ndim(a):
        return np.sum(a * weights, axis=axis) / np.sum(weights * np.ones_like(a), axis=axis)
    moved = np.moveaxis(a, axis, -1)
    return np.matmul(moved, weights) / np.sum(weights)


def _average_and_weight(a, axis=None, weights=None, returned=False):
    found = _average(a, axis, weights)
    if weights is None:
        return found, np.full(np.shape(found), 1.0 * np.size(a) / np.size(found), np.result_type(found))[()]
    if axis is None or np.ndim(weights) == np.ndim(a):
        return found, np.sum(weights * np.ones_like(a), axis=axis)
    return found, (np.sum(weights) * np.ones(np.shape(found), np.result_type(found)))[()]


def _ptp(a, axis=None, *, keepdims=False):
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def _nansum(a, axis=None, *, keepdims=False):
    return np.sum(np.where(np.isnan(a), 0.0, a), axis=axis, keepdims=keepdims)


def _nancumsum(a, axis=None):
    return np.cumsum(np.where(np.isnan(a), 0.0, a), axis=axis)


def _nancumprod(a, axis=None):
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis=axis)


def _numbers(a, axis, keepdims):
    """How many elements are numbers, in the precision of the array."""
    counted = np.logical_not(np.isnan(a))
    return np.sum(counted, axis=axis, dtype=float_dtype(np.real(a)), keepdims=keepdims)


def _nanmean(a, axis=None, *, keepdims=False):
    total = np.sum(np.where(np.isnan(a), 0.0, a), axis=axis, keepdims=keepdims)
    return total / _numbers(a, axis, keepdims)


def _nanprod(a, axis=None, *, keepdims=False):
    return np.prod(np.where(np.isnan(a), 1.0, a), axis=axis, keepdims=keepdims)


def _centred(a, axis):
    """The deviations from the mean, none where there is no number."""
    absent = np.isnan(a)
    mean = np.sum(np.where(absent, 0.0, a), axis=axis, keepdims=True) / _numbers(a, axis, True)
    return np.where(absent, 0.0, a - mean)


def _freedom(a, axis, ddof, keepdims):
    free = _numbers(a, axis, keepdims) - ddof
    return choose(free > 0, free, np.nan)


def _nanvar(a, axis=None, *, ddof=0, keepdims=False):
    centred = _centred(a, axis)
    squares = centred * centred if is_real(centred) else np.real(centred * np.conjugate(centred))
    return np.sum(squares, axis=axis, keepdims=keepdims) / _freedom(a, axis, ddof, keepdims)


def _nanstd(a, axis=None, *, ddof=0, keepdims=False):
    free = _freedom(a, axis, ddof, keepdims)
    lengths = np.linalg.norm(rows_of(_centred(a, axis), axis), axis=-1)
    return np.reshape(lengths, np.shape(free)) / np.sqrt(free)


NANS = [case(np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]])), case(np.array([[1.0, np.nan], [4.0, 5.0]]), axis=1)]
definition(np.average, _average, cases=[*PLAIN, case(sample(4, 3), axis=1, weights=sample(3, kind="positive"))])
definition(
    np.average,
    _average_and_weight,
    when=lambda given: given.get("returned", False) is True,
    arrays=("a", "weights"),
    cases=[
        case(sample(4), returned=True),
        case(sample(4, 3), 1, returned=True),
        case(sample(4, 3), axis=1, weights=sample(3, kind="positive"), returned=True),
        case(sample(4, 3), axis=0, weights=sample(4, 3, kind="positive"), returned=True),
    ],
)
definition(
    np.amax, lambda a, axis=None, *, keepdims=False: np.max(a, axis=axis, keepdims=keepdims), cases=[*AXES, *NANS]
)
definition(
    np.amin, lambda a, axis=None, *, keepdims=False: np.min(a, axis=axis, keepdims=keepdims), cases=[*AXES, *NANS]
)
definition(np.ptp, _ptp, cases=AXES)
definition(np.nansum, _nansum, cases=[*AXES, *NANS])
RUNNING = [case(sample(5)), case(sample(4, 3), 1), case(sample(4, 3), axis=0), *NANS]
definition(np.nancumsum, _nancumsum, cases=RUNNING)
definition(np.nancumprod, _nancumprod, cases=RUNNING)
definition(np.nanmean, _nanmean, cases=[*AXES, *NANS])
definition(np.nanprod, _nanprod, cases=[*AXES, *NANS])
definition(np.nanvar, _nanvar, cases=[*AXES, *NANS, case(sample(4, 3), axis=0, ddof=1)])
definition(np.nanstd, _nanstd, cases=[*AXES, *NANS, case(sample(4, 3), axis=0, ddof=1)])


SAMPLES = [
    case(sample(3, 4)),
    case(sample(4, 3), rowvar=False),
    case(sample(5), sample(5)),
    case(sample(2, 5), sample(5)),
    case(sample(5, 2), sample(5, 1), rowvar=False),
]


def _cov(m, y=None, rowvar=True, bias=False, ddof=None):
    x = _rows(m, rowvar) if y is None else np.concatenate([_rows(m, rowvar), _rows(y, rowvar)], axis=0)
    size = np.shape(x)[1]
    lost = (0 if bias else 1) if ddof is None else ddof
    centred = x - np.mean(x, axis=1, keepdims=True)
    turned = np.transpose(centred) if is_real(centred) else np.conjugate(np.transpose(centred))
    products = np.matmul(centred, turned) / max(size - lost, 0)
    return np.reshape(products, ()) if y is None and np.ndim(m) < 2 else np.squeeze(products)


def _weighted_cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    """Of samples that count several times, or more than others."""
    x = _rows(m, rowvar) if y is None else np.concatenate([_rows(m, rowvar), _rows(y, rowvar)], axis=0)
    important = 1.0 if aweights is None else np.asarray(aweights) + 0.0
    weights = important if fweights is None else important * fweights
    total = np.sum(weights)
    lost = (0 if bias else 1) if ddof is None else ddof
    free = total - lost * (1.0 if aweights is None else np.sum(weights * important) / total)
    centred = x - np.expand_dims(np.matmul(x, weights) / total, 1)
    products = np.matmul(centred, np.conjugate(np.transpose(centred * weights))) / free
    return np.reshape(products, ()) if y is None and np.ndim(m) < 2 else np.squeeze(products)


def _rows(m, rowvar):
    """Variables, each a row."""
    array = as_array(m)
    wide = of_dtype(array, np.result_type(array, np.float64))
    return np.atleast_2d(wide) if rowvar or np.ndim(m) < 2 else np.transpose(wide)


def _corrcoef(x, y=None, rowvar=True):
    if y is None and np.ndim(x) < 2:
        return _cov(x) / _cov(x)
    products = np.atleast_2d(_cov(x, y, rowvar))
    deviations = np.sqrt(np.real(np.diagonal(products)))
    return np.squeeze(products / np.expand_dims(deviations, 1) / deviations)


definition(np.cov, _cov, cases=[*SAMPLES, case(sample(5)), case(sample(3, 4), bias=True), case(sample(3, 4), ddof=2)])
WEIGHTS = np.array([1, 3, 2, 2])
definition(
    np.cov,
    _weighted_cov,
    when=lambda given: given.get("fweights") is not None or given.get("aweights") is not None,
    arrays=("m", "y", "fweights", "aweights"),
    cases=[
        case(sample(3, 4), fweights=WEIGHTS),
        case(sample(3, 4), aweights=sample(4, kind="positive")),
        case(sample(4), sample(4), ddof=0, fweights=WEIGHTS, aweights=sample(4, kind="positive")),
        case(sample(4), aweights=sample(4, kind="positive")),
    ],
)
definition(np.corrcoef, _corrcoef, cases=SAMPLES)


def _bin_edges(a, bins=10, range=None, weights=None):
    if isinstance(bins, str):
        raise NotImplementedError("a rule for the number of bins")
    if np.ndim(bins) > 0:
        return np.asarray(bins)
    if range is None and np.size(a) == 0:
        return np.linspace(0.0, 1.0, bins + 1)
    first, last = (np.min(a), np.max(a)) if range is None else range
    margin = 0.5 if first == last else 0.0
    return of_dtype(np.linspace(first - margin, last + margin, bins + 1), float_dtype(a))


def _histogram(a, bins=10, range=None, density=None, weights=None):
    edges = _bin_edges(as_array(a), bins, range)
    number = np.size(edges) - 1
    inside, members = places.bins_of(a, edges)
    if weights is None:
        counts = np.bincount(members, minlength=number)
    else:
        counts = scatter(
            np.take(np.ravel(weights), inside), np.zeros(number, np.result_type(as_array(weights))), members
        )
    if density:
        return counts / np.sum(counts) / np.diff(edges), edges
    return counts, edges


def _member(values, edges):
    """The number of the bin of each value, -1 outside of all."""
    place = np.searchsorted(edges, values, side="right") - 1
    place = np.where(np.equal(values, edges[-1]), np.size(edges) - 2, place)
    return np.where(np.less(place, np.size(edges) - 1), place, -1)


def _histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    several = isinstance(bins, (list, tuple)) or np.ndim(bins) > 0
    along_x, along_y = (bins[0], bins[1]) if several and len(bins) == 2 else (bins, bins)
    of_x, of_y = (None, None) if range is None else (range[0], range[1])
    rows, columns = _bin_edges(as_array(x), along_x, of_x), _bin_edges(as_array(y), along_y, of_y)
    row, column = _member(as_array(x), rows), _member(as_array(y), columns)
    inside = np.flatnonzero(np.logical_and(row >= 0, column >= 0))
    shape = (np.size(rows) + 1, np.size(columns) + 1)  # NumPy counts what lies outside, too, and leaves that out
    members = (row[inside] + 1) * shape[1] + column[inside] + 1
    weight = np.ones(np.size(inside)) if weights is None else np.take(np.ravel(weights) + 0.0, inside)
    counts = np.reshape(scatter(weight, np.zeros(shape[0] * shape[1]), members), shape)[1:-1, 1:-1]
    if density:
        counts = counts / np.sum(counts) / np.expand_dims(np.diff(rows), 1) / np.diff(columns)
    return counts, rows, columns


def _histogramdd(sample, bins=10, range=None, density=None, weights=None):
    if isinstance(sample, (list, tuple)):
        points = np.transpose(np.atleast_2d(np.stack([as_array(column) for column in sample])))
    else:
        points = np.transpose(np.atleast_2d(sample)) if np.ndim(sample) < 2 else sample
    axes = np.shape(points)[1]
    several = isinstance(bins, (list, tuple)) or np.ndim(bins) > 0
    edges, index, kept = [], np.zeros(np.shape(points)[0], int), np.ones(np.shape(points)[0], bool)
    for k in builtins.range(axes):
        column = as_array(points)[:, k]
        ends = _bin_edges(column, bins[k] if several else bins, None if range is None else range[k])
        place = _member(column, ends)
        index = index * (np.size(ends) + 1) + place + 1  # NumPy counts what lies outside, too, and leaves that out
        kept = np.logical_and(kept, place >= 0)
        edges.append(ends)
    inside = np.flatnonzero(kept)
    weight = np.ones(np.size(inside)) if weights is None else np.take(np.ravel(weights) + 0.0, inside)
    shape = tuple([np.size(ends) + 1 for ends in edges])
    counts = np.reshape(scatter(weight, np.zeros(np.prod(np.array(shape))), index[inside]), shape)
    for k in builtins.range(axes):
        counts = np.moveaxis(np.moveaxis(counts, k, 0)[1:-1], 0, k)
    if density:
        total = np.sum(counts)
        for k in builtins.range(axes):
            widths = np.diff(edges[k])
            counts = np.moveaxis(np.moveaxis(counts, k, -1) / widths, -1, k)
        counts = counts / total
    return counts, edges


POINTS = np.array([0.1, 0.9, 2.5, 1.2, -3.0, 2.0])
definition(
    np.histogram_bin_edges,
    _bin_edges,
    arrays=("a",),
    cases=[case(sample(5), 4), case(sample(5), range=(0.5, 2.0)), case(sample(2, 2), weights=None)],
)
definition(
    np.histogram,
    _histogram,
    arrays=("a", "weights"),
    cases=[
        case(POINTS, 3, weights=sample(6)),
        case(POINTS, [0.0, 1.0, 2.0], weights=sample(6)),
        case(POINTS, 3, (0.0, 2.5), weights=sample(6, kind="positive"), density=True),
        case(POINTS.reshape(2, 3), 3, weights=sample(2, 3)),
        case(sample(5), 3),
    ],
)
no_derivative(places.bins_of)
_OTHERS = np.array([0.3, 1.2, 0.1, -0.4, 2.2, 0.8])
definition(
    np.histogram2d,
    _histogram2d,
    arrays=("x", "y", "weights"),
    cases=[
        case(POINTS, _OTHERS, 3, weights=sample(6)),
        case(POINTS, _OTHERS, [2, 3], [[0.0, 2.0], [-1.0, 2.2]], weights=sample(6)),
        case(POINTS, _OTHERS, [[0.0, 1.0, 2.0], 4], density=True, weights=sample(6, kind="positive")),
        case(sample(6), sample(6), 3),
    ],
)
PLACES = np.array([[0.1, 0.3], [0.9, 1.2], [2.5, 0.1], [1.2, -0.4], [-3.0, 2.2], [2.0, 0.8]])
definition(
    np.histogramdd,
    _histogramdd,
    arrays=("weights",),
    cases=[
        case(PLACES, 3, weights=sample(6)),
        case((POINTS, _OTHERS), [2, 2], [[0.0, 2.0], [-1.0, 2.2]], weights=sample(6)),
        case(PLACES, [[0.0, 1.0, 2.0], 2], density=True, weights=sample(6, kind="positive")),
        case(sample(6, 3), 2),
    ],
)
