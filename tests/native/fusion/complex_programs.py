"""Array programs with complex elements; they are among `PROGRAMS`."""

import numpy as np

from native.fusion.programs import PROGRAMS, takes

__all__ = ["PROGRAMS"]


@takes("i", "i")
def waves(x, y):
    z = np.exp(1j * x) + 0.5j * y
    return np.sum(np.abs(z * np.conj(z) - 2.0) ** 2) + np.sum((z * z).imag)


@takes("ij", "j")
def resonances(x, w):
    h = 1.0 / (w**2 - x**2 + 4.0 + 0.3j * x)
    return np.sum((h * np.conj(h)).real) + np.sum(np.angle(h) * x)


@takes("ij", "ij")
def parts_of_powers(x, y):
    z = x + 1j * y
    return np.sum(np.real(z) * z.imag) + np.sum(np.imag(z**2) + (z**3).real)


@takes("i", "")
def iterated(x, c):
    z = 0.1 * x * (1.0 + 1.0j)
    for _ in range(3):
        z = z * z + 0.1j * c
    return np.sum(z.real**2 + z.imag)


@takes("ij", "ij")
def in_places(x, y):
    out = np.zeros(x.shape, dtype=complex)
    out[:, :] = x + 2j
    out[1:] += y[:-1] * 1j
    out[0] *= 2.0
    total = out - np.mean(out, axis=0)
    return np.sum(total * np.conj(total)).real


@takes("ij", "j")
def sums_of_rows(x, b):
    z = x * np.exp(-1j * b)
    rows = np.sum(z, axis=1, keepdims=True)
    return np.sum(np.abs(z - rows)) + np.sum((np.sum(z, axis=0) * b).imag) + np.sum(rows).real


@takes("i", "i")
def chosen_numbers(x, y):
    z = x - 1j * y
    z = np.where(np.abs(z) > 1.0, z, 2j * z)
    z = np.where((z == 0) | ~np.isfinite(z), 1.0, z)
    return np.sum(np.sqrt(z).real) + np.sum((np.log(z) * np.conj(z)).imag)


@takes("i", "i")
def split_step(a, p):
    psi = p.astype(complex)
    for _ in range(2):
        psi = psi * np.exp(-1j * a * np.abs(psi) ** 2)
        psi = 0.5 * (np.roll(psi, 1) + np.roll(psi, -1)) + 0.25j * psi
    return np.sum(np.abs(psi) ** 2 * a)


@takes("i", "i")
def made_of_parts(x, y):
    z = np.outer(x + 1j, y - 1j)
    w = np.ones_like(z) + z / (2.0 + 1j)
    return np.sum(w.real * z.imag) + np.sum(np.copy(w).imag)


@takes("i", "j")
def parts_that_are_kept(x, y):
    z = np.tanh(x)[:, None] * (1.0 + 1j * y)
    real, imaginary = z.real, np.imag(z)
    total = 0.0
    for i in range(len(x)):
        total += np.sum(real[i] * imaginary[i] ** 2)
    return total


@takes("i", "i")
def written_through_a_part(x, y):
    z = x + 1j * y
    part = z.real
    part *= 2.0
    z.imag[:] = y * y
    return np.sum(np.abs(z) ** 2) + np.sum(part)
