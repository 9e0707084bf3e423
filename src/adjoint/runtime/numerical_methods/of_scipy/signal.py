"""What derivatives of ``scipy.signal`` and ``scipy.ndimage`` are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage, signal


def convolution(a: Any, b: Any, mode: str = "full", method: str = "auto") -> Any:
    """The convolution of two arrays of any rank, or a part of it.

    >>> convolution([1.0, 2.0], [1.0, 1.0]).tolist()
    [1.0, 3.0, 2.0]
    """
    return np.ascontiguousarray(signal.convolve(a, b, mode, method))


def embedded(part: Any, a: Any, b: Any, mode: str) -> Any:
    """The full convolution of ``a`` and ``b`` of which ``mode`` keeps ``part``, with zeros in place of the rest.

    >>> embedded(np.array([3.0]), np.ones(2), np.ones(2), "valid").tolist()
    [0.0, 3.0, 0.0]
    """
    whole = np.zeros([ours + theirs - 1 for ours, theirs in zip(np.shape(a), np.shape(b), strict=True)], part.dtype)
    whole[_place(a, b, mode)] = part
    return whole


def kept(whole: Any, a: Any, b: Any, mode: str) -> Any:
    """The part of a full convolution of ``a`` and ``b`` that ``mode`` keeps.

    >>> kept(np.array([1.0, 2.0, 1.0]), np.ones(2), np.ones(2), "valid").tolist()
    [2.0]
    """
    return whole[_place(a, b, mode)].copy()


def _place(a: Any, b: Any, mode: str) -> tuple[slice, ...]:
    places = []
    for ours, theirs in zip(np.shape(a), np.shape(b), strict=True):
        starts = {"full": 0, "same": (theirs - 1) // 2, "valid": min(ours, theirs) - 1}
        extents = {"full": ours + theirs - 1, "same": ours, "valid": max(ours, theirs) - min(ours, theirs) + 1}
        places.append(slice(starts[mode], starts[mode] + extents[mode]))
    return tuple(places)


def polynomial_ends(window: int, polyorder: int, deriv: int, delta: float) -> Any:
    """A column for each place in a window: the derivative there of the polynomial that fits the window.

    >>> polynomial_ends(3, 1, 1, 1.0).round(12).tolist()[0]
    [-0.5, -0.5, -0.5]
    """
    places = np.arange(window) * 1.0
    fitted = np.linalg.pinv(np.vander(places, polyorder + 1))
    columns = [np.polyval(np.polyder(column, deriv), places) for column in np.transpose(fitted)]
    return np.stack(columns) / delta**deriv


def window_and_length(window: Any, nperseg: int | None, available: int) -> tuple[Any, int]:
    """The window of the segments of a signal, and their length, as the functions for spectra take them."""
    if isinstance(window, (str, tuple)):
        length = min(256 if nperseg is None else nperseg, available)
        return signal.get_window(window, length), length
    values = np.asarray(window)
    if values.ndim != 1:
        raise ValueError("window must be 1-D")
    if available < values.size:
        raise ValueError("window is longer than input signal")
    if nperseg is not None and nperseg != values.size:
        raise ValueError("value specified for nperseg is different from length of window")
    return values, values.size


def peak_places(x: Any, height: Any, distance: Any, prominence: Any, wlen: Any) -> Any:
    """Where a signal has peaks.

    >>> peak_places(np.array([0.0, 2.0, 1.0, 1.5, 0.0]), None, None, None, None).tolist()
    [1, 3]
    """
    return signal.find_peaks(x, height=height, distance=distance, prominence=prominence, wlen=wlen)[0]


def peak_bases(x: Any, peaks: Any, wlen: Any) -> Any:
    """The places on the left and on the right of peaks from which their prominences count."""
    return np.stack(signal.peak_prominences(x, peaks, wlen)[1:])


def decimation_filter(q: int, n: Any) -> Any:
    """The sections of the filter that SciPy runs before it leaves out values."""
    return signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")


def extreme_places(image: Any, labels: Any, index: Any, largest: bool) -> Any:
    """The places of the largest or the smallest elements of labelled regions, counted along the rows.

    >>> extreme_places(np.array([3.0, 5.0, 4.0]), np.array([1, 1, 2]), np.array([1, 2]), True).tolist()
    [1, 2]
    """
    found = (ndimage.maximum_position if largest else ndimage.minimum_position)(image, labels, index)
    return np.ravel_multi_index(tuple(np.moveaxis(np.asarray(found), -1, 0)), np.shape(image))


def together(roots: Any, tolerance: float, kind: str) -> tuple[Any, Any]:
    """Which roots ``scipy.signal.unique_roots`` takes for one: a matrix of what it makes of them, and how many are one.

    >>> together(np.array([1.0, 2.0, 1.0001]), 1e-3, "avg")[0].tolist()
    [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """
    roots = np.asarray(roots)
    rows, counts, left = [], [], np.ones(len(roots), bool)
    for root, index in zip(roots, range(len(roots)), strict=True):
        if not left[index]:
            continue
        group = np.flatnonzero(left & (np.abs(roots - root) <= tolerance))
        left[group] = False
        row = np.zeros(len(roots))
        if kind in ("avg", "mean"):
            row[group] = 1.0 / len(group)
        else:
            row[group[np.argmax(roots[group]) if kind.startswith("max") else np.argmin(roots[group])]] = 1.0
        rows.append(row)
        counts.append(len(group))
    return np.array(rows).reshape(len(rows), len(roots)), np.array(counts, dtype=int)


def order_of_simple(roots: Any, tol: float) -> Any:
    """The places of roots in the order of their magnitudes.

    Raises
    ------
    LinAlgError
        Where some are taken for one: there the parts of a fraction have no derivative.

    >>> order_of_simple(np.array([-2.0, 0.5, 1.0j]), 1e-3).tolist()
    [1, 2, 0]
    """
    if np.any(together(roots, tol, "avg")[1] > 1):
        raise np.linalg.LinAlgError("the parts of a fraction have no derivative where poles meet")
    return np.argsort(np.abs(roots))


def roots_of_sections(z: Any, p: Any, k: Any, pairing: Any, analog: bool) -> tuple[Any, Any]:
    """Which zeros, and which poles, the sections of second order have that SciPy finds: two places for each.

    The place behind the last is that of a root at zero, which SciPy adds; the one behind that is of none.

    >>> roots_of_sections([0.5], [0.2, 0.3, 0.9], 1.0, None, False)[1].tolist()
    [[0, 3], [2, 1]]
    """
    sections = np.array(signal.zpk2sos(z, p, k, pairing=pairing, analog=analog))
    sections[0, :3] /= k
    return _places_of_roots(sections[:, :3], np.asarray(z)), _places_of_roots(sections[:, 3:], np.asarray(p))


def _places_of_roots(rows: Any, roots: Any) -> Any:
    """Where the roots of polynomials of second order are among some roots."""
    left = list(range(len(roots)))
    found = np.full((len(rows), 2), len(roots) + 1)
    for row, places in zip(rows, found, strict=True):
        for number, root in enumerate(np.roots(row)):
            place = min(left, key=lambda each: abs(roots[each] - root), default=-1)
            is_near = place >= 0 and abs(roots[place] - root) <= 1e-5 * (1.0 + abs(root))
            if not is_near and root != 0.0:
                raise np.linalg.LinAlgError("the sections of a filter have no known derivative where roots meet")
            places[number] = place if is_near else len(roots)
            left = [each for each in left if each != place or not is_near]
    return found
