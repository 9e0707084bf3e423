"""Filters of ``scipy.ndimage`` that choose an element of each window, and statistics of labelled regions."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
from scipy import ndimage, signal

from adjoint.rules.declare import case, definition, no_derivative, sample
from adjoint.rules.scipy.images.filters import _gaussian_filter, _padded, placed
from adjoint.runtime.numerical_methods.of_scipy.signal import extreme_places

# --- windows ----------------------------------------------------------------------------------------------------------


def _windows(values, sizes, mode, cval, origins):
    """The elements of each window, in a last axis."""
    widths = []
    for size, origin in zip(sizes, origins, strict=True):
        before = size // 2 + origin
        if before < 0 or before >= size:
            raise ValueError("invalid origin")
        widths.append((before, size - before - 1))
    views = np.lib.stride_tricks.sliding_window_view(_padded(values, widths, mode, cval), sizes)
    return np.reshape(views, (*np.shape(values), -1))


def _sizes(size, rank):
    return (size,) * rank if isinstance(size, int) else tuple(size)


def chosen(input, size, footprint, mode, cval, origin):
    """The elements of each window that a footprint marks."""
    if not isinstance(mode, str):
        raise NotImplementedError("several modes")
    rank = np.ndim(input)
    sizes = _sizes(size, rank) if footprint is None else np.shape(footprint)
    windows = _windows(input, sizes, mode, cval, _sizes(origin, rank))
    return windows if footprint is None else windows[..., np.flatnonzero(footprint)]


def _extreme(choose):
    def of_line(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        rank = np.ndim(input)
        sizes = [size if k == axis % rank else 1 for k in range(rank)]
        origins = [origin if k == axis % rank else 0 for k in range(rank)]
        return placed(choose(_windows(input, sizes, mode, cval, origins), axis=-1).copy(), output)

    def of_window(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
        if footprint is not None:
            return placed(choose(chosen(input, size, footprint, mode, cval, origin), axis=-1).copy(), output)
        if not isinstance(mode, str):
            raise NotImplementedError("several modes")
        found = np.array(input, order="C")
        rank = np.ndim(input)
        for axis, (extent, place) in enumerate(zip(_sizes(size, rank), _sizes(origin, rank), strict=True)):
            if extent > 1:
                found = of_line(found, extent, axis, None, mode, cval, place)
        return placed(found, output)

    return of_line, of_window


_maximum_of_line, _maximum = _extreme(np.max)
_minimum_of_line, _minimum = _extreme(np.min)


def _ranked(windows, rank):
    return np.sort(windows, axis=-1)[..., rank].copy()


def _rank_filter(input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
    return placed(_ranked(chosen(input, size, footprint, mode, cval, origin), rank), output)


def _median_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
    windows = chosen(input, size, footprint, mode, cval, origin)
    return placed(_ranked(windows, np.shape(windows)[-1] // 2), output)


def _percentile_filter(input, percentile, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
    windows = chosen(input, size, footprint, mode, cval, origin)
    count = np.shape(windows)[-1]
    share = percentile + 100.0 if percentile < 0 else percentile
    rank = count - 1 if percentile == 100.0 else int(count * share / 100.0)
    return placed(_ranked(windows, rank), output)


WINDOWS = [
    case(sample(7), 3),
    case(sample(4, 5), 3, mode="nearest"),
    case(sample(4, 5), (3, 2), mode="constant", cval=0.3),
    case(sample(4, 5), footprint=np.array([[0, 1, 0], [1, 1, 1]])),
]
for _fn, _means in (
    (ndimage.maximum_filter, _maximum),
    (ndimage.minimum_filter, _minimum),
    (ndimage.median_filter, _median_filter),
):
    definition(_fn, _means, arrays=("input",), cases=WINDOWS)
for _fn, _means in (
    (ndimage.maximum_filter1d, _maximum_of_line),
    (ndimage.minimum_filter1d, _minimum_of_line),
):
    definition(_fn, _means, arrays=("input",), cases=[case(sample(7), 3), case(sample(4, 5), 2, 0, mode="wrap")])
definition(
    ndimage.rank_filter, _rank_filter, arrays=("input",), cases=[case(sample(7), 1, 3), case(sample(4, 5), -2, 3)]
)
definition(
    ndimage.percentile_filter,
    _percentile_filter,
    arrays=("input",),
    cases=[case(sample(7), 30, 3), case(sample(4, 5), -20, 3)],
)


def _medfilt(volume, kernel_size=None):
    sizes = 3 if kernel_size is None else kernel_size
    windows = _windows(np.atleast_1d(volume), _sizes(sizes, np.ndim(volume)), "constant", 0.0, (0,) * np.ndim(volume))
    return _ranked(windows, np.shape(windows)[-1] // 2)


def _wiener(im, mysize=None, noise=None):
    sizes = _sizes(3 if mysize is None else mysize, np.ndim(im))
    ones, count = np.ones(sizes), math.prod(sizes)
    middle = signal.correlate(im, ones, "same") / count
    spread = signal.correlate(im**2, ones, "same") / count - middle**2
    level = np.mean(spread) if noise is None else noise
    smooth = middle + (im - middle) * (1.0 - level / spread)
    return np.where(spread < level, middle, smooth)


definition(signal.medfilt, _medfilt, arrays=("volume",), cases=[case(sample(7)), case(sample(4, 5), 3)])
definition(
    signal.medfilt2d,
    lambda input, kernel_size=3: _medfilt(input, kernel_size),
    arrays=("input",),
    cases=[case(sample(4, 5)), case(sample(4, 5), [3, 1])],
)
definition(signal.wiener, _wiener, arrays=("im", "noise"), cases=[case(sample(7)), case(sample(4, 5), 3, 0.4)])


def _grey(line, turned):
    """Extremes of windows of a size; the window of a dilation lies the other way round."""

    def means(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0):
        if footprint is not None or structure is not None or size is None:
            raise NotImplementedError("a footprint, or a structure")
        sizes, origins = _sizes(size, np.ndim(input)), _sizes(origin, np.ndim(input))
        if turned:
            origins = tuple(
                [-place if extent % 2 else -place - 1 for place, extent in zip(origins, sizes, strict=True)]
            )
        return line(input, sizes, None, output, mode, cval, origins)

    return means


for _fn, _means in (
    (ndimage.grey_dilation, _grey(_maximum, True)),
    (ndimage.grey_erosion, _grey(_minimum, False)),
):
    definition(_fn, _means, arrays=("input",), cases=[case(sample(7), 3), case(sample(4, 5), (2, 3), mode="nearest")])


def _of_both_extremes(combined):
    """Functions of a dilation and an erosion of the same windows."""

    def means(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0):
        if output is not None:
            raise NotImplementedError("an array for the result")
        given = (size, footprint, structure, None, mode, cval, origin)
        return combined(input, lambda x: ndimage.grey_dilation(x, *given), lambda x: ndimage.grey_erosion(x, *given))

    return means


for _fn, _combined in (
    (ndimage.grey_opening, lambda x, dilated, eroded: dilated(eroded(x))),
    (ndimage.grey_closing, lambda x, dilated, eroded: eroded(dilated(x))),
    (ndimage.white_tophat, lambda x, dilated, eroded: x - dilated(eroded(x))),
    (ndimage.black_tophat, lambda x, dilated, eroded: eroded(dilated(x)) - x),
    (ndimage.morphological_gradient, lambda x, dilated, eroded: dilated(x) - eroded(x)),
    (ndimage.morphological_laplace, lambda x, dilated, eroded: dilated(x) + eroded(x) - 2.0 * x),
):
    definition(
        _fn, _of_both_extremes(_combined), arrays=("input",), cases=[case(sample(7), 3), case(sample(4, 5), (2, 3))]
    )

# --- slopes of smooth images ------------------------------------------------------------------------------------------


def _along_each(rank, degree):
    """Orders of derivatives along one axis after the other."""
    if rank == 1:
        return ((degree,),)
    if rank == 2:
        return ((degree, 0), (0, degree))
    if rank == 3:
        return ((degree, 0, 0), (0, degree, 0), (0, 0, degree))
    raise NotImplementedError("more than three dimensions")


def _gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0):
    total = 0.0 * input
    for order in _along_each(np.ndim(input), 2):
        total = total + _gaussian_filter(input, sigma, order, output, mode, cval)
    return total


def _gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0):
    total = 0.0 * input
    for order in _along_each(np.ndim(input), 1):
        total = total + _gaussian_filter(input, sigma, order, output, mode, cval) ** 2
    return np.sqrt(total)


for _fn, _means in (
    (ndimage.gaussian_laplace, _gaussian_laplace),
    (ndimage.gaussian_gradient_magnitude, _gaussian_gradient_magnitude),
):
    definition(_fn, _means, arrays=("input",), cases=[case(sample(4, 5), 0.6), case(sample(7), 0.8, mode="nearest")])

# --- labelled regions -------------------------------------------------------------------------------------------------


def _places_of(input, labels, index):
    """Which region each element belongs to, and the regions that are asked for, counted from zero."""
    if labels is None:
        return np.zeros(np.size(input), int), 0
    marks = np.ravel(np.broadcast_to(labels, np.shape(input)))
    if index is None:
        return np.where(marks > 0, 0, 1), 0
    return marks, np.asarray(index)


def _sums(values, marks, asked):
    least = min(int(np.min(marks)), int(np.min(asked)))
    most = max(int(np.max(marks)), int(np.max(asked)))
    return np.bincount(marks - least, weights=np.ravel(values), minlength=most - least + 1)[asked - least]


def _sum(input, labels=None, index=None):
    marks, asked = _places_of(input, labels, index)
    return _sums(np.asarray(input), marks, asked)


def _counts(input, labels, index):
    marks, asked = _places_of(input, labels, index)
    return _sums(np.ones(np.shape(input)), marks, asked)


def _mean(input, labels=None, index=None):
    return _sum(input, labels, index) / _counts(input, labels, index)


def _variance(input, labels=None, index=None):
    marks, asked = _places_of(input, labels, index)
    every = np.arange(int(np.min(marks)), int(np.max(marks)) + 1)
    counts = _sums(np.ones(np.shape(input)), marks, every)
    middles = _sums(np.asarray(input), marks, every) / np.where(counts == 0, 1.0, counts)
    centred = np.ravel(input) - middles[marks - int(np.min(marks))]
    return _sums(centred**2, marks, asked) / _counts(input, labels, index)


def _center_of_mass(input, labels=None, index=None):
    if labels is not None or index is not None:
        raise NotImplementedError("labels")
    whole = np.sum(input)
    found = []
    for axis in range(np.ndim(input)):
        places = np.reshape(np.arange(np.shape(input)[axis]), [-1 if k == axis else 1 for k in range(np.ndim(input))])
        found.append(np.sum(input * places) / whole)
    return tuple(found)


def _extreme_of_regions(choose, largest):
    def means(input, labels=None, index=None):
        if labels is None:
            return choose(input)
        return np.ravel(input)[extreme_places(input, labels, index, largest)]

    return means


no_derivative(extreme_places)
LABELS = np.array([[1, 1, 2, 2, 0], [1, 3, 3, 2, 0], [3, 3, 3, 0, 0]])
REGIONS = [
    case(sample(3, 5)),
    case(sample(3, 5), LABELS),
    case(sample(3, 5), LABELS, 2),
    case(sample(3, 5), LABELS, [1, 3]),
    case(sample(3, 5), LABELS, index=np.array([3, 1, 2])),
]
for _fn, _means in (
    (ndimage.sum, _sum),
    (ndimage.sum_labels, _sum),
    (ndimage.mean, _mean),
    (ndimage.variance, _variance),
    (ndimage.standard_deviation, lambda input, labels=None, index=None: np.sqrt(_variance(input, labels, index))),
    (ndimage.maximum, _extreme_of_regions(np.max, True)),
    (ndimage.minimum, _extreme_of_regions(np.min, False)),
):
    definition(_fn, _means, arrays=("input",), cases=REGIONS)
definition(ndimage.center_of_mass, _center_of_mass, arrays=("input",), cases=[case(sample(3, 4, kind="positive"))])
