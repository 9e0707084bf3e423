"""Derivatives of Bessel functions by their orders, from integrals along paths where nothing cancels.

With Schläfli's integrals, ``J(v, x)`` is the real part of one along ``exp(x sinh t - v t)`` from a saddle ``s`` to
``s + i pi``, and of one from there to infinity; a derivative by ``v`` is a factor ``-t``. The same with ``cosh`` for
the modified functions. Arguments that are not positive have no derivative by the order: NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.runtime.numerical_methods.quadrature import columnwise, integral

FALL = 45.0
LARGEST = 1e5
"""Beyond it, integrals would take too many pieces."""


def jv_slope(n: int, v: Any, z: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.jv`` by the order ``v``.

    >>> round(float(jv_slope(1, 0.0, 1.0)), 12)  # by theory half of pi times y0(1.0)
    0.138633715204
    """

    def compute(v: Any, z: Any) -> Any:
        ratio = np.maximum(v / z, 1.0)
        s = np.arccosh(ratio)
        slope, height = z * np.sqrt(ratio * ratio - 1), v * s

        def along(tau: Any) -> Any:  # sinh(s + i tau), at its saddle where v > z
            t = s + 1j * tau
            exponent = slope * np.cos(tau) - height + 1j * (z * ratio * np.sin(tau) - v * tau)
            return ((-t) ** n * np.exp(exponent)).real

        def beyond(u: Any) -> Any:
            turned = 1j * np.pi - (s + u)
            return (turned**n * np.exp(turned * v - z * np.sinh(s + u))).imag

        end = _end(v, z, lambda u: z * np.sinh(s + u))
        return (
            integral(along, 0 * v, 0 * v + np.pi, _pieces(z * ratio + np.abs(v)))
            - integral(beyond, 0 * v, end, _pieces_beyond(v, end))
        ) / np.pi

    return _of_positive(compute, v, z)


def yv_slope(n: int, v: Any, z: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.yv`` by the order ``v``.

    >>> round(float(yv_slope(1, 0.0, 1.0)), 12)  # by theory minus half of pi times j0(1.0)
    -1.201969715317
    """

    def compute(v: Any, z: Any) -> Any:
        def along(tau: Any) -> Any:
            return ((-1j * tau) ** n * np.exp(1j * (z * np.sin(tau) - v * tau))).imag

        def beyond(t: Any) -> Any:
            turned, fall = 1j * np.pi - t, z * np.sinh(t)
            return t**n * np.exp(v * t - fall) + (turned**n * np.exp(turned * v - fall)).real

        end = _end(-np.abs(v), z, lambda u: z * np.sinh(u))
        return (
            integral(along, 0 * v, 0 * v + np.pi, _pieces(z + np.abs(v)))
            - integral(beyond, 0 * v, end, _pieces_beyond(v, end))
        ) / np.pi

    return _of_positive(compute, v, z)


def iv_slope(n: int, v: Any, z: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.iv`` by the order ``v``.

    >>> round(float(iv_slope(1, 0.0, 1.0)), 12)  # by theory minus k0(1.0)
    -0.421024438241
    """
    return _of_positive(lambda v, z: _modified(n, v, z, 0 * z), v, z)


def ive_slope(n: int, v: Any, z: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.ive`` by the order ``v``.

    >>> round(float(ive_slope(1, 0.0, 1.0) * np.e), 12)
    -0.421024438241
    """
    return _of_positive(lambda v, z: _modified(n, v, z, z), v, z)


def kv_slope(n: int, v: Any, z: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.kv`` by the order ``v``.

    >>> round(float(kv_slope(1, 0.0, 1.0)), 12)
    0.0
    """
    return _of_positive(lambda v, z: _falling(n, v, z, 0 * z), v, z)


def kve_slope(n: int, v: Any, z: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.kve`` by the order ``v``.

    >>> round(float(kve_slope(1, 0.0, 1.0)), 12)
    0.0
    """
    return _of_positive(lambda v, z: _falling(n, v, z, z), v, z)


def _falling(n: int, v: Any, z: Any, less: Any) -> Any:
    sign = -1.0 if n % 2 else 1.0

    def along(t: Any) -> Any:
        fall = 2 * z * np.sinh(0.5 * t) ** 2 + (z - less)
        return 0.5 * t**n * (np.exp(v * t - fall) + sign * np.exp(-v * t - fall))

    end = _end(-np.abs(v), z, lambda u: z * (np.cosh(u) - 1))
    return integral(along, 0 * v, end, _pieces_beyond(v, end))


def _modified(n: int, v: Any, z: Any, less: Any) -> Any:
    s = np.arcsinh(v / z)
    slope, height = np.sqrt(z * z + v * v), v * s

    def along(tau: Any) -> Any:  # at the saddle, slope is z cosh(s) and v is z sinh(s)
        exponent = slope * np.cos(tau) - height - less + 1j * v * (np.sin(tau) - tau)
        return ((-(s + 1j * tau)) ** n * np.exp(exponent)).real

    def beyond(u: Any) -> Any:
        turned = 1j * np.pi - (s + u)
        return (turned**n * np.exp(turned * v - z * np.cosh(s + u) - less)).imag

    end = _end(v, z, lambda u: z * (np.cosh(s + u) - 1)) + np.maximum(-2 * s, 0)
    return (
        integral(along, 0 * v, 0 * v + np.pi, _pieces(slope)) - integral(beyond, 0 * v, end, _pieces_beyond(v, end))
    ) / np.pi


def _of_positive(compute: Callable[[Any, Any], Any], v: Any, z: Any) -> Any:
    def where_known(v: Any, z: Any) -> Any:
        known = (z > 0) & (z <= LARGEST) & (np.abs(v) <= LARGEST)
        found = np.full(v.shape, np.nan)
        if known.any():
            found[known] = compute(v[known], z[known])
        return found

    return columnwise(where_known, v, z)


def _end(v: Any, z: Any, rise: Callable[[Any], Any]) -> Any:
    """Where ``rise(u) + v * u`` is large enough for what lies beyond not to count."""
    high = np.arcsinh((2 * FALL + 4 * np.abs(v)) / z) + 2.0
    for _ in range(4):
        high = np.arcsinh((2 * FALL + np.maximum(-v, 0) * high) / z) + 1.0
    low = 0 * high
    for _ in range(40):
        middle = 0.5 * (low + high)
        enough = rise(middle) + v * middle >= FALL
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _pieces(waves: Any) -> int:
    return 1 + int(np.max(waves) / 8)


def _pieces_beyond(v: Any, end: Any) -> int:
    """Integrands fall, or have a peak as narrow as the root of the order is large."""
    return 2 + int(np.max(end * (1 + np.sqrt(np.abs(v)))) / 8)
