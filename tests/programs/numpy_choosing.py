"""NumPy functions that choose elements: by places, by conditions, by size."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(5), normal(3, 3))
def by_condition(a, m):
    return np.compress(a > 0, a) ** 2, a.compress(a < 0), m.compress([True, False, True], axis=1), np.extract(m > 0, m)


@program(normal(3), normal(3, 3))
def by_place(a, m):
    rows = np.choose(np.array([0, 2, 1]), m)
    mixed = np.choose(np.array([0, 1, 0]), [a[0], m])
    return rows**2, mixed**2, np.array([0, 5, 1]).choose([a, m[0]], mode="clip")


@program(normal(5))
@program(lambda rng: rng.normal(size=5).astype(np.float32))
def selected(a):
    return np.select([a < -0.3, a < 0.5], [a**2, a**3], a[0]) * np.select([a < 0], [a])


@program(normal(6))
def in_pieces(x):
    def cut(t, low, high=2.0):
        return np.clip(t, low, high) * x[0]

    y = np.piecewise(x, [x < 0, x >= 0], [lambda t: t * t, lambda t: t**3])
    z = np.piecewise(x, [x < 0, x > 0.5], [0.25, cut, -0.5], -0.5, high=1.0)
    return y * z + np.piecewise(x, x > 0, [np.exp, np.cos]), np.piecewise(x[0], [x[0] > 0], [np.sin, np.cos])


@program(normal(6), normal(3, 3))
def by_size(x, m):
    return np.partition(x, 2)[:3].sum() ** 2 + np.partition(x, 3)[3] * np.partition(m, 1, axis=0)[1]


@program(normal(6))
def counted_with_weights(x):
    bins = np.array([0, 1, 1, 0, 2, 2])
    return np.bincount(bins, weights=x) ** 2, np.bincount(bins, x, 5), np.bincount(bins) * x[0]
