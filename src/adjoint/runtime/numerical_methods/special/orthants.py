"""The probability that several correlated variables, normal ones or Student's, are each less than some number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats
from scipy._lib._util import check_random_state

SEED = 0
"""Of the points at which a derivative integrates: the same each time, so that it depends on its arguments alone."""


def normal_orthant(
    h: Any, spread: Any, maxpts: Any = None, abseps: Any = 1e-5, releps: Any = 1e-5, rng: Any = SEED
) -> Any:
    """The probability, for the means zero and a matrix of covariances, by SciPy's integration.

    >>> float(normal_orthant(np.zeros(3), np.eye(3)).round(3))
    0.125
    """
    how = {"maxpts": maxpts, "abseps": abseps, "releps": releps, "rng": rng}
    return np.float64(stats.multivariate_normal.cdf(h, cov=np.ascontiguousarray(spread), **how))


def student_orthant(h: Any, spread: Any, df: Any, maxpts: Any = None, rng: Any = SEED) -> Any:
    """The same for variables that have Student's distribution, around zero.

    >>> float(student_orthant(np.zeros(2), np.eye(2), 4.0).round(3))
    0.25
    """
    shape = np.ascontiguousarray(spread)  # as SciPy's machine code wants it
    return np.float64(stats.multivariate_t.cdf(h, shape=shape, df=df, maxpts=maxpts, random_state=rng))


def generator(rng: Any) -> Any:
    """The generator that SciPy would make of an argument, or None for the one of its own."""
    return None if rng is None else check_random_state(rng)


# The probability that two normal variables, which may be correlated, are both less than some numbers


def binormal(h: Any, k: Any, rho: Any) -> Any:
    """The probability, for the means zero and the deviations one, by Owen's function (Owen 1956).

    >>> float(binormal(0.0, 0.0, 0.5).round(9))
    0.333333333
    """
    kind = np.result_type(h + k + rho)
    h, k, rho = np.broadcast_arrays(h, k, rho)
    with np.errstate(all="ignore"):
        rest = np.sqrt((1.0 - rho) * (1.0 + rho))
        beside_h = special.owens_t(h, np.where(h == 0.0, np.sign(k) * np.inf, (k / h - rho) / rest))
        beside_k = special.owens_t(k, np.where(k == 0.0, np.sign(h) * np.inf, (h / k - rho) / rest))
        apart = (h * k < 0.0) | ((h * k == 0.0) & (h + k < 0.0))
        found = 0.5 * (special.ndtr(h) + special.ndtr(k)) - beside_h - beside_k - np.where(apart, 0.5, 0.0)
        found = np.where((h == 0.0) & (k == 0.0), 0.25 + np.arcsin(rho) / (2.0 * np.pi), found)
        infinite = np.isinf(h) | np.isinf(k)
        return np.where(infinite, special.ndtr(h) * special.ndtr(k), found).astype(kind if kind.kind == "f" else float)[
            ()
        ]
