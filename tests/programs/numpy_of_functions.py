"""Functions of numbers and rows made functions of arrays; NumPy's polynomial objects."""

import math

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


QUADRATIC = np.poly1d([1.0, -2.0, 0.5])
FITTED = np.polynomial.Polynomial.fit([0.0, 1.0, 2.0, 4.0], [1.0, 0.0, 2.0, 5.0], 2)
WAVES = np.polynomial.Chebyshev([0.3, 1.0, -0.2])


@np.vectorize
def softened(t, s):
    return t * t * s if t > 0.1 else math.sin(t) * s


CUT = np.vectorize(lambda t: t * t if t > 0.1 else 0, otypes=[float])


@program(normal(3), normal(2, 3))
def made_for_arrays(x, m):
    scaled = np.vectorize(lambda t: math.exp(t) * m[0, 0])
    return softened(x, m) * scaled(m), CUT(m) ** 2, np.vectorize(math.sin)(x[0]) * x


@program(normal(3), normal(2, 3, 2))
def along_an_axis(x, a):
    def outer(row, factor):
        return np.outer(row, row) * factor

    lines = np.apply_along_axis(lambda row: row * row[0], 1, a)
    return lines**2, np.apply_along_axis(outer, 0, x, x[1]), np.apply_along_axis(lambda row: row.max() ** 2, -1, a)


@program(normal(4))
def of_iterators(x):
    return np.fromiter((v * v for v in x), float) ** 2, np.fromiter([v * x[0] for v in x], dtype=np.float64)


@program(normal(3), 0.4)
def polynomial_objects(c, t):
    known = QUADRATIC(t) * FITTED(c) * WAVES(c[0])
    return known, np.polynomial.Polynomial(c)(t) ** 2, np.poly1d(c)(c), np.polynomial.Legendre([c[0], 1.0])(t)
