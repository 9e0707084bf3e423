"""NumPy's differences and sums along a line, grids of numbers, angles, correlations."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def single(*shape):
    return lambda rng: rng.normal(size=shape).astype(np.float32)


@program(normal(5), normal(4, 3), 0.3)
@program(single(5), single(4, 3), 0.3)
def slopes(x, m, h):
    down, across = np.gradient(m, h, 2.0)
    edges = np.gradient(m, h, axis=(1, 0), edge_order=2)
    return down * across + edges[0], np.gradient(x) * np.gradient(x, h, edge_order=2), np.gradient(m, axis=-1)


@program(normal(5), lambda rng: np.cumsum(rng.uniform(0.5, 1.5, size=5)))
def slopes_at_coordinates(y, x):
    return np.gradient(y, x) * np.gradient(y, x, edge_order=2), np.gradient([1, 3, 7, 2, 0], x)


@program(normal(5), normal(4, 3), normal(4))
def areas(y, m, x):
    rows = np.trapezoid(m, x, axis=0) * np.trapezoid(m, np.outer(x, x[:3]), axis=-2)
    return np.trapezoid(y, dx=x[0]) ** 2 * rows, np.trapezoid(m)


@program(normal(6), 5.0)
def angles(x, period):
    turned = np.unwrap(9 * x) * np.unwrap(9 * x, period=period)
    return turned, np.angle(x + 1j * x**2, deg=True) * np.angle(x)


@program(0.4, 2.0, normal(3))
def grids(a, b, x):
    powers = np.logspace(a, b, 4) + np.logspace(a, 2, num=4, endpoint=False, base=b)
    return np.geomspace(a, b, 5), powers, np.geomspace(1 + x**2, b, 3), np.geomspace(-a, -5, 3)


@program(normal(5), normal(3))
def correlations(x, y):
    full = np.correlate(x, y, "full") ** 2
    return full, np.correlate(y, x, "same") * np.correlate(x, y, "same"), np.correlate(y, x), np.correlate(x, x)[0]


@program(normal(4))
@program(single(4))
def bessel(x):
    return np.i0(x) * x + np.i0(x[0])


@program(normal(3, 4))
def running(m):
    sums = np.cumulative_sum(m, axis=0, include_initial=True)
    return sums[1:] * np.cumulative_prod(m, axis=1), np.cumulative_prod(m[0], include_initial=True) ** 2
