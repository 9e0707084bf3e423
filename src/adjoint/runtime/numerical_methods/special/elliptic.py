"""Elliptic integrals whose derivatives are such integrals again.

An integral over the positive axis of powers of linear factors, which cancels nothing, is taken by the trapezoidal rule
in the logarithm of the variable: errors fall exponentially, as nothing is singular near the axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.numerical_methods.quadrature import columnwise

STEP = 0.5
FALL = 40.0
"""What is smaller by ``exp(-FALL)`` does not count."""
LARGEST = 700.0
"""Beyond it exponentials overflow."""


def carlson_integral(p: float, q: float, r: float, s: float, x: Any, y: Any, z: Any, w: Any) -> Any:
    """The integral of ``(t + x)**-p * (t + y)**-q * (t + z)**-r * (t + w)**-s`` from zero to infinity.

    >>> round(float(carlson_integral(0.5, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0, 0.0)), 12)
    2.0
    """
    return columnwise(lambda *at: _integral((p, q, r, s), at), x, y, z, w)


def elliptic_moment(j: int, p: float, phi: Any, m: Any) -> Any:
    """The integral of ``sin(t)**(2 * j) * (1 - m * sin(t)**2)**p`` from zero to ``phi``.

    >>> round(float(elliptic_moment(1, -0.5, np.pi / 2, 0.0)), 12) == round(np.pi / 4, 12)
    True
    """

    def compute(phi: Any, m: Any) -> Any:
        turns = np.round(phi / np.pi)
        found = _first_quarter(j, p, phi - turns * np.pi, m)
        turned = turns != 0
        found[turned] += 2 * turns[turned] * _first_quarter(j, p, np.full(turned.sum(), np.pi / 2), m[turned])
        return found

    return columnwise(compute, phi, m)


def _first_quarter(j: int, p: float, phi: Any, m: Any) -> Any:
    """The same between minus and plus half of pi: an integral by ``1 / sin(t)**2``."""
    sine, cosine = np.sin(phi), np.cos(phi)
    rest = 1 - m * sine * sine
    powers = (j + p + 1, 0.5, -p, 0.0)
    whole = 0.5 * sine ** (2 * j + 1) * _integral(powers, (np.ones_like(m), cosine * cosine, rest, np.ones_like(m)))
    return np.where(m > 1, np.nan, np.where(sine == 0, 0.0, whole))


def _integral(powers: tuple[float, ...], at: tuple[Any, ...]) -> Any:
    sizes = np.stack([np.where(place > 0, np.log(np.maximum(place, 1e-300)), 0.0) for place in at])
    middle = np.mean(sizes, axis=0)
    at_zero = 1 - sum(power * (place == 0) for power, place in zip(powers, at, strict=True))
    fall, rise = sum(powers) - 1, np.maximum(at_zero, 1e-3)
    if fall <= 0:
        return np.full(at[0].shape, np.nan)
    low = np.min(sizes, axis=0) - FALL / np.minimum(rise, 1.0) - middle
    high = np.max(sizes, axis=0) + FALL / min(fall, 1.0) - middle
    count = int(np.max((high - low) / STEP, initial=1.0)) + 2
    u = low + (high - low) / count * np.arange(count + 1)[:, None]
    logarithm = np.clip(u + middle, -LARGEST, LARGEST)
    t = np.exp(logarithm)
    for power, place in zip(powers, at, strict=True):
        logarithm = logarithm - power * np.log(t + place)
    found = np.sum(np.exp(logarithm), axis=0) * (high - low) / count
    known = np.all([(place >= 0) | (power == 0) for power, place in zip(powers, at, strict=True)], axis=0)
    return np.where(known, np.where(at_zero > 0, found, np.inf), np.nan)
