"""How the distribution of Kolmogorov's statistic of a finite sample moves with the distance.

Between neighbouring multiples of ``1/n`` it is a polynomial, near which the formulas below hold for complex distances,
too: derivatives of any order are means over a circle (Cauchy).

References
----------
.. [1] Marsaglia, G., Tsang, W. W., Wang, J. (2003). Evaluating Kolmogorov's Distribution. Journal of Statistical
   Software, 8(18).
.. [2] Pelz, W., Good, I. J. (1976). Approximating the Lower Tail-areas of the Kolmogorov-Smirnov One-sample Statistic.
   Journal of the Royal Statistical Society, Series B, 38(2).
.. [3] Simard, R., L'Ecuyer, P. (2011). Computing the Two-Sided Kolmogorov-Smirnov Distribution. Journal of Statistical
   Software, 39(11).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

LARGE = 2000
"""From how many observations on the expansion for large samples is precise to eight digits."""
FAR = 4.0
"""From which ``n * d**2`` on it does not happen that a sample is so far away on both sides."""
_AROUND = np.exp(2j * np.pi * np.arange(16) / 16)


def kolmogorov_share(order: int, n: Any, d: Any) -> Any:
    """The probability of a greatest distance of less than ``d`` in a sample of ``n``, or a derivative of it by ``d``.

    >>> [round(float(kolmogorov_share(order, 2, 0.6)), 12) for order in (0, 1, 2)]
    [0.68, 1.6, -4.0]
    """
    if order == 0:
        return stats.kstwo.cdf(d, n)
    count, distance = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(d, dtype=float))
    found = np.full(distance.shape, np.nan)
    for place in np.ndindex(distance.shape):
        if count[place] >= 1.0 and math.isfinite(distance[place]):
            found[place] = _derivative(order, int(count[place]), float(distance[place]))
    return found[()]


def kolmogorov_rest(order: int, n: Any, d: Any) -> Any:
    """The probability of a greatest distance of more than ``d`` in a sample of ``n``, or a derivative of it by ``d``.

    >>> float(kolmogorov_rest(1, 2, 0.6)) == -float(kolmogorov_share(1, 2, 0.6))
    True
    """
    return stats.kstwo.sf(d, n) if order == 0 else -kolmogorov_share(order, n, d)


def _derivative(order: int, n: int, d: float) -> float:
    if not 0.5 / n < d < 1.0:
        return 0.0
    if d >= 0.5 or n * d * d >= FAR:
        radius = min(0.25 / (n * d), 0.25)
        return -2.0 * _on_circle(lambda at: _one_sided(n, d, at), order, d, radius)
    z = math.sqrt(n) * d
    radius = min(0.2 * z if n >= LARGE else 0.1, z**3) / math.sqrt(n)
    return _on_circle(lambda at: _expanded(n, at) if n >= LARGE else _powers(n, d, at), order, d, radius)


def _on_circle(f: Callable[[Any], Any], order: int, x: float, radius: float) -> float:
    values = f(x + radius * _AROUND)
    return float(np.mean(values * _AROUND**-order).real * math.factorial(order) / radius**order)


def _one_sided(n: int, d: float, at: Any) -> Any:
    """The probability that the sample is so far on one side, by the terms of its sum that there are at ``d`` [3]_."""
    j = np.arange(math.floor(n * (1.0 - d)) + 1.0)
    at = at[:, None]
    logs = special.gammaln(n + 1.0) - special.gammaln(j + 1.0) - special.gammaln(n - j + 1.0)
    return np.sum(at * np.exp(logs + (j - 1.0) * np.log(at + j / n) + (n - j) * np.log(1.0 - at - j / n)), axis=1)


def _powers(n: int, d: float, at: Any) -> Any:
    """The probability by a power of a matrix [1]_."""
    k = math.ceil(n * d)
    size = 2 * k - 1
    scale = math.exp(math.lgamma(n + 1.0) / n) / n
    h = (k - n * at)[:, None]
    j = np.arange(1, size + 1)
    matrix = np.zeros((len(at), size, size), dtype=complex)
    lag = j[:, None] - j[None, :] + 1
    matrix[:] = np.where(lag >= 0, np.exp(-special.gammaln(np.maximum(lag, 0) + 1.0)), 0.0)
    edge = (1.0 - h**j) * np.exp(-special.gammaln(j + 1.0))
    corner = 1.0 - 2.0 * h[:, 0] ** size + ((2.0 * h[:, 0] - 1.0) ** size if k - n * d > 0.5 else 0.0)
    edge[:, -1] = corner * math.exp(-math.lgamma(size + 1.0))
    matrix[:, :, 0] = edge
    matrix[:, -1, :] = edge[:, ::-1]
    return np.linalg.matrix_power(scale * matrix, n)[:, k - 1, k - 1]


def _expanded(n: int, at: Any) -> Any:
    """The probability by its expansion for large samples [2]_, with the error of ``n**-2``."""
    z = math.sqrt(n) * at[:, None]
    k = np.pi * (np.arange(40) + 0.5)
    odd = np.exp(-0.5 * (k / z) ** 2)
    k2 = k * k
    terms = (
        odd / z,
        (k2 - z**2) * odd / (6.0 * z**4),
        (6.0 * z**6 + 2.0 * z**4 + k2 * (2.0 * z**4 - 5.0 * z**2) + k2**2 * (1.0 - 2.0 * z**2)) * odd / (72.0 * z**7),
        (
            -30.0 * z**6
            - 90.0 * z**8
            + k2 * (135.0 * z**4 - 96.0 * z**6)
            + k2**2 * (212.0 * z**4 - 60.0 * z**2)
            + k2**3 * (5.0 - 30.0 * z**2)
        )
        * odd
        / (6480.0 * z**10),
    )
    whole2 = (np.pi * np.arange(1.0, 41.0)) ** 2
    even = np.exp(-0.5 * whole2 / z**2)
    more = (0.0, 0.0, -whole2 * even / (36.0 * z**3), whole2 * (3.0 * z**2 - whole2) * even / (216.0 * z**6))
    root = math.sqrt(2.0 * math.pi)
    return sum(root * np.sum(a + b, axis=1) / n ** (0.5 * p) for p, (a, b) in enumerate(zip(terms, more, strict=True)))
