"""Rules of NumPy's polynomials: their values, arithmetic, derivatives and integrals; fits of them."""

# mypy: allow-untyped-defs, allow-untyped-calls

import operator
from typing import Any

import numpy as np
import numpy.polynomial.polynomial as ascending

from adjoint.rules.conversions import as_array, inexact
from adjoint.rules.declare import case, constant, definition, general, no_derivative, number, sample
from adjoint.rules.numpy.polynomials.objects import Poly1d, coefficients_of
from adjoint.runtime.arithmetic.numbers import is_real
from adjoint.runtime.array_functions import linalg, places
from adjoint.runtime.array_functions.arrays import float_dtype, unbroadcast

POINTS = np.array([-1.0, -0.2, 0.4, 1.1, 1.9])


def _polyval_jvp(dots, y, p, x):
    along_p = 0.0 * y if dots[0] is None else np.polyval(dots[0], x)
    along_x = 0.0 * y if dots[1] is None else np.polyval(_lowered(p), x) * dots[1]
    return unbroadcast(along_p + along_x, y)


def _polyval_vjp(ct, y, p, x):
    x_bar = unbroadcast(ct * np.polyval(_lowered(p), x), x)
    if np.ndim(p) == 1:
        return (unbroadcast(np.ravel(ct) @ np.vander(np.ravel(x), len(p)), p), x_bar)
    return (_coefficients_part(ct, p, x), x_bar)


def _lowered(p):
    """The coefficients of the derivative; those of several polynomials are columns."""
    if np.ndim(p) == 1:
        return np.polyder(p)
    orders = np.reshape(np.arange(len(p) - 1, 0, -1), (-1,) + (1,) * (np.ndim(p) - 1))
    return p[:-1] * orders


def _coefficients_part(ct, p, x):
    """The cotangent of the coefficients of several polynomials, which broadcast against the points."""
    points = np.broadcast_to(x, np.shape(ct))
    powers = np.reshape(np.vander(np.ravel(points), len(p)), (*np.shape(ct), len(p)))
    parts = np.moveaxis(np.expand_dims(ct, -1) * powers, -1, 0)
    aligned = np.reshape(p, (len(p),) + (1,) * (np.ndim(ct) + 1 - np.ndim(p)) + np.shape(p)[1:])
    return np.reshape(unbroadcast(parts, aligned), np.shape(p))


general(
    np.polyval,
    _polyval_jvp,
    _polyval_vjp,
    cases=[
        case(sample(4), number()),
        case(sample(4), sample(3)),
        case(sample(3), sample(2, 2)),
        case(sample(1), sample(3)),
        case(sample(3, kind="complex"), sample(2)),
        case(sample(4, 3), sample(3)),
        case(sample(3, 2), sample(4, 1)),
        case(sample(1, 2), number()),
        case(sample(3, 2, 2), sample(2)),
    ],
)


def _descending_value(x, c, tensor=True):
    if np.ndim(c) < 2:
        return np.polyval(np.flip(np.atleast_1d(c)), x)
    shape = np.shape(c) + (1,) * (np.ndim(x) if tensor else 0)
    rows = np.reshape(c, shape)
    y = rows[-1] + 0.0 * x
    for k in range(len(rows) - 2, -1, -1):
        y = y * x + rows[k]
    return y


definition(
    ascending.polyval,
    _descending_value,
    cases=[
        case(number(), sample(4)),
        case(sample(2, 2), sample(3)),
        case(number(), sample(3, 2)),
        case(sample(2), sample(3, 2)),
        case(sample(2), sample(3, 2), tensor=False),
    ],
)


def _longer(a, other):
    """``a`` with as many coefficients as ``other``, if that has more."""
    return np.pad(a, (max(len(other) - len(a), 0), 0))


def _polyadd(a1, a2):
    first, second = np.atleast_1d(a1), np.atleast_1d(a2)
    return _longer(first, second) + _longer(second, first)


def _polysub(a1, a2):
    first, second = np.atleast_1d(a1), np.atleast_1d(a2)
    return _longer(first, second) - _longer(second, first)


def _polymul(a1, a2):
    first, second = np.atleast_1d(a1), np.atleast_1d(a2)
    return np.convolve(first[places.leading_zeros(first) :], second[places.leading_zeros(second) :])


PAIRS = [case(sample(4), sample(2)), case(sample(2), sample(3)), case(sample(3), number()), case(sample(3), sample(3))]
definition(np.polyadd, _polyadd, cases=PAIRS)
definition(np.polysub, _polysub, cases=PAIRS)
definition(np.polymul, _polymul, cases=[*PAIRS, case(np.array([0.0, 0.0, 2.0, 1.0]), sample(2))])


def _polyder(p, m=1):
    if m == 0:
        return as_array(p)
    size = len(p)
    return _polyder(as_array(p)[:-1] * np.arange(size - 1, 0, -1), m - 1)


