"""Ellipsoidal harmonics: polynomials that solve Lamé's equation, whose coefficients are those of an eigenvector.

With t = s**2 - h**2, a = h**2 and b = k**2 - h**2 a harmonic is a product of some of s, sqrt(|t|) and sqrt(|t - b|)
with a polynomial in t, whose leading coefficient is one (DLMF 29.12). Lamé's operator takes a power of t to itself and
to those beside it: a tridiagonal matrix, whose eigenvectors are the polynomials.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, definition, number, sample


def _kind(n, p):
    """Which factors an harmonic has beside the polynomial, the degree of that, and its number among those alike."""
    half, rest = n // 2, n - n // 2
    if p <= half + 1:
        return (n % 2, 0, 0), half, p - 1
    if p <= n + 1:
        return (1 - n % 2, 1, 0), rest - 1, p - half - 2
    if p <= n + 1 + rest:
        return (1 - n % 2, 0, 1), rest - 1, p - n - 2
    return (n % 2, 1, 1), half - 1, p - n - rest - 2


def _coefficients(a, b, factors, degree, place):
    """The coefficients of the polynomial, that of the highest power last, which is one."""
    w0, w1, w2 = [0.5 + factor for factor in factors]
    slope = w1 * (a - b) + w2 * a - w0 * b
    j = np.arange(degree + 1.0)
    down = -4.0 * a * b * j[1:] * (j[:-1] + w1)
    up = 4.0 * (j[:-1] - degree) * (j[:-1] + degree - 1.0 + w0 + w1 + w2)
    beside = np.sqrt(down * up)
    middle = 4.0 * j * ((a - b) * (j - 1.0) + slope)
    _, vectors = np.linalg.eigh(np.diag(-middle) + np.diag(beside, 1) + np.diag(beside, -1))
    scale = np.concatenate([np.ones(1), np.cumprod(np.sqrt(up / down))])
    found = vectors[:, place] * scale
    return found / found[-1]


def _ellip_harm(h2, k2, n, p, s, signm=1, signn=1):
    if np.ndim(h2) + np.ndim(k2) + np.ndim(n) + np.ndim(p) + np.ndim(signm) + np.ndim(signn) > 0:
        raise NotImplementedError("arrays of degrees, orders or axes")
    if n < 0 or p < 1 or p > 2 * n + 1:
        raise NotImplementedError("an order that there is not")
    factors, degree, place = _kind(int(n), int(p))
    t = s * s - h2
    coefficients = _coefficients(h2, k2 - h2, factors, degree, place)
    value = coefficients[degree]
    for power in range(degree - 1, -1, -1):
        value = value * t + coefficients[power]
    if factors[0]:
        value = value * s
    if factors[1]:
        value = value * np.sqrt(np.abs(t)) * (1.0 if signm > 0 else -1.0)
    if factors[2]:
        value = value * np.sqrt(np.abs(s * s - k2)) * (1.0 if signn > 0 else -1.0)
    return value


ORDERS = ((0, 1), (1, 3), (2, 1), (2, 4), (3, 2), (3, 7), (5, 6), (5, 9))

definition(
    special.ellip_harm,
    _ellip_harm,
    only=True,
    cases=[
        *(case(number("positive"), 6.0 + degree, degree, order, number("positive")) for degree, order in ORDERS),
        case(1.5, 7.0, 3, 4, sample(2, 3, kind="positive"), signm=-1),
        case(1.5, 7.0, 4, 8, 1.7, -1, -1),
    ],
)
