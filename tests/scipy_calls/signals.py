"""Signals and systems."""

# ruff: noqa

import numpy as np
from scipy import signal

from scipy_calls.given import Corpus, S16, S32

corpus = Corpus(7)
call, normal, positive = corpus.call, corpus.normal, corpus.positive


@call(S16, normal(3))
def convolve(a, b):
    return signal.convolve(a, b, mode="same")


@call(S16, normal(3))
def fftconvolve(a, b):
    return signal.fftconvolve(a, b, mode="same")


@call(S16, normal(3))
def correlate(a, b):
    return signal.correlate(a, b)


@call(normal(3), np.array([1.0, 0.3, 0.1]), S16)
def lfilter(b, a, x):
    return signal.lfilter(b, a, x)


@call(normal(3), np.array([1.0, 0.3, 0.1]), S16, normal(2))
def lfilter_zi(b, a, x, z):
    return signal.lfilter(b, a, x, zi=z)[0]


@call(normal(3), np.array([1.0, 0.3, 0.1]), S32)
def filtfilt(b, a, x):
    return signal.filtfilt(b, a, x)


BA = signal.butter(3, 0.2)


SOS = signal.butter(4, 0.2, output="sos")


@call(S32)
def filtfilt_butter(x):
    return signal.filtfilt(*BA, x)


@call(S32)
def butter_inside(x):
    b, a = signal.butter(3, 0.2)
    return signal.lfilter(b, a, x)


@call(S32)
def sosfilt(x):
    return signal.sosfilt(SOS, x)


@call(S32)
def sosfiltfilt(x):
    return signal.sosfiltfilt(SOS, x)


@call(S32, 0.2)
def butter_wn(x, w):
    b, a = signal.butter(2, w)
    return signal.lfilter(b, a, x)


@call(S16)
def savgol(x):
    return signal.savgol_filter(x, 5, 2)


@call(S16)
def savgol_deriv(x):
    return signal.savgol_filter(x, 5, 2, deriv=1, mode="nearest")


@call(S16)
def medfilt(x):
    return signal.medfilt(x, 3)


@call(S16)
def wiener(x):
    return signal.wiener(x, 3)


@call(S16)
def detrend(x):
    return signal.detrend(x)


@call(S16)
def detrend_const(x):
    return signal.detrend(x, type="constant")


@call(S16)
def hilbert(x):
    return np.abs(signal.hilbert(x))


@call(S16)
def resample(x):
    return signal.resample(x, 10)


@call(S16)
def resample_poly(x):
    return signal.resample_poly(x, 3, 2)


@call(S32)
def decimate(x):
    return signal.decimate(x, 2)


@call(S16)
def upfirdn(x):
    return signal.upfirdn([0.2, 0.5, 0.2], x, up=2)


@call(S32)
def welch(x):
    return signal.welch(x, nperseg=16)[1]


@call(S32)
def periodogram(x):
    return signal.periodogram(x)[1]


@call(S32)
def spectrogram(x):
    return signal.spectrogram(x, nperseg=16)[2]


@call(S32)
def stft(x):
    return np.abs(signal.stft(x, nperseg=16)[2])


@call(S32)
def istft(x):
    z = signal.stft(x, nperseg=16)[2]
    return signal.istft(z * 2.0, nperseg=16)[1]


@call(S32, normal(32))
def csd(x, y):
    return np.abs(signal.csd(x, y, nperseg=16)[1])


@call(S32, normal(32))
def coherence(x, y):
    return signal.coherence(x, y, nperseg=16)[1]


@call(S16, 3.0)
def lombscargle(x, w):
    return signal.lombscargle(np.arange(16.0) * 0.3, x, np.array([w, 2 * w]))


@call(S16)
def find_peaks(x):
    return np.sum(x[signal.find_peaks(x)[0]])


@call(S16)
def peak_prominences(x):
    return signal.peak_prominences(x, signal.find_peaks(x)[0])[0]


