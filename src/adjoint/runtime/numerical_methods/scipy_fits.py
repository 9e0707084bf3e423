"""What SciPy finds that is fitted to samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats


def fitted(fit: Any, free: tuple[int, ...], data: Any, starts: Any, kwds: Any) -> Any:
    """The parameters of a distribution that are free, as SciPy finds them."""
    return np.array(fit(data, *starts, **kwds), dtype=float)[list(free)]


def power_by(find: Any, options: Any, x: Any) -> float:
    """The power that makes a sample most normal."""
    return float(find(x, **options))


def medians_of_order(n: int) -> Any:
    """Where the numbers of a normal sample lie, in order.

    >>> medians_of_order(3).round(6).tolist()
    [-0.819328, 0.0, 0.819328]
    """
    return stats.probplot(np.arange(float(n)), fit=False)[0]
