"""NumPy reductions: all, by axis, kept dimensions, scans."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(3, 4))
def sums(m):
    return np.sum(m) ** 2 + m.sum() * np.sum(m[0])


@program(normal(3, 4))
def sum_axis(m):
    return np.sum(m, axis=0) * np.sum(np.sum(m, axis=1))


@program(normal(3, 4))
def sum_negative_axis(m):
    return m / (2.0 + np.sum(m, axis=-1, keepdims=True) ** 2)


@program(normal(2, 3, 4))
def sum_axes(m):
    return np.sum(m, axis=(0, 2)) ** 2


@program(normal(3, 4))
def mean(m):
    return np.mean(m) * np.mean(m, axis=0) + m.mean(axis=1, keepdims=True)


@program(normal(3, 4))
def variance_and_deviation(m):
    return np.var(m) + np.std(m, axis=0) * np.var(m, axis=1, ddof=1).sum()


@program(normal(3, 3))
def product(m):
    return np.prod(m, axis=0) + np.prod(m)


@program(np.array([[2.0, 0.0, 3.0], [1.0, 4.0, 5.0]]))
def product_with_zero(m):
    return np.prod(m, axis=1)


@program(normal(3, 4))
def max_min(m):
    return np.max(m) * np.min(m, axis=0) + m.max(axis=1, keepdims=True)


@program(normal(5))
def cumulative_sum(x):
    return np.cumsum(x) ** 2


@program(normal(2, 3))
def cumulative_sum_axis(m):
    return np.cumsum(m, axis=1) * m


@program(lambda rng: rng.uniform(0.5, 2.0, size=5))
def cumulative_product(x):
    return np.cumprod(x)


@program(normal(3, 4))
def log_sum_exp(m):
    top = np.max(m, axis=1, keepdims=True)
    return np.log(np.sum(np.exp(m - top), axis=1)) + top[:, 0]


@program(normal(3, 4))
def softmax(m):
    e = np.exp(m - np.max(m, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@program(normal(4, 3), np.array([0, 2, 1, 1]))
def cross_entropy(logits, labels):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_probabilities = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_probabilities[np.arange(4), labels])


@program(normal(4))
def norm(x):
    return np.linalg.norm(x) * np.sqrt(np.sum(x * x))


@program(normal(4, 2), normal(4))
def least_squares_loss(a, b):
    x = np.array([0.5, -1.0])
    r = a @ x - b
    return 0.5 * np.mean(r**2)


@program(normal(5))
def differences(x):
    return np.sum(np.diff(x) ** 2) + np.sum(np.diff(x, n=2))


@program(normal(4, 3))
def layer_norm(m):
    centred = m - m.mean(axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + 1e-3)


@program(normal(5))
def argmax_is_inactive(x):
    return x[np.argmax(x)] * x[np.argmin(x)]


@program(normal(3, 4))
def count_is_inactive(m):
    return np.sum(m * m) / m.size + np.sum(m) * m.shape[1] * m.ndim + np.count_nonzero(m > 0) * m[0, 0]


@program(normal(6))
def sorted_array(x):
    return np.sort(x) * np.arange(6.0)


@program(normal(5), normal(5))
def trapezoid_rule(x, y):
    return np.sum(0.5 * (y[1:] + y[:-1]) * (x[1:] - x[:-1]))


@program(normal(5))
def average_with_weights(x):
    w = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    return np.average(x * x, weights=w)


@program([[0.5, -1.5, 2.0], [1.0, 0.2, -0.3]])
def reductions_with_their_defaults_written(rows):
    means = np.mean(rows, 0, np.float64, None, False) * np.prod(np.sign(rows))
    return np.sum(np.sort(np.cumsum(means, 0, None, None), -1, "stable") ** 2) * np.max(rows, None, None, False)
