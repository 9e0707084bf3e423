"""Definitions of ``scipy.signal``: convolutions and correlations, by NumPy's where there is one dimension."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import signal

from adjoint.rules.declare import case, definition, sample


def _centered(full, like):
    """The middle of a full convolution, of the extents of ``like``."""
    start = (np.shape(full)[0] - np.shape(like)[0]) // 2
    return full[start : start + np.shape(like)[0]]


def _along_one_axis(in1, in2, mode):
    if mode == "same":
        return _centered(np.convolve(in1, in2), in1)
    return np.convolve(in1, in2, mode)


def _along_two_axes(in1, in2, mode):
    if mode != "full":
        raise NotImplementedError("a part of a convolution of several dimensions")
    rows, columns = np.shape(in2)
    padded = np.pad(in1, [(rows - 1, rows - 1), (columns - 1, columns - 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (rows, columns))
    return np.tensordot(windows, np.flip(in2), axes=2)


def _convolve(in1, in2, mode="full", method="auto"):
    if np.ndim(in1) == 1 and np.ndim(in2) == 1:
        return _along_one_axis(in1, in2, mode)
    if np.ndim(in1) == 2 and np.ndim(in2) == 2:
        return _along_two_axes(in1, in2, mode)
    raise NotImplementedError("more than two dimensions")


def _correlate(in1, in2, mode="full", method="auto"):
    if mode == "valid":
        raise NotImplementedError("which of both is longer decides the order")
    return _convolve(in1, np.conj(np.flip(in2)), mode)


LINES = [
    case(sample(6), sample(3)),
    case(sample(3), sample(6)),
    case(sample(6), sample(3), "same"),
    case(sample(6), sample(4), mode="same"),
    case(sample(3), sample(6), "same"),
    case(sample(6, kind="complex"), sample(3)),
    case(sample(4, 5), sample(2, 3)),
]
definition(
    signal.convolve,
    _convolve,
    cases=[*LINES, case(sample(6), sample(3), "valid"), case(sample(3), sample(6), "valid")],
)
definition(signal.fftconvolve, lambda in1, in2, mode="full": _convolve(in1, in2, mode), cases=LINES[:5])
definition(signal.correlate, _correlate, cases=LINES)
