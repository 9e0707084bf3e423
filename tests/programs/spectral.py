"""Fourier transforms: solvers of differential equations, filters, power spectra."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(lambda rng: np.sin(np.arange(12.0)), 0.3, 0.01)
def burgers_equation(u, viscosity, step):
    """Integrating factor for the diffusion, the nonlinear term in space, the aliased third cut off."""
    n = u.size
    waves = np.fft.rfftfreq(n, 1.0 / n)
    decay = np.exp(-viscosity * waves**2 * step)
    kept = waves < n / 3
    spectrum = np.fft.rfft(u)
    for _ in range(3):
        inside = np.fft.irfft(spectrum, n)
        flux = 1j * waves * np.fft.rfft(0.5 * inside**2)
        spectrum = decay * (spectrum - step * np.where(kept, flux, 0.0))
    return np.sum(np.fft.irfft(spectrum, n) ** 4)


@program(normal(5, 6), 1.7, 0.9)
def screened_poisson_equation(source, width, depth):
    """In two dimensions, with an even and an odd number of points and periods that may vary."""
    kx = 2 * np.pi * np.fft.rfftfreq(source.shape[1], width / source.shape[1])
    ky = 2 * np.pi * np.fft.fftfreq(source.shape[0], depth / source.shape[0])
    symbol = 1.0 + kx**2 + ky[:, None] ** 2
    potential = np.fft.irfft2(np.fft.rfft2(source) / symbol, s=source.shape)
    return np.sum(potential * source) + np.max(potential)


@program(normal(2, 7), normal(3))
def convolution_through_spectra(signals, kernel):
    n = signals.shape[-1] + kernel.size - 1
    spectra = np.fft.rfft(signals, n) * np.fft.rfft(kernel, n)
    return np.fft.irfft(spectra, n)[:, 1:-1]


@program(normal(8), 1.4)
def low_pass_filter(signal, cutoff):
    frequencies = np.fft.fftshift(np.fft.fftfreq(signal.size, 0.5))
    response = 1 / (1 + (frequencies / cutoff) ** 4)
    filtered = np.fft.ifft(np.fft.ifftshift(np.fft.fftshift(np.fft.fft(signal)) * response))
    return np.sum(filtered.real**3)


@program(normal(10))
def spectral_entropy(signal):
    """Of a windowed signal that is padded with zeros."""
    windowed = (signal - np.mean(signal)) * np.hanning(signal.size)
    power = np.abs(np.fft.rfft(windowed, 16, norm="ortho")) ** 2
    share = power / np.sum(power)
    return -np.sum(share * np.log(share))


@program(normal(4, 4), normal(4, 4), 0.2)
def schroedinger_equation(real, imaginary, step):
    """Split steps: the potential in space, the kinetic energy among the waves."""
    wave = (real + 1j * imaginary) / np.sqrt(np.sum(real**2 + imaginary**2))
    k = np.fft.fftfreq(4, 0.25)
    kinetic = np.exp(-0.5j * step * (k[:, None] ** 2 + k**2))
    for _ in range(2):
        wave = wave * np.exp(-1j * step * np.abs(wave) ** 2)
        wave = np.fft.ifft2(kinetic * np.fft.fft2(wave))
    return np.sum(np.abs(wave) ** 4 * np.arange(4.0))


@program(normal(3, 4, 5))
def periodogram_of_a_volume(density):
    modes = np.fft.rfftn(density - density.mean(), axes=(0, 1, 2), norm="forward")
    power = np.real(modes * np.conj(modes))
    return np.sqrt(np.sum(power[1:], axis=(0, 1)))


@program(normal(6), normal(4))
def hermitian_spectra(samples, half):
    spectrum = np.fft.ihfft(samples)
    mixed = np.fft.hfft(spectrum * half + 1j * half, 7)
    return np.sum(mixed**3)


@program(normal(4, 6))
def transforms_along_axes(table):
    columns = np.fft.fft(table, axis=0, n=3)
    rows = np.fft.ifft(columns, axis=-1)
    whole = np.fft.ifftn(np.fft.fftn(rows, s=(2, 8), axes=(1, 0), norm="ortho"))
    return np.sum(np.real(whole) ** 3)
