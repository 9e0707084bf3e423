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
    densities = log_densities(alpha, mu, q, l, x)
    likelihood = 0.0
    for i in range(n):
        likelihood += log_sum_exp(densities[i])
    likelihood -= n * log_sum_exp(alpha)
    return likelihood - 0.5 * n * d * math.log(2.0 * math.pi) + log_prior(q, l, gamma, m)


def log_densities(alpha, mu, q, l, x):
    """For each point and Gaussian the logarithm of the density times the weight, up to constants."""
    densities = np.empty((len(x), len(alpha)))
    for c in range(len(alpha)):
        scaled = (x - mu[c]) @ factor(q[c], l[c]).T
        densities[:, c] = alpha[c] + np.sum(q[c]) - 0.5 * np.sum(scaled * scaled, axis=1)
    return densities


def factor(q, l):
    """The lower triangular matrix of a Gaussian."""
    d = len(q)
    found = np.diag(np.exp(q))
    start = 0
    for column in range(d):
        end = start + d - column - 1
        found[column + 1 :, column] = l[start:end]
        start = end
    return found


def log_sum_exp(values):
    """The logarithm of the sum of exponentials."""
    largest = np.max(values)
    return largest + math.log(np.sum(np.exp(values - largest)))


def log_prior(q, l, gamma, m):
    """The logarithm of the prior's density."""
    k, d = q.shape
    freedom = d + m + 1
    normalizer = freedom * d * math.log(gamma / math.sqrt(2.0)) - log_gamma(0.5 * freedom, d)
    squares = np.sum(np.exp(q) ** 2) + np.sum(l * l)
    return k * normalizer - 0.5 * gamma * gamma * squares + m * np.sum(q)


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