def _polyint(p, m=1, k=None):
    if m == 0:
        return as_array(p)
    if k is None or np.ndim(k) == 0:
        constant, later = (0.0 if k is None else k), k
    else:
        constant, later = k[0], (k if len(k) == 1 else k[1:])
    return _polyint(np.concatenate([as_array(p) / np.arange(len(p), 0, -1), np.reshape(constant, (1,))]), m - 1, later)


definition(np.polyder, _polyder, cases=[case(sample(4)), case(sample(4), 2), case(sample(3), m=0), case(sample(2), 3)])
definition(
    np.polyint,
    _polyint,
    cases=[
        case(sample(3)),
        case(sample(3), 2),
        case(sample(3), k=number()),
        case(sample(3), m=2, k=[number(), number()]),
        case(sample(3), 2, 1.5),
    ],
)


def _poly(seq_of_zeros):
    if np.ndim(seq_of_zeros) != 1 or not is_real(seq_of_zeros):
        raise NotImplementedError("the characteristic polynomial, or complex roots")
    coefficients = np.ones(1, float_dtype(seq_of_zeros))
    for root in seq_of_zeros:
        coefficients = np.pad(coefficients, (0, 1)) - root * np.pad(coefficients, (1, 0))
    return coefficients


definition(np.poly, _poly, cases=[case(sample(3)), case(sample(1))])


def _weighted_powers(x, y, deg, w):
    powers, values = np.vander(inexact(x), deg + 1), inexact(y)
    if w is None:
        return powers, values
    return powers * np.expand_dims(w, 1), values * w if np.ndim(y) == 1 else values * np.expand_dims(w, 1)


def _polyfit_with_spread(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """With the covariance of the coefficients: by the residuals, or by the weights alone."""
    found = _polyfit(x, y, deg, rcond, full, w)
    powers, values = _weighted_powers(x, y, deg, w)
    base = np.linalg.inv(powers.T @ powers)
    if cov == "unscaled":
        return found, base if np.ndim(y) == 1 else np.expand_dims(base, 2)
    if len(x) <= deg + 1:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    variance = np.sum((values - powers @ found) ** 2, axis=0) / (len(x) - deg - 1)
    return found, base * variance if np.ndim(y) == 1 else np.expand_dims(base, 2) * variance


def _polyfit(x, y, deg, rcond=None, full=False, w=None):
    if full or rcond is not None:
        raise NotImplementedError("a fit with a report, or of a lower rank")
    powers, values = _weighted_powers(x, y, deg, w)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    found = linalg.least_squares(powers / scale, values, len(x) * np.finfo(float_dtype(x)).eps)
    return found / scale if np.ndim(y) == 1 else found / np.expand_dims(scale, 1)


definition(
    np.polyfit,
    _polyfit,
    cases=[
        case(POINTS, sample(5), 2),
        case(sample(5), sample(5), 1),
        case(POINTS, sample(5, 2), deg=3),
        case(POINTS, sample(5), 2, w=sample(5, kind="positive")),
        case(POINTS, sample(5, 2), 1, w=sample(5, kind="positive")),
    ],
)


definition(
    np.polyfit,
    _polyfit_with_spread,
    when=lambda given: given.get("cov", False) in (True, "unscaled") and given.get("full", False) is False,
    cases=[
        case(POINTS, sample(5), 2, cov=True),
        case(POINTS, sample(5, 2), deg=1, cov=True),
        case(POINTS, sample(5, 2), deg=1, cov="unscaled"),
        case(POINTS, sample(5), 2, w=sample(5, kind="positive"), cov="unscaled"),
    ],
)


def _poly1d(c_or_r, r=False, variable=None):
    return Poly1d(np.poly(c_or_r) if r else coefficients_of(c_or_r))


definition(np.poly1d, _poly1d, arrays=())

# what these rules are made of

no_derivative(places.leading_zeros)

# --- what NumPy's functions of series ask of their arguments ----------------------------------------------------------


def _as_int(x, desc):
    return operator.index(x)


definition(np.polynomial.polyutils._as_int, _as_int, arrays=(), cases=[case(2, "the order")])

# --- coefficients of other series: linear, by what becomes of each single term ----------------------------------------

CONVERSIONS: list[Any] = [
    *(np.polynomial.chebyshev.cheb2poly, np.polynomial.chebyshev.poly2cheb),
    *(np.polynomial.legendre.leg2poly, np.polynomial.legendre.poly2leg),
    *(np.polynomial.hermite.herm2poly, np.polynomial.hermite.poly2herm),
    *(np.polynomial.hermite_e.herme2poly, np.polynomial.hermite_e.poly2herme),
    *(np.polynomial.laguerre.lag2poly, np.polynomial.laguerre.poly2lag),
]


def _converted(convert, series):
    (given,) = np.polynomial.polyutils.as_series([series])
    return linalg.change_of_basis(convert, len(given)) @ given


def _converting(convert):
    if convert.__name__.startswith("poly2"):
        return lambda pol: _converted(convert, pol)
    return lambda c: _converted(convert, c)


constant(linalg.change_of_basis)
for _convert in CONVERSIONS:
    definition(_convert, _converting(_convert), cases=[case(sample(4)), case(sample(2))])