@call(normal(3), np.array([1.0, 0.3, 0.1]))
def freqz(b, a):
    return np.abs(signal.freqz(b, a, worN=8)[1])


@call(normal(3), np.array([1.0, 0.3, 0.1]))
def freqs(b, a):
    return np.abs(signal.freqs(b, a, worN=np.array([0.1, 1.0]))[1])


@call(np.array([0.3, 0.2]))
def chirp(f):
    return signal.chirp(np.arange(5.0) * 0.1, f[0], 1.0, f[1])


@call(np.arange(5.0) * 0.7 + 0.1)
def sawtooth(t):
    return signal.sawtooth(t)


@call(2.0)
def windows_gaussian(s):
    return signal.windows.gaussian(8, s)


@call(4.0)
def windows_kaiser(b):
    return signal.windows.kaiser(8, b)


@call(0.3)
def windows_tukey(b):
    return signal.windows.tukey(8, b)


@call(0.3)
def firwin(f):
    return signal.firwin(7, f)


@call(S16)
def cwt_like(x):
    return signal.convolve(x, signal.windows.gaussian(5, 1.0), mode="same")


@call(S16)
def cspline1d(x):
    return signal.cspline1d(x)


@call(normal(3), np.array([1.0, 0.3, 0.1]))
def tf2ss(b, a):
    return signal.tf2ss(b, a)[0]


@call(normal(3), np.array([1.0, 0.3, 0.1]))
def tf2zpk(b, a):
    return np.abs(signal.tf2zpk(b, a)[1])


@call(np.array([0.3, 0.2]), np.array([0.5, -0.4]), 1.2)
def zpk2tf(z, p, k):
    return signal.zpk2tf(z, p, k)[1]


@call(0.1 * normal(2, 2), normal(2, 1), normal(1, 2))
def cont2discrete(a, b, c):
    return signal.cont2discrete((a, b, c, np.zeros((1, 1))), 0.1)[0]


@call(0.1 * normal(2, 2) - np.eye(2), normal(2, 1), normal(1, 2))
def lsim(a, b, c):
    return signal.lsim((a, b, c, np.zeros((1, 1))), np.ones(5), np.arange(5.0) * 0.1)[1]


@call(np.array([1.0, 0.3]))
def step_resp(a):
    return signal.step(([1.0], [1.0, a[0], a[1]]), T=np.linspace(0, 2, 5))[1]


@call(0.1 * normal(2, 2), normal(2, 1), normal(1, 2))
def dlsim(a, b, c):
    return signal.dlsim((a, b, c, np.zeros((1, 1)), 1.0), np.ones(5))[1]


@call(np.array([1.0, 0.3]))
def bode(a):
    return signal.bode(([1.0], [1.0, a[0], a[1]]), w=np.array([0.1, 1.0]))[1]


@call(normal(5, 6), normal(3, 2))
def convolve2d(a, b):
    return signal.convolve2d(a, b, mode="same")


@call(normal(5, 6), normal(3, 2))
def convolve2d_symm(a, b):
    return signal.convolve2d(a, b, mode="same", boundary="symm")


@call(normal(5, 6), normal(3, 3))
def correlate2d(a, b):
    return signal.correlate2d(a, b, mode="same")


@call(normal(5, 6))
def medfilt2d(a):
    return signal.medfilt2d(a, 3)


@call(S32)
def unit_impulse(x):
    return x * signal.unit_impulse(32, 3)


@call(S16)
def hilbert_phase(x):
    return np.unwrap(np.angle(signal.hilbert(x)))


@call(S16)
def czt(x):
    return np.abs(signal.czt(x, 8))


@call(S16, normal(3))
def deconvolve(a, b):
    return signal.deconvolve(a, b + np.array([2.0, 0, 0]))[0]


@call(S32, 0.1)
def lfilter_alpha(x, alpha):
    return signal.lfilter([alpha], [1, alpha - 1], x)


@call(S32)
def iirnotch(x):
    b, a = signal.iirnotch(0.2, 30)
    return signal.lfilter(b, a, x)
