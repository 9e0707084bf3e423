"""Other sampling rates, states of filters, and peaks in signals."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import fft, linalg, signal

from adjoint import ir
from adjoint.rules.declare import case, constant, definition, no_derivative, sample
from adjoint.rules.scipy.signals.filters import _extended, _in_steady_state
from adjoint.runtime.numerical_methods.of_scipy.signal import decimation_filter, peak_bases, peak_places

if hasattr(signal.windows, "_windows") and hasattr(signal.windows._windows, "_namespace"):
    definition(signal.windows._windows._namespace, lambda xp=None: np, arrays=())

# --- sampling rates ---------------------------------------------------------------------------------------------------


def _resample(x, num, t=None, axis=0, window=None, domain="time"):
    if t is not None or window is not None or domain != "time":
        raise NotImplementedError("times, a window, or spectra")
    rows = np.moveaxis(x, axis, -1)
    n = np.shape(rows)[-1]
    common = min(num, n)
    half = common // 2
    spectrum = fft.rfft(rows)[..., : half + 1]
    weights = np.ones(half + 1)
    if common % 2 == 0 and num != n:
        weights[half] = 2.0 if num < n else 0.5
    return np.moveaxis(fft.irfft(spectrum * weights, num) * (num / n), -1, axis)


def _upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    if mode != "constant" or cval != 0:
        raise NotImplementedError("another mode than 'constant'")
    rows = np.moveaxis(np.asarray(x), axis, -1)
    weights = np.ravel(h)
    n = np.shape(rows)[-1]
    apart = np.concatenate([rows[..., None], np.zeros((*np.shape(rows), up - 1))], axis=-1)
    line = np.reshape(apart, (*np.shape(rows)[:-1], n * up))[..., : (n - 1) * up + 1]
    behind = np.zeros((*np.shape(rows)[:-1], np.size(weights) - 1))
    whole = signal.lfilter(weights, np.ones(1), np.concatenate([line, behind], axis=-1))
    return np.moveaxis(whole[..., ::down], -1, axis).copy("C")


definition(
    signal.resample,
    _resample,
    arrays=("x",),
    cases=[case(sample(8), 5), case(sample(8), 6), case(sample(6, 2), 9), case(sample(2, 6), 10, axis=1)],
)
definition(
    signal.upfirdn,
    _upfirdn,
    arrays=("h", "x"),
    cases=[
        *[case(sample(3), sample(6)), case(sample(4), sample(5), 3, 2), case(sample(3), sample(2, 5), 1, 2)],
        case(sample(3), sample(4, 2), axis=0),
    ],
)

# --- states -----------------------------------------------------------------------------------------------------------


def _longer(taps, size):
    return np.concatenate([taps, np.zeros(size - np.size(taps))])


def _lfilter_zi(b, a):
    b, a = np.atleast_1d(np.asarray(b)), np.atleast_1d(np.asarray(a))
    a = a[int(np.argmax(a != 0.0)) :]
    size = max(np.size(b), np.size(a))
    over, under = _longer(b / a[0], size), _longer(a / a[0], size)
    matrix = np.eye(size - 1) - np.transpose(linalg.companion(under))
    return np.linalg.solve(matrix, over[1:] - under[1:] * over[0])


B, A = np.array([0.4, 0.3, -0.2]), np.array([1.5, -0.6, 0.2])
definition(
    signal.lfilter,
    lambda b, a, x, axis=-1, zi=None: signal.lfilter(b, a, x, axis),
    when=lambda given: "zi" in given and given["zi"] is None,
    cases=[case(B, A, sample(6), zi=None)],
)
definition(signal.lfilter_zi, _lfilter_zi, cases=[case(B, A), case(B[:2], A), case(B, 1.5)])


def _sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    sections = np.shape(sos)[0]
    taps = 2 * sections + 1 - min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0))
    edge = 0 if padtype is None else 3 * int(taps) if padlen is None else padlen
    n = np.shape(x)[axis]
    if n <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    rows = _extended(np.moveaxis(x, axis, -1), padtype, edge)
    for section in range(sections):
        rows = _in_steady_state(sos[section, :3], sos[section, 3:], rows)
    rows = np.flip(rows, -1)
    for section in range(sections):
        rows = _in_steady_state(sos[section, :3], sos[section, 3:], rows)
    return np.moveaxis(np.flip(rows, -1)[..., edge : edge + n], -1, axis)


SECTIONS = np.array([[0.4, 0.3, -0.2, 1.0, -0.4, 0.1], [1.0, 0.3, 0.2, 1.0, 0.2, -0.3]])
definition(
    signal.sosfiltfilt,
    _sosfiltfilt,
    cases=[case(SECTIONS, sample(18)), case(SECTIONS, sample(2, 9), padtype="even", padlen=4)],
)


def _decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    if ftype != "iir":
        raise NotImplementedError("another filter than the one of Chebyshev")
    sections = decimation_filter(q, n)
    rows = np.moveaxis(np.asarray(x), axis, -1)
    smooth = signal.sosfiltfilt(sections, rows) if zero_phase else signal.sosfilt(sections, rows)
    return np.moveaxis(smooth[..., ::q], -1, axis)


no_derivative(decimation_filter, typed=lambda arguments: (ir.Array(np.dtype(np.float64), ("any", "many")),))
definition(
    signal.decimate,
    _decimate,
    arrays=("x",),
    cases=[case(sample(40), 2), case(sample(2, 36), 3, zero_phase=False)],
)

# --- peaks ------------------------------------------------------------------------------------------------------------


def _find_peaks(
    x,
    height=None,
    threshold=None,
    distance=None,
    prominence=None,
    width=None,
    wlen=None,
    rel_height=0.5,
    plateau_size=None,
):
    if threshold is not None or width is not None or plateau_size is not None:
        raise NotImplementedError("thresholds, widths, or plateaus")
    peaks = peak_places(x, height, distance, prominence, wlen)
    found = {}
    if height is not None:
        found["peak_heights"] = x[peaks]
    if prominence is not None:
        bases = peak_bases(x, peaks, wlen)
        found["prominences"] = x[peaks] - np.maximum(x[bases[0]], x[bases[1]])
        found["left_bases"], found["right_bases"] = bases[0], bases[1]
    return peaks, found


def _peak_prominences(x, peaks, wlen=None):
    bases = peak_bases(x, peaks, wlen)
    return x[peaks] - np.maximum(x[bases[0]], x[bases[1]]), bases[0], bases[1]


no_derivative(peak_places, typed=lambda arguments: (ir.Array(np.dtype(np.int64), ("any",)),))
no_derivative(peak_bases, typed=lambda arguments: (ir.Array(np.dtype(np.int64), ("many", "any")),))
constant(signal.argrelextrema, signal.argrelmax, signal.argrelmin, signal.find_peaks_cwt)
WAVE = np.array([0.1, 0.7, 0.3, 0.9, -0.2, 0.4, 0.35, 1.2, 0.0])
definition(signal.find_peaks, _find_peaks, arrays=("x",), cases=[])
definition(signal.peak_prominences, _peak_prominences, arrays=("x",), cases=[case(WAVE, np.array([1, 3, 7]))])
