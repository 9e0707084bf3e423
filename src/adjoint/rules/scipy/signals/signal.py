"""Convolutions and correlations of ``scipy.signal``, by NumPy's where there is one dimension."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import signal

from adjoint.rules.declare import bilinear, case, definition, linear, sample
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.numerical_methods.scipy_signal import convolution, embedded, kept


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


def _fills_with_zeros(given):
    return given.get("boundary", "fill") == "fill" and given.get("fillvalue", 0) == 0


definition(
    signal.convolve2d,
    lambda in1, in2, mode="full", boundary="fill", fillvalue=0: _convolve(in1, in2, mode),
    when=_fills_with_zeros,
    cases=PLANES,
)
definition(
    signal.correlate2d,
    lambda in1, in2, mode="full", boundary="fill", fillvalue=0: _correlate(in1, in2, mode),
    when=lambda given: _fills_with_zeros(given) and given.get("mode", "full") in ("full", "valid"),
    cases=[PLANES[0], PLANES[2]],
)
