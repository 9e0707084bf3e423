"""The probability that two normal variables, which may be correlated, are both less than some numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special


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
