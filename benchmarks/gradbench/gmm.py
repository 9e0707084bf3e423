"""The log-likelihood of a mixture of Gaussians, with a Wishart prior on their inverse covariances.

A Gaussian has a weight, a mean, and a lower triangular matrix: its diagonal is ``exp(q)``, what is below is ``l``,
column by column.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def objective(alpha, mu, q, l, x, gamma, m):
    """The logarithm of the posterior."""
    n, d = x.shape
    diagonal = np.exp(q)
    likelihood = 0.0
    for i in range(n):
        likelihood += log_sum_exp(log_densities(alpha, mu, q, l, diagonal, x[i]))
    likelihood -= n * log_sum_exp(alpha)
    return likelihood - 0.5 * n * d * math.log(2.0 * math.pi) + log_prior(q, l, diagonal, gamma, m)


def log_densities(alpha, mu, q, l, diagonal, point):
    """For each Gaussian the logarithm of its density at a point times its weight, up to constants."""
    k, d = mu.shape
    found = np.empty(k)
    scaled = np.empty(d)
    for c in range(k):
        for j in range(d):
            scaled[j] = diagonal[c, j] * (point[j] - mu[c, j])
        at = 0
        for column in range(d):
            centred = point[column] - mu[c, column]
            for row in range(column + 1, d):
                scaled[row] += l[c, at] * centred
                at += 1
        logarithm = alpha[c]
        for j in range(d):
            logarithm += q[c, j] - 0.5 * scaled[j] * scaled[j]
        found[c] = logarithm
    return found


def log_sum_exp(values):
    """The logarithm of the sum of exponentials."""
    largest = -math.inf
    for value in values:
        largest = max(largest, value)
    total = 0.0
    for value in values:
        total += math.exp(value - largest)
    return largest + math.log(total)


def log_prior(q, l, diagonal, gamma, m):
    """The logarithm of the prior's density."""
    k, d = q.shape
    freedom = d + m + 1
    normalizer = freedom * d * math.log(gamma / math.sqrt(2.0)) - log_gamma(0.5 * freedom, d)
    return k * normalizer - 0.5 * gamma * gamma * (np.sum(diagonal * diagonal) + np.sum(l * l)) + m * np.sum(q)


def log_gamma(a, d):
    """The logarithm of the gamma function of ``d`` variables."""
    total = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        total += math.lgamma(a - 0.5 * j)
    return total


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments of the objective."""
    d, k = given["d"], given["k"]
    alpha, mu, q, x = (np.asarray(given[name], dtype=float) for name in ("alpha", "mu", "q", "x"))
    l = np.asarray(given["l"], dtype=float).reshape(k, d * (d - 1) // 2)
    return alpha, mu, q, l, x, float(given["gamma"]), int(given["m"])


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {
        "objective": Function(prepare, build.program(objective)),
        "jacobian": Function(prepare, named(build.grad(objective, (0, 1, 2, 3)))),
    }


def named(gradient: Any) -> Any:
    """The gradient, by the names of the parameters."""
    return lambda *args: dict(zip(("alpha", "mu", "q", "l"), gradient(*args), strict=True))
