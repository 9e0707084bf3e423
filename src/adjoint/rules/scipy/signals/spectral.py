"""Definitions of the spectra of ``scipy.signal``: Fourier transforms of windowed segments, and averages of them.

Of real signals; complex ones are left to SciPy, whose functions are not looked into.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import inspect

import numpy as np
from scipy import signal

from adjoint.rules.declare import case, definition, linear, no_derivative, sample
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.numerical_methods.of_scipy.signal import window_and_length

PERIODIC = inspect.signature(signal.welch).parameters["window"].default
TAPERED = inspect.signature(signal.spectrogram).parameters["window"].default


def _segments(x, window, nperseg, noverlap, nfft, detrend):
    """The spectra of the segments of a signal along its last axis, the window, and how they are laid out."""
    win, length = window_and_length(window, nperseg, np.shape(x)[-1])
    overlap = length // 2 if noverlap is None else noverlap
    size = length if nfft is None else nfft
    if overlap >= length:
        raise ValueError("noverlap must be less than nperseg.")
    if size < length:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    pieces = np.lib.stride_tricks.sliding_window_view(x, length, axis=-1)[..., :: length - overlap, :]
    return win, overlap, size, win * _without_trend(pieces, detrend)


def _without_trend(pieces, detrend):
    if not detrend:
        return pieces
    if detrend == "constant":
        return pieces - np.mean(pieces, axis=-1, keepdims=True)
    if detrend == "linear":
        return signal.detrend(pieces, type="linear")
    raise NotImplementedError("a function that takes the trend away")


def _spectrum(pieces, size, return_onesided):
    return np.fft.rfft(pieces, size) if return_onesided else np.fft.fft(pieces, size)


def _frequencies(size, fs, return_onesided):
    return np.fft.rfftfreq(size, 1 / fs) if return_onesided else np.fft.fftfreq(size, 1 / fs)


def _scale(win, fs, scaling):
    if scaling == "density":
        return 1.0 / (fs * np.sum(win * win))
    if scaling == "spectrum":
        return 1.0 / np.sum(win) ** 2
    raise ValueError(f"Unknown scaling: {scaling!r}")


def _folded(power, size, return_onesided):
    """The power of both signs of each frequency, where one is given."""
    if not return_onesided:
        return power
    both = np.full(np.shape(power)[-1], 2.0)
    both[0] = 1.0
    if size % 2 == 0:
        both[-1] = 1.0
    return power * both


def _lengthened(x, extent):
    return np.concatenate([x, np.zeros((*np.shape(x)[:-1], extent - np.shape(x)[-1]))], axis=-1)


def _averaged(power, average):
    """The average over segments; a median of the real and the imaginary parts, for which SciPy corrects its bias."""
    if average == "mean":
        return np.mean(power, axis=-2)
    if average != "median":
        raise ValueError(f"Parameter average={average!r} must be 'median' or 'mean'!")
    count = np.shape(power)[-2]
    even = 2.0 * np.arange(1, (count - 1) // 2 + 1)
    bias = 1.0 + np.sum(1.0 / (even + 1.0) - 1.0 / even)
    if count == 1:
        return power[..., 0, :]
    if np.iscomplexobj(power):
        return (np.median(np.real(power), axis=-2) + 1j * np.median(np.imag(power), axis=-2)) / bias
    return np.median(power, axis=-2) / bias


def _csd(
    x,
    y,
    fs=1.0,
    window=PERIODIC,
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    extent = max(np.shape(x)[axis], np.shape(y)[axis])
    given = (window, nperseg, noverlap, nfft, detrend)
    win, _, size, first = _segments(_lengthened(np.moveaxis(x, axis, -1), extent), *given)
    _, _, _, second = _segments(_lengthened(np.moveaxis(y, axis, -1), extent), *given)
    crossed = np.conj(_spectrum(first, size, return_onesided)) * _spectrum(second, size, return_onesided)
    power = _averaged(_folded(crossed, size, return_onesided), average) * _scale(win, fs, scaling)
    return _frequencies(size, fs, return_onesided), np.moveaxis(power, -1, axis)


def _real_part(values):
    """Values that lie as SciPy's do: as real parts of complex numbers, of which `ravel` is a copy."""
    return np.real(values.copy() + 0j)


