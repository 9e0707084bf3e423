"""NumPy's polynomials."""

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(4), normal(3))
@program(lambda rng: rng.normal(size=4).astype(np.float32), lambda rng: rng.normal(size=3).astype(np.float32))
def values(p, x):
    return np.polyval(p, x) * np.polyval(p, x[0]), np.polyval([1, 2, 3], x), np.polyval([x[0], 2.0], p)


@program(normal(4), normal(3))
def values_of_series(c, x):
    return polynomial.polyval(x, c) * chebyshev.chebval(x[0], c), chebyshev.chebval(x, [1.0, c[0]])


@program(normal(4), normal(2))
def arithmetic(p, q):
    return np.polyadd(p, q) ** 2, np.polysub(q, p) ** 2, np.polymul(p, q) ** 2, np.polymul([0.0, 0.0, 1.0], q)


@program(normal(4), 0.7)
def derivatives_and_integrals(p, k):
    return np.polyder(p) ** 2, np.polyder(p, 2), np.polyint(p, k=k) ** 2, np.polyint(p, 2, [k, 1.0])


@program(normal(3))
def from_roots(x):
    return np.poly(x) ** 2, np.poly([x[0], 1.0])


@program(normal(6), normal(6), lambda rng: rng.uniform(0.5, 1.5, size=6))
def fits(x, y, w):
    line = np.polyfit(x, y, 1, w=w)
    return np.polyval(np.polyfit([0, 1, 2, 3, 4, 5], y, 2), x), line, np.polyfit(x, np.stack([y, w], 1), 2)


@program(normal(5), normal(5))
def fits_of_complex_numbers(x, y):
    return np.polyfit(x + 1j * y, y - 1j * x, 1).imag, np.polyfit(x, x + 1j * y, 2).real
