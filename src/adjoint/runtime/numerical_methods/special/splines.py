"""Splines of any degree between whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline


def cardinal_spline(order: int, n: Any, x: Any) -> Any:
    """The derivative of the density of the sum of ``n`` uniform numbers; its integral, where the order is -1.

    >>> cardinal_spline(0, 2, np.array([0.5, 1.0])).tolist(), float(cardinal_spline(-1, 2, 0.5))
    ([0.5, 1.0], 0.125)
    """
    count, place = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(x, dtype=float))
    found = np.full(place.shape, np.nan)
    for size in np.unique(count[np.isfinite(count)]):
        chosen = count == size
        found[chosen] = _spline(order, int(size))(np.clip(place[chosen], 0.0, size))
    return found[()]


def _spline(order: int, n: int) -> Any:
    spline = BSpline.basis_element(np.arange(n + 1.0))
    if order < 0:
        return spline.antiderivative(-order)
    return spline.derivative(order) if order < n else np.zeros_like