def _welch(
    x,
    fs=1.0,
    window=PERIODIC,
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    moved = np.moveaxis(x, axis, -1)
    win, _, size, pieces = _segments(moved, window, nperseg, noverlap, nfft, detrend)
    found = _spectrum(pieces, size, return_onesided)
    squares = np.real(np.conj(found) * found)
    power = _averaged(_folded(squares, size, return_onesided), average) * _scale(win, fs, scaling)
    return _frequencies(size, fs, return_onesided), np.moveaxis(_real_part(power), -1, axis)


def _periodogram(
    x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1
):
    moved = np.moveaxis(x, axis, -1)
    length = np.shape(moved)[-1] if nfft is None else min(nfft, np.shape(moved)[-1])
    given = (window, length, 0, nfft, detrend, return_onesided, scaling)
    frequencies, power = _welch(moved[..., :length], fs, *given)
    return frequencies, np.moveaxis(power, -1, axis)


def _coherence(x, y, fs=1.0, window=PERIODIC, nperseg=None, noverlap=None, nfft=None, detrend="constant", axis=-1):
    given = (fs, window, nperseg, noverlap, nfft, detrend)
    frequencies, first = _welch(x, *given, axis=axis)
    _, second = _welch(y, *given, axis=axis)
    _, crossed = _csd(x, y, *given, axis=axis)
    return frequencies, np.abs(crossed) ** 2 / first / second


def _spectrogram(
    x,
    fs=1.0,
    window=TAPERED,
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    mode="psd",
):
    win, length = window_and_length(window, nperseg, np.shape(x)[axis])
    overlap = length // 8 if noverlap is None else noverlap
    moved = np.moveaxis(x, axis, -1)
    _, _, size, pieces = _segments(moved, window, nperseg, overlap, nfft, detrend)
    found = _spectrum(pieces, size, return_onesided)
    if mode == "psd":
        power = np.real(np.conj(found) * found)
        values = _real_part(_folded(power, size, return_onesided) * _scale(win, fs, scaling))
    elif mode == "magnitude":
        values = (np.abs(found) * np.sqrt(_scale(win, fs, scaling))).copy()
    elif mode == "complex":
        values = (found * np.sqrt(_scale(win, fs, scaling))).copy()
    else:
        raise NotImplementedError("angles and phases")
    times = np.arange(length / 2, np.shape(moved)[-1] - length / 2 + 1, length - overlap) / fs
    return _frequencies(size, fs, return_onesided), times, np.moveaxis(values, -1, axis - 1 if axis < 0 else axis)


def _stft(
    x,
    fs=1.0,
    window=PERIODIC,
    nperseg=256,
    noverlap=None,
    nfft=None,
    detrend=False,
    return_onesided=True,
    boundary="zeros",
    padded=True,
    axis=-1,
    scaling="spectrum",
):
    if boundary is not None and boundary != "zeros":
        raise NotImplementedError("a boundary that goes on as the signal does")
    moved = np.moveaxis(x, axis, -1)
    win, length = window_and_length(window, nperseg, np.shape(moved)[-1])
    step = length - (length // 2 if noverlap is None else noverlap)
    edge = 0 if boundary is None else length // 2
    extent = np.shape(moved)[-1] + 2 * edge
    rest = (-(extent - length) % step) % length if padded else 0
    around = np.zeros((*np.shape(moved)[:-1], edge)), np.zeros((*np.shape(moved)[:-1], edge + rest))
    whole = np.concatenate([around[0], moved, around[1]], axis=-1)
    _, _, size, pieces = _segments(whole, window, length, noverlap, nfft, detrend)
    values = _spectrum(pieces, size, return_onesided) * np.sqrt(_scale(win, fs, _of_stft(scaling)))
    times = np.arange(length / 2, extent + rest - length / 2 + 1, step) / fs
    if boundary is not None:
        times = times - (length / 2) / fs
    return _frequencies(size, fs, return_onesided), times, np.moveaxis(values, -1, axis - 1 if axis < 0 else axis)


def _of_stft(scaling):
    return "density" if scaling == "psd" else scaling


def _istft(
    Zxx,
    fs=1.0,
    window=PERIODIC,
    nperseg=None,
    noverlap=None,
    nfft=None,
    input_onesided=True,
    boundary=True,
    time_axis=-1,
    freq_axis=-2,
    scaling="spectrum",
):
    if time_axis != -1 or freq_axis != -2 or not input_onesided:
        raise NotImplementedError("other axes, or two sides")
    default = 2 * (np.shape(Zxx)[-2] - 1)
    length = default if nperseg is None else nperseg
    size = nfft if nfft is not None else length if length == default + 1 else default
    step = length - (length // 2 if noverlap is None else noverlap)
    win = window_and_length(window, length, length)[0]
    pieces = np.fft.irfft(Zxx, size, axis=-2)[..., :length, :] / np.sqrt(_scale(win, fs, _of_stft(scaling)))
    count = np.shape(Zxx)[-1]
    extent = length + (count - 1) * step
    x, norm = np.zeros((*np.shape(Zxx)[:-2], extent)), np.zeros(extent)
    for i in range(count):
        x[..., i * step : i * step + length] += pieces[..., i] * win
        norm[i * step : i * step + length] += win**2
    if boundary:
        x, norm = x[..., length // 2 : extent - length // 2], norm[length // 2 : extent - length // 2]
    x = x / np.where(norm > 1e-10, norm, 1.0)
    return np.arange(np.shape(x)[-1]) / fs, x


LONG, ROWS = sample(40), sample(2, 24)
definition(
    signal.welch,
    _welch,
    arrays=("x",),
    cases=[
        case(LONG, 2.0, nperseg=16),
        case(ROWS, nperseg=9, noverlap=3, nfft=12, scaling="spectrum", detrend=False),
        case(LONG, nperseg=8, average="median"),
    ],
)
definition(
    signal.csd,
    _csd,
    arrays=("x", "y"),
    cases=[
        case(LONG, LONG, nperseg=16),
        case(sample(30), LONG, nperseg=9),
        case(LONG, LONG, nperseg=8, average="median"),
    ],
)
definition(
    signal.periodogram,
    _periodogram,
    arrays=("x",),
    cases=[case(sample(12)), case(sample(9, 2), 2.0, "hann", axis=0, detrend="linear"), case(sample(9), nfft=6)],
)
definition(signal.coherence, _coherence, arrays=("x", "y"), cases=[case(LONG, LONG, nperseg=12, detrend=False)])
definition(
    signal.spectrogram,
    _spectrogram,
    arrays=("x",),
    cases=[case(LONG, nperseg=16), case(sample(24, 2), nperseg=8, axis=0, mode="complex", noverlap=4)],
)
definition(
    signal.stft,
    _stft,
    arrays=("x",),
    cases=[case(LONG, nperseg=16), case(ROWS, nperseg=9, boundary=None, padded=False, scaling="psd")],
)
definition(signal.istft, _istft, arrays=("Zxx",), cases=[case(sample(9, 5, kind="complex"), nperseg=16)])
no_derivative(window_and_length)


# --- parts of spirals in the plane of numbers -------------------------------------------------------------------------


def _czt_transpose(ct, x, m=None, w=None, a=1 + 0j, *, axis=-1):
    """The sums over ``k`` of ``ct[k] * a**-j * w**(j*k)``: of places of the signal in place of those of the result."""
    n, count = np.shape(x)[axis], np.shape(ct)[axis]
    turn = np.exp(-2j * np.pi / count) if w is None else w
    found = np.moveaxis(signal.czt(ct, n, turn, axis=axis), axis, -1)
    return unbroadcast(np.moveaxis(found * (1.0 * a) ** -np.arange(n), -1, axis), x)


linear(
    signal.czt,
    _czt_transpose,
    wrt=(0,),
    fixed=(2, 3),
    always_array=True,
    cases=[
        case(sample(6)),
        case(sample(6), 4),
        case(sample(5, 2), 8, np.exp(-0.3j), 0.9 + 0.1j, axis=0),
        case(sample(4, kind="complex")),
    ],
)


def _zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    first, last = (0.0, fn) if np.ndim(fn) == 0 else (fn[0], fn[1])
    count = np.shape(x)[axis] if m is None else m
    step = (last - first) / fs * (count / (count - 1) if endpoint else 1.0)
    return signal.czt(x, count, np.exp(-2j * np.pi / count * step), np.exp(2j * np.pi * first / fs), axis=axis)


definition(
    signal.zoom_fft,
    _zoom_fft,
    arrays=("x",),
    cases=[case(sample(6), [0.2, 0.9]), case(sample(5, 2), 0.7, 4, fs=3.0, endpoint=True, axis=0)],
)
