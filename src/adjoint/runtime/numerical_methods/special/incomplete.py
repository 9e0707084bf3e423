"""Derivatives of the incomplete gamma and beta functions by their shapes, and of ``boxcox`` by its exponent.

The functions integrate a density; its derivative of any order by a shape is the density times a polynomial of
logarithms, and integrates to zero over the whole line. So what is smaller, the integral to the left or minus the one
to the right, has integrands of one sign: its relative error is as small as that of the density. The variable is the
logarithm (of the odds), in which densities are smooth and fall at least exponentially.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from adjoint.runtime.numerical_methods.quadrature import columnwise, integral

HALF_LOG_TWO_PI = 0.9189385332046727
FALL = 45.0
"""The logarithm of how far a density falls to where it does not count."""
FLAT = 6.0
"""Beyond minus that, ``exp`` is next to nothing and densities are powers."""
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def gammainc_slope(n: int, a: Any, x: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.gammainc`` by its shape ``a``.

    >>> step = 1e-5
    >>> difference = (special.gammainc(2.5 + step, 1.3) - special.gammainc(2.5 - step, 1.3)) / (2 * step)
    >>> bool(abs(gammainc_slope(1, 2.5, 1.3) - difference) < 1e-9)
    True
    """
    return columnwise(lambda a, x: _gamma_integral(n, a, x), a, x)


def gamma_density_slope(n: int, a: Any, x: Any) -> Any:
    """The derivative of order ``n`` by ``a`` of the density that ``scipy.special.gammainc`` integrates.

    >>> round(float(gamma_density_slope(0, 1.0, 2.0)), 12) == round(math.exp(-2.0), 12)
    True
    """

    def compute(a: Any, x: Any) -> Any:
        return np.where(
            (a > 0) & (x > 0), _gamma_log_density(a, x) / x * _bell(n, 0, _of_gamma(n, a)(np.log(x))), np.nan
        )

    return columnwise(compute, a, x)


