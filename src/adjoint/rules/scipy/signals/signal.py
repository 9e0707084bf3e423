"""Convolutions and correlations of ``scipy.signal``, by NumPy's where there is one dimension."""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any

import numpy as np
from scipy import signal

from adjoint.rules.declare import bilinear, case, definition, linear, sample
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.numerical_methods.of_scipy.signal import convolution, embedded, kept


def _centered(full, like):
    """The middle of a full convolution, of the extents of ``like``."""
    start = (np.shape(full)[0] - np.shape(like)[0]) // 2
    return full[start : start + np.shape(like)[0]]


def _along_one_axis(in1, in2, mode):
    if mode == "same":
        return _centered(np.convolve(in1, in2), in1)
    return np.convolve(in1, in2, mode)


def _convolve(in1, in2, mode="full", method="auto"):
    if np.ndim(in1) == 1 and np.ndim(in2) == 1:
        return _along_one_axis(in1, in2, mode)
    return convolution(in1, in2, mode, method)


def _convolve_transpose(ct, a, b, mode="full", method="auto"):
    whole = embedded(ct, a, b, mode)
    return (
        unbroadcast(convolution(whole, np.flip(b), "valid", method), a),
        unbroadcast(convolution(whole, np.flip(a), "valid", method), b),
    )


def _correlate(in1, in2, mode="full", method="auto"):
    return _convolve(in1, np.conj(np.flip(in2)), mode, method)


LINES = [
    case(sample(6), sample(3)),
    case(sample(3), sample(6)),
    case(sample(6), sample(3), "same"),
    case(sample(6), sample(4), mode="same"),
    case(sample(6, kind="complex"), sample(3)),
]
SHORT = [case(sample(3), sample(6), "same")]
PARTS = [case(sample(6), sample(3), "valid"), case(sample(3), sample(6), "valid")]
PLANES = [
    case(sample(4, 5), sample(2, 3)),
    case(sample(4, 5), sample(2, 3), "same"),
    case(sample(4, 5), sample(2, 2), mode="valid"),
    case(sample(2, 3), sample(4, 5), "valid"),
]
definition(signal.convolve, _convolve, cases=[*LINES, *SHORT, *PARTS, *PLANES])
bilinear(
    convolution,
    _convolve_transpose,
    cases=[
        *LINES,
        *PARTS,
        *PLANES,
        case(sample(2, 3, 4), sample(2, 2, 3), "same", "direct"),
        case(sample(4, 5, kind="complex"), sample(2, 3)),
    ],
)
linear(
    embedded,
    lambda ct, part, a, b, mode: kept(ct, a, b, mode),
    cases=[
        case(sample(4, 2), np.ones((4, 5)), np.ones((1, 4)), "valid"),
        case(sample(4), np.ones(4), np.ones(6), "same"),
    ],
)
linear(
    kept,
    lambda ct, whole, a, b, mode: embedded(ct, a, b, mode),
    cases=[
        case(sample(4, 8), np.ones((4, 5)), np.ones((1, 4)), "valid"),
        case(sample(9), np.ones(4), np.ones(6), "same"),
    ],
)
definition(
    signal.fftconvolve,
    lambda in1, in2, mode="full": _convolve(in1, in2, mode),
    cases=[*LINES, *SHORT, *PARTS, *PLANES],
)
definition(
    signal.oaconvolve,
    lambda in1, in2, mode="full": _convolve(in1, in2, mode),
    cases=[*LINES, *SHORT, *PARTS, *PLANES],
)
definition(signal.correlate, _correlate, cases=[*LINES, *SHORT, *PARTS, *PLANES])


def _spread(in1, in2, boundary, fillvalue):
    """The first image, with as much around it as the second one reaches."""
    rows, columns = np.shape(in2)
    around = ((rows - 1, rows - 1), (columns - 1, columns - 1))
    if boundary == "fill":
        return np.pad(in1, around, constant_values=fillvalue)
    if boundary == "symm" or boundary == "symmetric":
        mode: Any = "symmetric"
    elif boundary == "wrap" or boundary == "circular":
        mode = "wrap"
    else:
        raise NotImplementedError("these edges")
    if rows - 1 > np.shape(in1)[0] or columns - 1 > np.shape(in1)[1]:
        raise ValueError("derivatives are known of edges where the second image is no larger than the first")
    return np.pad(in1, around, mode=mode)


def _part(full, in1, in2, turned):
    """The middle of a full result; of a correlation it begins later where the second image has no middle."""
    (rows, columns), (high, wide) = np.shape(in1), np.shape(in2)
    top, left = (high // 2, wide // 2) if turned else ((high - 1) // 2, (wide - 1) // 2)
    return full[top : top + rows, left : left + columns].copy()


def _convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if mode == "valid" or (boundary == "fill" and fillvalue == 0):
        return _convolve(in1, in2, mode)
    full = _convolve(_spread(in1, in2, boundary, fillvalue), in2, "valid")
    return full if mode == "full" else _part(full, in1, in2, False)


def _correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if mode == "valid" or (mode == "full" and boundary == "fill" and fillvalue == 0):
        return _correlate(in1, in2, mode)
    full = _correlate(_spread(in1, in2, boundary, fillvalue), in2, "valid")
    return full if mode == "full" else _part(full, in1, in2, True)


EDGES = [
    case(sample(4, 5), sample(2, 3), "same", "symm"),
    case(sample(4, 5), sample(2, 2), boundary="wrap"),
    case(sample(4, 5), sample(3, 3), "same", "fill", 0.7),
]
definition(signal.convolve2d, _convolve2d, arrays=("in1", "in2"), cases=[*PLANES, *EDGES])
definition(
    signal.correlate2d,
    _correlate2d,
    arrays=("in1", "in2"),
    cases=[PLANES[0], PLANES[2], *EDGES, case(sample(4, 5), sample(2, 3), "same")],
)


def _deconvolve(signal, divisor):
    num, den = np.atleast_1d(signal), np.atleast_1d(divisor)
    steps = np.size(num) - np.size(den) + 1
    if steps < 1:
        raise ValueError("derivatives are known of divisors that are no longer than the signal")
    quotient = lfilter(num, den, np.concatenate([np.ones(1), np.zeros(steps - 1)]))
    return quotient, num - np.convolve(den, quotient)


lfilter = signal.lfilter
definition(
    signal.deconvolve,
    _deconvolve,
    cases=[case(sample(6), np.array([2.0, 0.5, -0.3])), case(sample(4), np.array([1.0, 0.4, 0.1, 0.2]))],
)
