"""Methods of NumPy's element-wise functions: reductions, running results, tables."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(3, 4))
def reductions(m):
    return np.add.reduce(m) * np.multiply.reduce(m, axis=0) + np.maximum.reduce(m, 1).sum() * np.minimum.reduce(m)


@program(lambda rng: rng.normal(size=(3, 4)).astype(np.float32))
def reductions_in_single_precision(m):
    return np.add.reduce(m), np.multiply.reduce(m, axis=0), np.maximum.reduce(m, 1), np.logaddexp.reduce(m)


@program(normal(3, 4))
def reductions_over_several_axes(m):
    total = np.add.reduce(m, axis=None, keepdims=True) + np.multiply.reduce(m, axis=(0, -1), keepdims=True)
    return np.logaddexp.reduce(total * m, axis=-1)


@program(normal(3, 4))
def reductions_with_a_start(m):
    return np.add.reduce(m, initial=m[0, 0]) + np.maximum.reduce(m, axis=0, initial=m[1, 1]) ** 2


@program(normal(3, 4))
def reductions_of_some(m):
    return np.add.reduce(m, axis=1, where=m > 0.1) ** 2 + np.multiply.reduce(m, axis=1, where=m > 0.1)


@program(lambda rng: [1.0, 2.0, -0.5])
def reduction_of_a_list(items):
    return np.add.reduce(items) ** 2 + np.maximum.reduce([items[0] ** 2, items[1]])


@program(normal(3, 4))
def running(m):
    return np.maximum.accumulate(m, axis=1) * np.minimum.accumulate(m) + np.add.accumulate(np.multiply.accumulate(m))


@program(normal(3), normal(2, 2))
def tables(a, b):
    sums = np.add.outer(a, b) * np.multiply.outer(a, b) + np.subtract.outer(b, a).T.sum()
    return np.divide.outer(sums, 2.0 + b**2) + np.maximum.outer(a[0], a[1])


@program(normal(6))
def segments(x):
    return np.add.reduceat(x, [0, 2, 4]) ** 2 * np.add.reduceat(x, np.array([3, 1, 5]))


@program(normal(3, 4), normal(5))
def running_log_sums(m, x):
    return np.logaddexp.accumulate(m), np.logaddexp.accumulate(m, axis=1), np.logaddexp.accumulate(x)