def betainc_slope(m: int, n: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``scipy.special.betainc``, ``m`` times by ``a`` and ``n`` times by ``b``.

    >>> step = 1e-5
    >>> difference = (special.betainc(2.5 + step, 0.7, 0.4) - special.betainc(2.5 - step, 0.7, 0.4)) / (2 * step)
    >>> bool(abs(betainc_slope(1, 0, 2.5, 0.7, 0.4) - difference) < 1e-9)
    True
    """
    if m == 0:  # the odds of 1 - x are the inverse
        return columnwise(lambda a, b, x: -_beta_integral(n, 0, b, a, -special.logit(x)), a, b, x)
    return columnwise(lambda a, b, x: _beta_integral(m, n, a, b, special.logit(x)), a, b, x)


def beta_density_slope(m: int, n: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative, ``m`` times by ``a`` and ``n`` times by ``b``, of the density that ``betainc`` integrates.

    >>> round(float(beta_density_slope(0, 0, 2.0, 1.0, 0.3)), 12)
    0.6
    """

    def compute(a: Any, b: Any, x: Any) -> Any:
        s = special.logit(x)
        found = _beta_log_density(a, b, s) / (x * (1 - x)) * _bell(m, n, _of_beta(m, n, a, b)(s))
        return np.where((a > 0) & (b > 0) & (x > 0) & (x < 1), found, np.nan)

    return columnwise(compute, a, b, x)


def boxcox_slope(n: int, x: Any, lmbda: Any) -> Any:
    """The derivative of order ``n`` of ``scipy.special.boxcox`` by its exponent.

    >>> round(float(boxcox_slope(1, math.e, 0.0)), 12)
    0.5
    """

    def compute(x: Any, lmbda: Any) -> Any:
        log = np.log(x)
        found = log ** (n + 1) * _moment(n, lmbda * log)
        found = np.where((x == 0) & (lmbda > 0), math.factorial(n) * (-1 / lmbda) ** (n + 1), found)
        return np.where(x >= 0, found, np.nan)

    return columnwise(compute, x, lmbda)


def _moment(n: int, u: Any) -> Any:
    """The integral of ``t**n * exp(u * t)`` from 0 to 1."""
    near = np.clip(u, -FALL, FALL)
    found = np.expm1(u) / u
    for k in range(1, n + 1):
        found = (np.exp(u) - k * found) / u
    series = integral(lambda t: t**n * np.exp(near * t), 0.0 * near, 0.0 * near + 1.0, 4)
    return np.where(np.abs(u) < FALL, series, found)


Cumulants = dict[tuple[int, int], Any]


def _bell(m: int, n: int, cumulants: Cumulants) -> Any:
    """The derivative of ``exp(f)`` by two variables, divided by it, from the derivatives of ``f``."""
    if m == 0 and n == 0:
        return 1.0
    if m == 0:
        return sum(math.comb(n - 1, j) * cumulants[0, j + 1] * _bell(0, n - 1 - j, cumulants) for j in range(n))
    return sum(
        math.comb(m - 1, i) * math.comb(n, j) * cumulants[i + 1, j] * _bell(m - 1 - i, n - j, cumulants)
        for i in range(m)
        for j in range(n + 1)
    )


def completed_derivative(derivatives: list[Any]) -> Any:
    """The derivative of ``exp(f)``, divided by it, from as many derivatives of ``f``.

    >>> completed_derivative([2.0, 1.0])
    5.0
    """
    return _bell(0, len(derivatives), {(0, k + 1): value for k, value in enumerate(derivatives)})


def _stirling(a: Any) -> Any:
    """What the formula of Stirling leaves out of the logarithm of the gamma function."""
    large = np.maximum(a, 10.0)
    series = sum(c / large ** (2 * k + 1) for k, c in enumerate(_STIRLING))
    return np.where(a >= 10.0, series, special.gammaln(a) - ((a - 0.5) * np.log(a) - a + HALF_LOG_TWO_PI))


def _log_of_quotient(x: Any, y: Any, difference: Any) -> Any:
    """``log(x / y)`` without loss where both are close."""
    return np.where(np.abs(difference) < 0.5 * y, np.log1p(difference / y), np.log(x) - np.log(y))


# --- gamma ------------------------------------------------------------------------------------------------------------


def _gamma_log_density(a: Any, x: Any) -> Any:
    """The density in the logarithm of ``x``."""
    exponent = (x - a) - a * _log_of_quotient(x, a, x - a)
    return np.exp(0.5 * np.log(a) - HALF_LOG_TWO_PI - _stirling(a) - exponent)


def _of_gamma(n: int, a: Any) -> Callable[[Any], Cumulants]:
    """The derivatives by ``a`` of the logarithm of the density, of the logarithm of where it is taken."""
    psi = special.psi(a)
    higher: Cumulants = {(k + 1, 0): -special.polygamma(k, a) for k in range(1, n)}
    return lambda s: {(1, 0): s - psi, **higher}


def _gamma_integral(n: int, a: Any, x: Any) -> Any:
    cumulants, start = _of_gamma(n, a), np.log(x)
    left = start < special.psi(a)
    sign = np.where(left, -1.0, 1.0)

    def fall(u: Any) -> Any:
        return x * np.expm1(sign * u) - a * sign * u

    end = _falling(fall, np.minimum(FALL / a, 1e308) + 1.0)

    def integrand(u: Any) -> Any:
        return np.exp(-fall(u)) * _bell(n, 0, cumulants(start + sign * u))

    bend = np.where(left, end, np.clip(-FLAT - start, 0.0, end))
    total = integral(integrand, 0.0 * end, bend, 2) + integral(integrand, bend, end, 2)
    found = -sign * _gamma_log_density(a, x) * total
    return np.where((a > 0) & (x > 0), found, np.where((a > 0) & (x == 0), 0.0, np.nan))


def _falling(fall: Callable[[Any], Any], largest: Any) -> Any:
    """Where a function that bends upwards has risen by :data:`FALL`, from above."""
    low, high = 0.0 * largest, largest
    for _ in range(60):
        middle = np.where(low > 0, np.sqrt(np.maximum(low, 1e-300) * high), 0.5 * high)
        enough = fall(middle) >= FALL
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


# --- beta -------------------------------------------------------------------------------------------------------------


def _beta_log_density(a: Any, b: Any, s: Any) -> Any:
    """The density in the logarithm of the odds."""
    x, rest, whole = special.expit(s), special.expit(-s), a + b
    difference = (x * b - rest * a) / whole
    exponent = a * _log_of_quotient(x, a / whole, difference) + b * _log_of_quotient(rest, b / whole, -difference)
    size = 0.5 * (np.log(a) + np.log(b) - np.log(whole)) - HALF_LOG_TWO_PI
    return np.exp(size + _stirling(whole) - _stirling(a) - _stirling(b) + exponent)


def _polygamma_difference(k: int, a: Any, b: Any) -> Any:
    """``polygamma(k, a + b) - polygamma(k, a)``, without loss where ``b`` is small."""
    step = np.minimum(b, 0.01 * a)
    series = sum(step**j / math.factorial(j) * special.polygamma(k + j, a) for j in range(1, 9))
    return np.where(b < 0.01 * a, series, special.polygamma(k, a + b) - special.polygamma(k, a))


def _of_beta(m: int, n: int, a: Any, b: Any) -> Callable[[Any], Cumulants]:
    order = m + n
    if order < 1:
        return lambda s: {}
    of_whole = [special.polygamma(k, a + b) for k in range(order)]
    constants: Cumulants = {
        (i, j): of_whole[i + j - 1] for i in range(order + 1) for j in range(order + 1) if 1 <= i + j <= order
    }
    for k in range(order):
        constants[k + 1, 0] = _polygamma_difference(k, a, b)
        constants[0, k + 1] = _polygamma_difference(k, b, a)

    def at(s: Any) -> Cumulants:
        varying = {(1, 0): constants[1, 0] + special.log_expit(s), (0, 1): constants[0, 1] + special.log_expit(-s)}
        return {**constants, **varying}

    return at


def _beta_integral(m: int, n: int, a: Any, b: Any, start: Any) -> Any:
    cumulants = _of_beta(m, n, a, b)
    left = special.log_expit(start) < -_polygamma_difference(0, a, b)
    sign = np.where(left, -1.0, 1.0)
    x, rest = special.expit(start), special.expit(-start)

    def fall(u: Any) -> Any:
        """``log`` of the density at the start over that beyond."""
        growth = np.where(u < 30, np.log1p(x * np.expm1(np.minimum(sign * u, 30))), np.nan)
        far = np.where(left, np.log(rest), np.logaddexp(np.log(rest), start + np.log(rest) + u))
        return (a + b) * np.where(u < 30, growth, far) - a * sign * u

    end = _falling(fall, np.where(left, FALL / a, FALL / b + np.maximum(-start, 0.0)) * 2 + 10.0)

    def integrand(u: Any) -> Any:
        return np.exp(-fall(u)) * _bell(m, n, cumulants(start + sign * u))

    first = np.clip(np.where(left, start - FLAT, -FLAT - start), 0.0, end)
    second = np.clip(np.where(left, start + FLAT, FLAT - start), first, end)
    third = np.minimum(second + 40.0, end)
    bounds = (0.0 * end, first, second, third, end)
    total = sum(integral(integrand, low, high, 2) for low, high in itertools.pairwise(bounds))
    found = -sign * _beta_log_density(a, b, start) * total
    inside = (a > 0) & (b > 0)
    return np.where(inside & np.isfinite(start), found, np.where(inside & np.isinf(start), 0.0, np.nan))
