"""Densities that are estimated from samples: ``gaussian_kde``, by its samples, weights, bandwidth and places."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import linalg, special, stats

from adjoint.rules.declare import definition


def _distances(dataset, covariance, points):
    """Squares of distances in units of the covariance, and the factor of a kernel."""
    d = np.shape(dataset)[0]
    x = np.atleast_2d(points)
    if np.shape(x)[0] == 1 and d != 1 and np.shape(x)[1] == d:
        x = np.reshape(x, (d, 1))
    root = np.linalg.cholesky(covariance)
    known = linalg.solve_triangular(root, dataset, lower=True)
    asked = linalg.solve_triangular(root, x, lower=True)
    squares = np.sum((asked[:, :, None] - known[:, None, :]) ** 2, axis=0)
    return squares, (2.0 * np.pi) ** (-0.5 * d) / np.prod(np.diagonal(root))


def _value(self, points):
    squares, factor = _distances(self.dataset, self.covariance, points)
    return factor * (np.exp(-0.5 * squares) @ self._weights)


def _log_value(self, x):
    squares, factor = _distances(self.dataset, self.covariance, x)
    return np.log(factor) + special.logsumexp(-0.5 * squares, b=self._weights, axis=1)


def _of_interval(self, low, high):
    spread = np.sqrt(self.covariance[0, 0])
    parts = special.ndtr((high - self.dataset[0]) / spread) - special.ndtr((low - self.dataset[0]) / spread)
    return np.sum(self._weights * parts)


class Estimate:
    """A density made of samples that vary."""

    def __init__(self, dataset, bw_method=None, weights=None):
        self.dataset = np.atleast_2d(np.asarray(dataset) * 1.0)
        d, n = np.shape(self.dataset)
        shares = np.full(n, 1.0 / n) if weights is None else np.asarray(weights) / np.sum(weights)
        self._weights, self.d, self.n = shares, d, n
        self.neff = 1.0 / np.sum(shares**2)
        if bw_method is None or bw_method == "scott":
            self.factor = self.neff ** (-1.0 / (d + 4))
        elif bw_method == "silverman":
            self.factor = (self.neff * (d + 2.0) / 4.0) ** (-1.0 / (d + 4))
        elif callable(bw_method) or isinstance(bw_method, str):
            raise NotImplementedError("a function for the bandwidth")
        else:
            self.factor = bw_method
        centred = self.dataset - np.sum(self.dataset * shares, axis=1, keepdims=True)
        spread = (centred * shares) @ np.transpose(centred) / (1.0 - np.sum(shares**2))
        self.covariance = spread * self.factor**2

    def evaluate(self, points):
        return _value(self, points)

    def __call__(self, points):
        return _value(self, points)

    def pdf(self, x):
        return _value(self, x)

    def logpdf(self, x):
        return _log_value(self, x)

    def integrate_box_1d(self, low, high):
        return _of_interval(self, low, high)


definition(stats.gaussian_kde, Estimate, arrays=())
definition(stats.gaussian_kde.evaluate, _value, arrays=())
definition(stats.gaussian_kde.__call__, _value, arrays=())
definition(stats.gaussian_kde.pdf, lambda self, x: _value(self, x), arrays=())
definition(stats.gaussian_kde.logpdf, _log_value, arrays=())
definition(stats.gaussian_kde.integrate_box_1d, _of_interval, arrays=())
